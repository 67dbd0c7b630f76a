"""The setting that lets Pinfill ask whether a newer version is out, and the button that asks now."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from pinfill_app.release_source import USER_AGENT
from pinfill_app.releases import LATEST
from pinfill_app.theme import GRID
from pinfill_app.update_words import what_came_of_it
from pinfill_app.updates import Updates
from pinfill_app.widgets.form import Section, check_box


class UpdatesRow(QWidget):
    """A check box and a button; below them what is sent to whom, and what came of the last question."""

    def __init__(self, updates: Updates, section: Section) -> None:
        super().__init__(section)
        self._updates = updates
        self.box = check_box(self.tr("&Say when a newer version is out"), updates.set_wanted)
        self.check_now = QPushButton(self.tr("Check no&w"))
        self.check_now.setAutoDefault(False)
        self.check_now.clicked.connect(updates.check_now)
        self.answer = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * GRID)
        layout.addWidget(self.box)
        layout.addWidget(self.check_now)
        sent = self.tr(
            "Off, nobody is asked unless you click. On, {} is asked once a day which release is the latest. It sees "
            'the address of this machine and "{}", nothing else. Nothing is downloaded or installed.'
        )
        self.note = section.add("", self, sent.format(LATEST.host(), USER_AGENT))
        self.answer.setIndent(self.note.indent())
        section.add_wide(self.answer)
        updates.changed.connect(self.render_updates)
        self.render_updates()

    def render_updates(self) -> None:
        self.box.setChecked(self._updates.is_wanted)
        self.answer.setText(self._words())
        self.answer.setVisible(bool(self.answer.text()))

    def _words(self) -> str:
        if self._updates.is_checking:
            return self.tr("Asking {}...").format(LATEST.host())
        outcome = self._updates.outcome
        return what_came_of_it(outcome) if outcome is not None else ""

"""The setting that lets Pinfill ask whether a newer version is out, and the button that asks now."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from pinfill_app.release_source import USER_AGENT
from pinfill_app.releases import LATEST
from pinfill_app.theme import GRID
from pinfill_app.update_words import what_came_of_it
from pinfill_app.updates import Updates
from pinfill_app.widgets.form import check_box


class UpdatesRow(QWidget):
    """A check box and a button; `words` are for the note below them, and follow `updates.changed`."""

    def __init__(self, updates: Updates, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._updates = updates
        self.box = check_box(self.tr("&Say when a newer version is out"), updates.set_wanted)
        self.check_now = QPushButton(self.tr("Check no&w"))
        self.check_now.setAutoDefault(False)
        self.check_now.clicked.connect(updates.check_now)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * GRID)
        layout.addWidget(self.box)
        layout.addWidget(self.check_now)

    def render_updates(self) -> None:
        self.box.setChecked(self._updates.is_wanted)

    def words(self) -> str:
        """What is sent to whom and, while there is one, the answer."""
        sent = self.tr(
            "Off, nobody is asked. On, {} is asked once a day which release is the latest. It sees the address of this "
            'machine and "{}", nothing else. Nothing is downloaded or installed.'
        )
        return "\n".join(filter(None, (sent.format(LATEST.host(), USER_AGENT), self.answer())))

    def answer(self) -> str:
        """What came of the last question; empty when nobody was asked."""
        if self._updates.is_checking:
            return self.tr("Asking {}...").format(LATEST.host())
        outcome = self._updates.outcome
        return what_came_of_it(outcome) if outcome is not None else ""

"""What there is to know, and to do, about the selected model."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from pinfill_app import units
from pinfill_app.models.model_row import ModelRow, fit_sentence, state_text
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.action_button import ActionButton, PrimaryActionButton
from pinfill_app.widgets.flow_layout import FlowLayout
from pinfill_app.windows.models_actions import ModelActions
from pinfill_service.api.schemas.manage import ModelEntry

_SEPARATOR = " \N{MIDDLE DOT} "


class ModelDetail(QFrame):
    """Rendered from a row."""

    def __init__(self, actions: ModelActions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.facts, self.verdict = (
            QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText) for _ in range(3)
        )
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        buttons = FlowLayout()
        for action in actions.all:
            kind = PrimaryActionButton if action in (actions.pull, actions.load) else ActionButton
            buttons.addWidget(kind(action, self))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(GRID)
        for label in (self.title, self.facts, self.verdict):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(label)
        layout.addLayout(buttons)
        self.show_row(None, 0)

    def show_row(self, row: ModelRow | None, budget: int) -> None:
        """`budget`: bytes of memory for prefixes."""
        if row is None:
            self.title.setText(self.tr("Nothing selected"))
            self.facts.setText(self.tr("Select a model to see what it needs, and to load it."))
            self.verdict.setText("")
            return
        self.title.setText(row.entry.title or row.name)
        self.facts.setText(_SEPARATOR.join(self._facts(row)))
        self.verdict.setText("\n".join(self._sentences(row, budget)))

    def _facts(self, row: ModelRow) -> Iterator[str]:
        entry = row.entry
        yield state_text(row)
        size = units.size(entry.bytes)
        yield self.tr("{} on disk").format(size) if entry.installed else self.tr("{} to download").format(size)
        if entry.licence:
            yield self.tr("licence {}").format(entry.licence)
        if entry.context_length is not None:
            yield self.tr("context {}").format(units.tokens(entry.context_length))
        if entry.source:
            yield self.tr("from {}").format(entry.source)

    def _sentences(self, row: ModelRow, budget: int) -> Iterator[str]:
        if row.entry.outdated:
            yield row.entry.outdated
        yield fit_sentence(row)
        if row.entry.kv_bytes_per_token and row.entry.context_length and budget:
            yield self._about_context(row.entry, row.entry.kv_bytes_per_token * row.entry.context_length, budget)

    def _about_context(self, entry: ModelEntry, full: int, budget: int) -> str:
        numbers = units.tokens(entry.context_length or 0), units.size(full), units.size(budget)
        if full <= budget:
            return self.tr("A prompt of all {} takes {} of the {} for prefixes.").format(*numbers)
        words = self.tr("A prompt of all {} would take {}, more than the {} for prefixes: raise that in the settings.")
        return words.format(*numbers)

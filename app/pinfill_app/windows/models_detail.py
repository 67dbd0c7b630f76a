"""What there is to know, and to do, about the selected model."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from pinfill_app import units
from pinfill_app.failure_words import outdated_words
from pinfill_app.models.found_model import FoundModel, place_text
from pinfill_app.models.model_row import ModelRow, fit_sentence, state_text
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.action_button import ActionButton, PrimaryActionButton
from pinfill_app.widgets.elided_label import ElidedLabel
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
        self.path = ElidedLabel(Qt.TextElideMode.ElideMiddle)  # of a found one
        buttons = FlowLayout()
        for action in actions.all:
            kind = PrimaryActionButton if action in (actions.pull, actions.take_in, actions.load) else ActionButton
            buttons.addWidget(kind(action, self))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(GRID)
        for label in (self.title, self.facts, self.verdict):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for widget in (self.title, self.facts, self.path, self.verdict):
            layout.addWidget(widget)
        layout.addLayout(buttons)
        self.show_row(None, 0)

    def show_row(self, row: ModelRow | None, budget: int) -> None:
        """`budget`: bytes of memory for prefixes."""
        self.path.show_text(row.found.path if row is not None and row.found is not None else "")
        if row is None:
            self.title.setText(self.tr("Nothing selected"))
            self.facts.setText(self.tr("Select a model to see what it needs, and to load it."))
            self.verdict.setText("")
            return
        self.title.setText(row.entry.title or row.name)
        if row.found is None:
            facts, sentences = self._facts(row), self._sentences(row, budget)
        else:
            facts, sentences = self._facts_of_found(row.found), self._sentences_of_found(row, row.found)
        self.facts.setText(_SEPARATOR.join(facts))
        self.verdict.setText("\n".join(sentences))

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

    def _facts_of_found(self, model: FoundModel) -> Iterator[str]:
        yield place_text(model)
        if model.bytes is not None:
            yield units.size(model.bytes)
        yield from filter(None, (model.architecture, model.quantisation))

    def _sentences_of_found(self, row: ModelRow, model: FoundModel) -> Iterator[str]:
        if not model.can_be_imported:
            yield self.tr("It cannot be imported: {}").format(model.reason)
            return
        if row.can_fit:
            yield fit_sentence(row)
        yield self.tr("Importing makes a copy for Pinfill. The original stays as it is.")
        yield from (f"{note[:1].upper()}{note[1:]}." for note in model.notes)

    def _sentences(self, row: ModelRow, budget: int) -> Iterator[str]:
        if row.entry.outdated:
            yield outdated_words(row.entry.outdated)
        yield fit_sentence(row)
        if row.entry.kv_bytes_per_token and row.entry.context_length and budget:
            yield self._about_context(row.entry, row.entry.kv_bytes_per_token * row.entry.context_length, budget)

    def _about_context(self, entry: ModelEntry, full: int, budget: int) -> str:
        numbers = units.tokens(entry.context_length or 0), units.size(full), units.size(budget)
        if full <= budget:
            return self.tr("A prompt of all {} takes {} of the {} for prefixes.").format(*numbers)
        words = self.tr("A prompt of all {} would take {}, more than the {} for prefixes: raise that in the settings.")
        return words.format(*numbers)

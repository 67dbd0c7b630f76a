"""How many models other programs have on this machine, and the button that looks again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from pinfill_app.found_models import FoundModels
from pinfill_app.icons import set_icon
from pinfill_app.models.found_model import FoundModel, models_text, not_here_yet
from pinfill_app.theme import GRID
from pinfill_app.widgets.action_button import ActionButton
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_service.api.schemas.manage import ModelEntry

_TOPIC = "found"


class FoundLine(QWidget):
    """Tells what was found, and why nothing could be. `again` looks again, wherever on the page the focus is."""

    def __init__(self, found: FoundModels, notices: Notices, page: QWidget) -> None:
        super().__init__(page)
        self._found, self._notices = found, notices
        self._label = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.again = QAction(self.tr("Look &again"), self)
        set_icon(self.again, "refresh")
        self.again.setShortcut(QKeySequence("F5"))
        self.again.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.again.setToolTip(self.tr("Looks again for models of LM Studio, Ollama and Hugging Face's cache (F5)"))
        self.again.triggered.connect(lambda: found.look())
        page.addAction(self.again)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self._label, 1)
        layout.addWidget(ActionButton(self.again, self), alignment=Qt.AlignmentFlag.AlignTop)

    @property
    def words(self) -> str:
        return self._label.text()

    def show_found(self, entries: Iterable[ModelEntry]) -> None:
        """`entries`: the models of this computer, which are not counted."""
        self.again.setEnabled(not self._found.is_looking)
        if self._found.is_looking:
            self._label.setText(self.tr("Looking for models of LM Studio, Ollama and Hugging Face's cache..."))
        else:
            self._label.setText(" ".join(self._sentences(not_here_yet(self._found.models, entries))))
        if self._found.failure:
            self._notices.show_notice(_TOPIC, Notice(self._found.failure, Weight.FAILURE))
        else:
            self._notices.withdraw(_TOPIC)

    def _sentences(self, models: tuple[FoundModel, ...]) -> Iterator[str]:
        can = [model for model in models if model.can_be_imported]
        cannot = [model for model in models if not model.can_be_imported]
        if can:
            yield self.tr("Can be imported: {}.").format(models_text(can))
        if cannot:
            yield self.tr("Cannot be imported: {}.").format(models_text(cannot))
        if models or self._found.failure:
            return
        if self._found.models:
            yield self.tr("All models of other programs are imported.")
        else:
            yield self.tr("LM Studio, Ollama and Hugging Face's cache have no models on this computer.")

"""Choosing a model to import, a file, a folder or one of another program, and how far that is."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import count
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QInputDialog, QLabel, QPushButton, QWidget

from pinfill_app.failure import Failure
from pinfill_app.icons import set_icon
from pinfill_app.model_import import ModelImport
from pinfill_app.models.found_model import FoundModel
from pinfill_app.models.model_row import stage_text
from pinfill_app.theme import GRID
from pinfill_app.widgets.cached_bar import CachedBar
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_service.api.schemas.manage import ModelProgressEvent

_TOPIC = "import"
_NAMELESS = "model"
_ROOM = 90  # characters of a name that may get a number; 100 are the most


class ImportLine(QWidget):
    """Is there only while a model is imported. `imported` gets its name; `changed` follows what it shows."""

    changed = Signal()

    def __init__(self, notices: Notices, imported: Callable[[str], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notices, self._imported = notices, imported
        self.source, self._called = "", ""
        self.progress: ModelProgressEvent | None = None
        self.running = ModelImport(self)
        self.file = QPushButton(self.tr("Import &file..."))
        self.folder = QPushButton(self.tr("Import f&older..."))
        self._words, self._bar = QLabel(textFormat=Qt.TextFormat.PlainText), CachedBar()
        self._stop = QPushButton(self.tr("S&top"))
        set_icon(self.file, "file")
        set_icon(self.folder, "folder")
        set_icon(self._stop, "stop")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self._words)
        layout.addWidget(self._bar, 1)
        layout.addWidget(self._stop)
        self.file.clicked.connect(self.choose_file)
        self.folder.clicked.connect(self._choose_folder)
        self._stop.clicked.connect(self.stop)
        self.running.progressed.connect(self._on_progress)
        self.running.ended.connect(self._on_ended)
        self.hide()

    @property
    def words(self) -> str:
        return self._words.text()

    def import_path(self, path: str) -> None:
        """A GGUF file (any part of a split one), or a folder with an ONNX model."""
        self._start(path, Path(path).name)

    def import_found(self, model: FoundModel, taken: Collection[str]) -> None:
        """One of another program. Asks for a name where its own is taken, or none can be made of it."""
        if not model.name:
            words = self.tr("Choose a name for it, of the letters a to z and digits:")
            self._ask_name(model, words, _free_name(_NAMELESS, taken))
        elif model.name in taken:
            words = self.tr("There is a model {} on this computer already. A name for this one:")
            self._ask_name(model, words.format(model.name), _free_name(model.name, taken))
        else:
            self._start(model.id, model.title)

    def _ask_name(self, model: FoundModel, words: str, suggestion: str) -> None:
        dialog = QInputDialog(self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(self.tr("Import a model"))
        dialog.setLabelText(words)
        dialog.setTextValue(suggestion)
        dialog.setOkButtonText(self.tr("&Import"))
        dialog.textValueSelected.connect(lambda name: self._start(model.id, model.title, name.strip() or suggestion))
        dialog.open()

    def _start(self, source: str, called: str, name: str = "") -> None:
        """`called`: what people know it by."""
        if self.running.is_running:
            return
        self.source, self._called, self.progress = source, called, None
        self._notices.withdraw(_TOPIC)
        self._words.setText(self.tr("Importing {}").format(called))
        self._bar.set_tokens(0, 0, 0)
        self.running.start(source, name)
        self._render()

    def choose_file(self) -> None:
        """Asks which, unless one is being imported."""
        if self.running.is_running:
            return
        dialog = QFileDialog(self.window(), self.tr("Import a model"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("GGUF models (*.gguf)"), self.tr("All files (*)")])
        self._open(dialog)

    def stop(self) -> None:
        self._words.setText(self.tr("Stopping the import of {}").format(self._called))
        self._stop.setEnabled(False)
        self.running.stop()

    def _render(self) -> None:
        is_running = self.running.is_running
        self.setVisible(is_running)
        self._stop.setEnabled(True)
        self.file.setEnabled(not is_running)
        self.folder.setEnabled(not is_running)
        self.changed.emit()

    def _choose_folder(self) -> None:
        dialog = QFileDialog(self.window(), self.tr("Import a folder with an ONNX model"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        self._open(dialog)

    def _open(self, dialog: QFileDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.import_path)
        dialog.open()

    def _on_progress(self, event: ModelProgressEvent) -> None:
        if not self._stop.isEnabled():
            return
        self.progress = event
        self._words.setText(self.tr("{}: {}").format(self._called, stage_text(event)))
        self._bar.set_tokens(0, event.done, event.total or 0)
        self.changed.emit()

    def _on_ended(self, outcome: str | Failure | None) -> None:
        self._render()
        name = self._called
        if isinstance(outcome, Failure):
            words = self.tr("{} was not imported. {}").format(name, outcome.message)
            self._notices.show_notice(_TOPIC, Notice(words, Weight.FAILURE))
        elif outcome is None:
            words = self.tr("The import of {} was stopped. Nothing of it is kept.").format(name)
            self._notices.show_notice(_TOPIC, Notice(words))
        else:
            self._imported(outcome)


def _free_name(name: str, taken: Collection[str]) -> str:
    """The name, or the name with a number, that no model has."""
    if name not in taken:
        return name
    return next(each for number in count(2) if (each := f"{name[:_ROOM]}-{number}") not in taken)

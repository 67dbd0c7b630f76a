"""Choosing a model file or folder to import, and how far that is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QPushButton, QWidget

from pinfill_app.failure import Failure
from pinfill_app.icons import set_icon
from pinfill_app.model_import import ModelImport
from pinfill_app.models.model_row import stage_text
from pinfill_app.theme import GRID
from pinfill_app.widgets.cached_bar import CachedBar
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_service.api.schemas.manage import ModelProgressEvent

_TOPIC = "import"


class ImportLine(QWidget):
    """Is there only while a model is imported. `imported` gets its name."""

    def __init__(self, notices: Notices, imported: Callable[[str], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notices, self._imported = notices, imported
        self._path = ""
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
        self._path = path
        self._notices.withdraw(_TOPIC)
        self._words.setText(self.tr("Importing {}").format(Path(path).name))
        self._bar.set_tokens(0, 0, 0)
        self.running.start(path)
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
        self._words.setText(self.tr("Stopping the import of {}").format(Path(self._path).name))
        self._stop.setEnabled(False)
        self.running.stop()

    def _render(self) -> None:
        is_running = self.running.is_running
        self.setVisible(is_running)
        self._stop.setEnabled(True)
        self.file.setEnabled(not is_running)
        self.folder.setEnabled(not is_running)

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
        self._words.setText(self.tr("{}: {}").format(Path(self._path).name, stage_text(event)))
        self._bar.set_tokens(0, event.done, event.total or 0)

    def _on_ended(self, outcome: str | Failure | None) -> None:
        self._render()
        name = Path(self._path).name
        if isinstance(outcome, Failure):
            words = self.tr("{} was not imported. {}").format(name, outcome.message)
            self._notices.show_notice(_TOPIC, Notice(words, Weight.FAILURE))
        elif outcome is None:
            words = self.tr("The import of {} was stopped. Nothing of it is kept.").format(name)
            self._notices.show_notice(_TOPIC, Notice(words))
        else:
            self._imported(outcome)

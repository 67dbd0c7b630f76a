"""The ways to pin something, from the question to the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from pinfill_app import units
from pinfill_app.commands import Command, Output
from pinfill_app.failure import Failure
from pinfill_app.refresher import Part
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context
from pinfill_app.windows.pin_dialog import PinDialog
from pinfill_app.windows.pin_files_dialog import FilesToPin, PinFilesDialog, choose_files
from pinfill_app.windows.pin_prefix_dialogs import PinEntryDialog, PinRequestDialog
from pinfill_app.windows.pin_text_dialog import PinTextDialog
from pinfill_service.api.schemas.manage import Entry, Pin, PinCreate, RequestDetail


class Pinning(QObject):
    """Opens the dialogs over `window`, and asks the service. What was refused can be changed and tried again."""

    pinned = Signal(str)  # a name, as soon as the service has taken it

    def __init__(self, context: Context, notices: Notices, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._notices, self._window = context, notices, window

    def choose_files(self) -> None:
        """Asks which files, then how."""
        choose_files(self._window, QFileDialog.FileMode.ExistingFiles, self.files)

    def files(self, paths: Sequence[Path]) -> None:
        self._open(PinFilesDialog(paths, self._context.store, self._window))

    def text(self, text: str = "") -> None:
        self._open(PinTextDialog(text, self._context.store, self._window))

    def entry(self, entry: Entry) -> None:
        self._open(PinEntryDialog(entry, self._context.store, self._window))

    def request(self, request_id: str, up_to: str | None = None) -> None:
        """A recent request; its segments are asked for first."""
        done = partial(self._on_request, up_to)
        self._context.client.get(RequestDetail, "requests", request_id, done=done)

    def clipboard(self) -> None:
        data = QGuiApplication.clipboard().mimeData()
        if data is not None:  # an empty clipboard may have none
            self.take(data)

    def take(self, data: QMimeData) -> None:
        """What was dropped or pasted: files or a text."""
        paths = local_paths(data)
        if paths:
            self.files(paths)
        elif data.hasText():
            self.text(data.text())

    # -- from the dialog to the service ----------------------------------------------------------------------------

    def _open(self, dialog: PinDialog) -> None:
        self._notices.withdraw("pin")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(self._on_chosen)
        dialog.open()

    def _on_request(self, up_to: str | None, answer: RequestDetail | Failure) -> None:
        if isinstance(answer, Failure):
            self._refuse(self.tr("The request cannot be pinned. {}").format(answer.message))
        elif not answer.can_be_pinned:
            self._refuse(self.tr("The text of this request is not remembered any more. Send it again, then pin it."))
        else:
            self._open(PinRequestDialog(answer, up_to, self._context.store, self._window))

    def _on_chosen(self, dialog: PinDialog) -> None:
        wanted = dialog.wanted()
        if isinstance(wanted, FilesToPin):
            self._pin_files(wanted)
        else:
            assert isinstance(wanted, PinCreate)
            done = partial(self._on_answer, wanted.name, partial(self.text, wanted.text) if wanted.text else None)
            self._context.client.post(Pin, "pins", body=wanted, done=done)

    def _pin_files(self, wanted: FilesToPin) -> None:
        """A process of its own reads them, and takes them apart."""
        words = self.tr("Reading {} files for {}.").format(units.number(len(wanted.paths)), wanted.name)
        if len(wanted.paths) == 1:
            words = self.tr("Reading {} for {}.").format(wanted.paths[0].name, wanted.name)
        options = ["--name", wanted.name, "--no-wait", "--yes", *(["--auto-refresh"] if wanted.auto_refresh else [])]
        done = partial(self._on_answer, wanted.name, partial(self._files_again, wanted))
        command = self._context.commands.run("pin", *options, "--", *map(str, wanted.paths), done=done)
        stop = self.tr("&Stop"), partial(self._stop_reading, command, wanted)
        self._notices.show_notice("pin", Notice(words, action=stop, can_close=False))

    def _stop_reading(self, command: Command, wanted: FilesToPin) -> None:
        """Nothing is pinned; what was told is not lost."""
        command.stop()
        self._files_again(wanted)

    def _files_again(self, wanted: FilesToPin) -> None:
        dialog = PinFilesDialog(wanted.paths, self._context.store, self._window)
        dialog.fill(wanted)
        self._open(dialog)

    def _on_answer(self, name: str, again: Callable[[], None] | None, answer: Pin | Output | Failure) -> None:
        self._notices.withdraw("pin")
        if isinstance(answer, Failure):
            self._refuse(self.tr("{} was not pinned. {}").format(name, answer.message), again)
            return
        self._context.store.reload(Part.STATUS, Part.PINS, Part.ENTRIES)
        self.pinned.emit(name)

    def _refuse(self, words: str, again: Callable[[], None] | None = None) -> None:
        self._notices.withdraw("pin")
        action = (self.tr("&Change it..."), again) if again is not None else None
        self._notices.show_notice("pin", Notice(words, Weight.FAILURE, action))


def local_paths(data: QMimeData) -> list[Path]:
    """The files and folders that were dropped or copied; empty when one of them is not on this machine."""
    urls = data.urls() if data.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls] if all(url.isLocalFile() for url in urls) else []

"""The window's menu of help: the first steps, the pages, the self-test, the log, and what this is."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QMessageBox, QWidget

from pinfill_app.failure_words import error_words
from pinfill_app.windows.first_run import FirstRun
from pinfill_app.windows.help_pages import HelpPages
from pinfill_app.windows.page import Context
from pinfill_service import __version__
from pinfill_service.resources import ResourceMissingError


class HelpMenu(QMenu):
    """Belongs to a window, over which it shows what it offers."""

    def __init__(self, context: Context, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        self._first_run: FirstRun | None = None
        self.setTitle(self.tr("&Help"))
        self.addAction(self.tr("&First steps..."), self.show_first_steps)
        pages = self.addAction(self.tr("&Help pages"), self._show_pages)
        pages.setShortcut(QKeySequence(QKeySequence.StandardKey.HelpContents))
        self.addAction(self.tr("&Self-test..."), partial(context.show_page, "log", self_test=True))
        self.addAction(self.tr("&Log"), partial(context.show_page, "log"))
        self.addSeparator()
        self.addAction(self.tr("&About Pinfill"), self.show_about)

    def show_first_steps(self) -> None:
        """Once at a time."""
        if self._first_run is None:
            self._first_run = FirstRun(self._context, self._window)
            self._first_run.finished.connect(self._on_finished)
        self._first_run.show()
        self._first_run.raise_()
        self._first_run.activateWindow()

    def _show_pages(self) -> None:
        try:
            HelpPages(self._context.settings, self._window).show()
        except (ResourceMissingError, OSError) as error:
            self._context.tell(self.tr("The help pages cannot be shown"), error_words(error))

    def _on_finished(self) -> None:
        self._first_run = None

    def show_about(self) -> None:
        words = self.tr("Pinfill {} keeps long prompt prefixes warm, so that they are not prefilled again.")
        licence = self.tr("Licence: Apache-2.0. Nothing leaves this machine unless you ask for it.")
        text = f"{words.format(__version__)}\n\n{licence}"
        box = QMessageBox(
            QMessageBox.Icon.NoIcon, self.tr("About Pinfill"), text, QMessageBox.StandardButton.Close, self._window
        )
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

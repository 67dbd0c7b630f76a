"""The help pages, read in a window of their own."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QTextBrowser, QVBoxLayout, QWidget

from pinfill_app.settings import AppSettings
from pinfill_app.theme import MARGIN
from pinfill_app.translations import spoken
from pinfill_app.widgets.splitter import Splitter
from pinfill_app.widgets.text_size import resize_to_text
from pinfill_service.resources import resource

NAME = "help"  # for what is remembered of it
WIDTH, HEIGHT = 120, 36  # characters, lines


def help_pages(language: str | None) -> list[Path]:
    """The file of each page, in `language` where there is one, else in English. Raises ResourceMissingError."""
    folder = resource("help")
    pages = sorted(folder.glob("*.md"))
    if language is None:
        return pages
    translated = (folder / language / page.name for page in pages)
    return [path if path.is_file() else page for path, page in zip(translated, pages, strict=True)]


class HelpPages(QDialog):
    """All pages of resources/help, by their titles, in the language that is spoken where they are translated into it.

    Raises ResourceMissingError when there are none.
    """

    def __init__(self, settings: AppSettings, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Help"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.pages = QListWidget()
        self.pages.setAccessibleName(self.tr("Help pages"))
        self.text = QTextBrowser(openLinks=False)
        self.text.anchorClicked.connect(self._follow)
        self.text.setAccessibleName(self.windowTitle())
        for path in help_pages(spoken()):
            words = path.read_text(encoding="utf-8")
            item = QListWidgetItem(words.split("\n", 1)[0].lstrip("# ") or path.stem)
            item.setData(Qt.ItemDataRole.UserRole, str(path))
            self.pages.addItem(item)
        self.pages.currentItemChanged.connect(self._show)
        split = Splitter(Qt.Orientation.Horizontal, self.tr("Width of the list"))
        split.addWidget(self.pages)
        split.addWidget(self.text)
        split.setStretchFactor(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.addWidget(split)
        resize_to_text(self, WIDTH, HEIGHT)
        self.pages.setMinimumWidth(self.pages.sizeHintForColumn(0) + 2 * MARGIN)
        split.keep_sizes(settings, NAME)
        self.pages.setCurrentRow(0)

    def _follow(self, link: QUrl) -> None:
        """Links lead to other pages; those to the web are opened by the system."""
        for row in range(self.pages.count()):
            if Path(self.pages.item(row).data(Qt.ItemDataRole.UserRole)).name == link.path():
                self.pages.setCurrentRow(row)
                return
        if link.scheme() in ("http", "https"):
            QDesktopServices.openUrl(link)

    def _show(self, item: QListWidgetItem) -> None:
        path = Path(item.data(Qt.ItemDataRole.UserRole))
        self.text.setMarkdown(path.read_text(encoding="utf-8"))

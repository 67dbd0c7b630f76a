"""The window: navigation on the left, notices above the pages, the status bar below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QMargins, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidgetItem,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from pinfill_app import icons
from pinfill_app.theme import GRID, outline_controls
from pinfill_app.widgets.page_frame import PageFrame
from pinfill_app.widgets.page_list import PageList
from pinfill_app.windows.notices import Notices
from pinfill_app.windows.page import Context, Page
from pinfill_app.windows.pages import PAGES
from pinfill_app.windows.status_line import StatusLine

FIRST_SIZE = QSize(1080, 680)
_FRAME = QMargins(GRID, 5 * GRID, GRID, GRID)  # room for what the window manager draws around the window


class MainWindow(QMainWindow):
    """Shows one page at a time. Closed, it hides when `hides_on_close`: then the tray is the application."""

    closed = Signal()

    def __init__(self, context: Context, pages: Sequence[type[Page]] = PAGES) -> None:
        super().__init__()
        self._context = context
        self.hides_on_close = True
        self.setWindowTitle("Pinfill")
        self.notices = Notices()
        self._pages = [page(context) for page in pages]
        self._stack = QStackedWidget()
        self._navigation = PageList()
        self._navigation.setAccessibleName(self.tr("Pages"))
        for page in self._pages:
            self._stack.addWidget(PageFrame(page))
            self._navigation.addItem(QListWidgetItem(page.title()))
        self._retint()
        self._set_up_navigation()
        self._lay_out()
        self.setStatusBar(StatusLine(context.store, context.supervisor))
        if not self.restoreGeometry(context.settings.geometry):
            self.resize(FIRST_SIZE)
        self._fit_screen()
        self._navigation.setCurrentRow(0)

    @property
    def page(self) -> Page | None:
        """The page that is shown."""
        return self._pages[self._stack.currentIndex()] if self._pages else None

    def show_page(self, name: str, /, **hints: Any) -> None:
        """Brings the window to the front with a page. Raises KeyError for a name that no page has."""
        index = {page.NAME: number for number, page in enumerate(self._pages)}[name]
        self._navigation.blockSignals(True)  # the page is told here, with the hints
        self._navigation.setCurrentRow(index)
        self._navigation.blockSignals(False)
        self.bring_to_front()
        self._show(index, **hints)

    def bring_to_front(self) -> None:
        """Shows the window where people see it."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            outline_controls()
            self._retint()
            icons.retint()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._context.settings.geometry = self.saveGeometry()
        if self.hides_on_close:
            event.ignore()
            self.hide()
        else:
            super().closeEvent(event)
            self.closed.emit()

    def _fit_screen(self) -> None:
        """What was right for another screen, or another scale, may reach over the edge of this one."""
        screen, place = self.screen().availableGeometry(), self.geometry()
        room = screen.marginsRemoved(_FRAME)
        size = place.size().boundedTo(room.size())
        if not self.isMaximized() and not self.isFullScreen() and (size != place.size() or not screen.contains(place)):
            place.setSize(size)
            place.moveCenter(room.center())
            self.setGeometry(place)

    def _retint(self) -> None:
        for row, page in enumerate(self._pages):
            self._navigation.item(row).setIcon(icons.icon(page.ICON))

    def _set_up_navigation(self) -> None:
        navigation = self._navigation
        navigation.setFrameShape(QFrame.Shape.NoFrame)
        navigation.setIconSize(QSize(20, 20))
        navigation.setSpacing(GRID // 4)
        navigation.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        navigation.setFixedWidth(navigation.sizeHintForColumn(0) + 4 * GRID)
        navigation.currentRowChanged.connect(self._show)
        for row in range(min(9, len(self._pages))):
            shortcut = QShortcut(QKeySequence(f"Ctrl+{row + 1}"), self)
            shortcut.activated.connect(lambda row=row: navigation.setCurrentRow(row))

    def _lay_out(self) -> None:
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.notices)
        right.addWidget(self._stack, 1)
        centre = QWidget()
        across = QHBoxLayout(centre)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(0)
        across.addWidget(self._navigation)
        across.addLayout(right, 1)
        self.setCentralWidget(centre)

    def _show(self, index: int, **hints: Any) -> None:
        self._stack.setCurrentIndex(index)
        if self.page is not None:
            self.page.shown(**hints)

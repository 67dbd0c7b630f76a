"""What holds a page: one that needs more room than there is can be scrolled."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class PageFrame(QScrollArea):
    """The page is as large as the frame, or as its layout needs to be; so a window can be smaller than its pages."""

    def __init__(self, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = page
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(page)
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._page and event.type() is QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """`widgetResizable` would give a page the height it likes best, and scroll where it could be lower."""
        room = self.maximumViewportSize()
        size = self._size_in(room)
        if size.height() > room.height():  # the bar takes room itself
            size = self._size_in(room - QSize(self.verticalScrollBar().sizeHint().width(), 0))
        if size.width() > room.width():
            size = self._size_in(room - QSize(0, self.horizontalScrollBar().sizeHint().height()))
        self._page.resize(size)

    def _size_in(self, room: QSize) -> QSize:
        layout, size = self._page.layout(), room.expandedTo(self._page.minimumSizeHint())
        if layout is not None and layout.hasHeightForWidth():
            size.setHeight(max(room.height(), layout.totalMinimumHeightForWidth(size.width())))
        return size

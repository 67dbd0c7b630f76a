"""A row of widgets that goes on in the next line where there is no room for all of them."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QSizePolicy, QSpacerItem, QWidget

from pinfill_app.theme import GRID


class FlowLayout(QLayout):
    """As wide as its widest widget at least. A stretch takes what its line has left; hidden widgets take nothing."""

    def __init__(self, *widgets: QWidget, gap: int = GRID) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(gap)
        for widget in widgets:
            self.addWidget(widget)

    def add_stretch(self) -> None:
        self.addItem(QSpacerItem(0, 0, QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum))

    # -- as Qt asks ------------------------------------------------------------------------------------------------

    def addItem(self, item: QLayoutItem, /) -> None:
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int, /) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int, /) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int, /) -> int:
        edges = self.contentsMargins()
        heights = [_height(line) for line in self._lines(width - edges.left() - edges.right())]
        return sum(heights) + self.spacing() * max(0, len(heights) - 1) + edges.top() + edges.bottom()

    def sizeHint(self) -> QSize:
        """All in one line."""
        shown = self._shown()
        width = sum(item.sizeHint().width() for item in shown) + self.spacing() * max(0, len(shown) - 1)
        return QSize(width, _height(shown)).grownBy(self.contentsMargins())

    def minimumSize(self) -> QSize:
        shown = self._shown()
        width = max((item.minimumSize().width() for item in shown), default=0)
        return QSize(width, _height(shown)).grownBy(self.contentsMargins())

    def setGeometry(self, rectangle: QRect, /) -> None:
        super().setGeometry(rectangle)
        space = rectangle.marginsRemoved(self.contentsMargins())
        top = space.top()
        for line in self._lines(space.width()):
            height = _height(line)
            self._place(line, QRect(space.left(), top, space.width(), height))
            top += height + self.spacing()

    # -- lines -----------------------------------------------------------------------------------------------------

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if item.widget() is None or not item.isEmpty()]

    def _lines(self, width: int) -> Iterator[list[QLayoutItem]]:
        line, used = list[QLayoutItem](), 0
        for item in self._shown():
            wanted = item.sizeHint().width()
            if line and used + self.spacing() + wanted > width:
                yield line
                line, used = [], 0
            used += wanted + (self.spacing() if line else 0)
            line.append(item)
        if line:
            yield line

    def _place(self, line: list[QLayoutItem], space: QRect) -> None:
        wanted = sum(item.sizeHint().width() for item in line) + self.spacing() * (len(line) - 1)
        rest, left = max(0, space.width() - wanted), 0
        stretches = [item for item in line if item.spacerItem() is not None]
        for item in line:
            size = item.sizeHint()
            width = min(size.width(), space.width())
            if item.spacerItem() is not None:
                width += rest // len(stretches)
            place = QRect(0, 0, width, size.height())
            place.moveTopLeft(QPoint(space.left() + left, space.top() + (space.height() - size.height()) // 2))
            item.setGeometry(place)
            left += width + self.spacing()


def _height(line: list[QLayoutItem]) -> int:
    return max((item.sizeHint().height() for item in line), default=0)

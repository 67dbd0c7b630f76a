"""The bar that is partly already done: cached tokens in one colour, processed ones in another."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from pinfill_app.theme import GRID, cached_color, processed_color, track_color
from pinfill_app.units import number

RADIUS = 3.0


def paint_bar(
    painter: QPainter, rectangle: QRectF, cached: float, processed: float, total: float, palette: QPalette
) -> None:
    """Draws `cached` and then `processed` out of `total`, in any one unit; the rest is the track. For delegates too."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(track_color(palette))
    painter.drawRoundedRect(rectangle, RADIUS, RADIUS)
    if total > 0:
        left = rectangle.left()
        for amount, color in ((cached, cached_color(palette)), (processed, processed_color(palette))):
            width = rectangle.width() * min(1.0, max(0.0, amount / total))
            width = min(width, rectangle.right() - left)
            painter.setBrush(color)
            painter.setClipRect(QRectF(left, rectangle.top(), width, rectangle.height()))
            painter.drawRoundedRect(rectangle, RADIUS, RADIUS)
            left += width
    painter.restore()


class CachedBar(QWidget):
    """One such bar, in tokens. It says its numbers to a screen reader and as a tool tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cached = self._processed = self._total = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Tokens"))

    def set_tokens(self, cached: int, processed: int, total: int) -> None:
        """`cached` + `processed` of `total` are there."""
        if (cached, processed, total) == (self._cached, self._processed, self._total):
            return
        self._cached, self._processed, self._total = cached, processed, total
        words = self.tr("{} cached, {} new, of {} tokens").format(number(cached), number(processed), number(total))
        self.setToolTip(words)
        self.setAccessibleDescription(words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(GRID * 20, max(GRID, self.fontMetrics().height() // 2))

    def minimumSizeHint(self) -> QSize:
        return QSize(GRID * 4, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_bar(painter, QRectF(self.rect()), self._cached, self._processed, self._total, self.palette())
        painter.end()

"""How much of the memory for prefixes is pinned, how much is cached, and how much is free."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from pinfill_app import units
from pinfill_app.theme import GRID, cached_color, track_color
from pinfill_app.widgets.cached_bar import RADIUS
from pinfill_service.api.schemas.manage import MemoryUse

_GAP = 2 * GRID


class MemoryBar(QWidget):
    """A bar in three parts, and a legend below with a sample of each."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._memory: MemoryUse | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Memory"))
        self.hide()

    def show_memory(self, memory: MemoryUse | None) -> None:
        """None: no model is loaded, and nothing is shown."""
        if memory == self._memory:
            return
        self._memory = memory
        self.setAccessibleDescription(", ".join(text for _, text in self._legend()))
        self.setToolTip(self.tr("Memory for cached prefixes: {}").format(self.accessibleDescription()))
        self.setVisible(memory is not None)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(
            40 * self.fontMetrics().averageCharWidth(), self._bar_height() + GRID + self.fontMetrics().height()
        )

    def minimumSizeHint(self) -> QSize:
        return QSize(GRID * 8, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_bar(painter, QRectF(0, 0, self.width(), self._bar_height()))
        self._paint_legend(painter, self._bar_height() + GRID)
        painter.end()

    def _bar_height(self) -> int:
        return max(GRID, round(self.fontMetrics().height() * 0.75))

    def _colors(self) -> tuple[QColor, QColor, QColor]:
        pinned, cached = cached_color(self.palette()), cached_color(self.palette())
        cached.setAlphaF(0.45)
        return pinned, cached, track_color(self.palette())

    def _paint_bar(self, painter: QPainter, rectangle: QRectF) -> None:
        outline = QPainterPath()
        outline.addRoundedRect(rectangle, RADIUS, RADIUS)
        pinned, cached, free = self._colors()
        painter.fillPath(outline, free)
        if self._memory is None or not self._memory.budget_bytes:
            return
        painter.save()
        painter.setClipPath(outline)
        left = rectangle.left()
        for amount, color in ((self._memory.pinned_bytes, pinned), (self._memory.cached_bytes, cached)):
            width = rectangle.width() * min(1.0, amount / self._memory.budget_bytes)
            painter.fillRect(QRectF(left, rectangle.top(), width, rectangle.height()), color)
            left += width
        painter.restore()

    def _paint_legend(self, painter: QPainter, top: int) -> None:
        metrics, left = self.fontMetrics(), 0
        sample = metrics.ascent() * 0.7
        for color, text in self._legend():
            if color is not None:
                spot = QRectF(left, top + metrics.ascent() - sample, sample, sample)
                outline = QPainterPath()
                outline.addRoundedRect(spot, RADIUS / 2, RADIUS / 2)
                painter.fillPath(outline, color)
                left += round(sample) + GRID // 2
            painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
            width = metrics.horizontalAdvance(text)
            painter.drawText(QRectF(left, top, width + 1, metrics.height()), Qt.AlignmentFlag.AlignLeft, text)
            left += width + _GAP

    def _legend(self) -> list[tuple[QColor | None, str]]:
        memory = self._memory
        if memory is None:
            return []
        pinned, cached, free = self._colors()
        left = self.tr("free {} of {}").format(units.size(memory.free_bytes), units.size(memory.budget_bytes))
        return [
            (pinned, self.tr("pinned {}").format(units.size(memory.pinned_bytes))),
            (cached, self.tr("cached {}").format(units.size(memory.cached_bytes))),
            (free, left),
        ]

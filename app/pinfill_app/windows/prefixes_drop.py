"""The sign over the page while something is dragged on it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QLabel, QWidget

from pinfill_app.theme import GRID, cached_color

TITLE_SIZE = 1.4  # of the font's
_STRENGTH = 0.9  # of the ground, through which the page is hardly seen


class DropSign(QLabel):
    """Covers its parent, and says what letting go would do."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * TITLE_SIZE)
        self.setFont(font)
        self.hide()

    def tell(self, words: str) -> None:
        self.setText(words)
        self.setGeometry(self._over.rect())
        self.raise_()
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = self.palette().color(QPalette.ColorRole.Window)
        ground.setAlphaF(_STRENGTH)
        painter.setBrush(ground)
        painter.setPen(QPen(cached_color(self.palette()), 2, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(self.rect().adjusted(GRID, GRID, -GRID, -GRID), GRID, GRID)
        painter.end()
        super().paintEvent(event)

"""A line of text that ends in dots where there is no room for more; the tool tip has all of it."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QWidget

from pinfill_app.widgets.plain_tip import plain_tip


class ElidedLabel(QWidget):
    """Shows plain text, as wide as there is room; nothing where there is no text."""

    def __init__(
        self,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._elide, self._align, self._text = elide, align, ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def text(self) -> str:
        return self._text

    def show_text(self, text: str, tip: str = "") -> None:
        """`tip`: what the tool tip says where that is more than the text."""
        self._text = " ".join(text.split())
        self.setToolTip(plain_tip(tip or self._text))
        self.setAccessibleName(self._text)
        self.setVisible(bool(self._text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = QFontMetricsF(self.font()).horizontalAdvance(self._text)
        return QSize(ceil(width), self.fontMetrics().height())  # rounded down, the text would lose its middle

    def minimumSizeHint(self) -> QSize:
        return QSize(4 * self.fontMetrics().averageCharWidth(), self.fontMetrics().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        words = self.fontMetrics().elidedText(self._text, self._elide, self.width())
        flags = self._align | Qt.AlignmentFlag.AlignVCenter
        style: QStyle = self.style()
        style.drawItemText(painter, self.rect(), flags, self.palette(), self.isEnabled(), words, self.foregroundRole())
        painter.end()

"""Samples of colours with what they stand for, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from pinfill_app.theme import GRID
from pinfill_app.widgets.cached_bar import RADIUS

CHARACTERS = 22


@dataclass(frozen=True, slots=True)
class Sample:
    """A square, or a dot where that is what the plot shows."""

    color: QColor
    name: str
    is_round: bool = False


class Legend(QWidget):
    """Long names are elided."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._samples: Sequence[Sample] = ()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Minimum)

    def show_samples(self, samples: Sequence[Sample]) -> None:
        self._samples = samples
        self.setAccessibleName(", ".join(sample.name for sample in samples))
        self.setToolTip("\n".join(sample.name for sample in samples))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(CHARACTERS * metrics.averageCharWidth(), len(self._samples) * self._row())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics, size = self.fontMetrics(), self.fontMetrics().ascent() * 0.75
        for place, sample in enumerate(self._samples):
            line = QRectF(0, place * self._row(), self.width(), self._row())
            spot = QRectF(0, line.center().y() - size / 2, size, size)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(sample.color)
            radius = size / 2 if sample.is_round else RADIUS / 2
            painter.drawRoundedRect(spot, radius, radius)
            painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
            words = line.adjusted(size + GRID, 0, 0, 0)
            elided = metrics.elidedText(sample.name, Qt.TextElideMode.ElideRight, int(words.width()))
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
        painter.end()

    def _row(self) -> int:
        return round(self.fontMetrics().height() * 1.3)

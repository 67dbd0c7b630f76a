"""What the plots have in common: the theme's colours, the font, and a tool tip with the numbers under the mouse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, log10

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QToolTip, QVBoxLayout, QWidget

from pinfill_app import units

Ticks = list[tuple[float, str]]
_MOST_TICKS = 5
_GRID_OPACITY = 0.12


class Plot(QWidget):
    """Holds a plot that nobody can move about. Subclasses draw into `plot` in `draw`, which is called again when the
    theme or the font changes.
    """

    redrawn = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = pg.PlotWidget(self)
        self.plot.setMenuEnabled(False)
        self.plot.setMouseEnabled(False, False)
        self.plot.hideButtons()
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the table has the same numbers
        self.plot.setFrameShape(pg.PlotWidget.Shape.NoFrame)
        self.plot.scene().sigMouseMoved.connect(self._on_mouse)
        self.setAccessibleName(name)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.plot)

    def draw(self) -> None:
        """Everything anew."""
        raise NotImplementedError

    def tip_at(self, x: float, y: float) -> str:
        """What is at a place of the plot; empty: nothing."""
        raise NotImplementedError

    def redraw(self) -> None:
        """In the colours of now."""
        palette, text = self.palette(), self.palette().color(QPalette.ColorRole.Text)
        self.plot.clear()
        self.plot.setBackground(palette.color(QPalette.ColorRole.Base))
        line = QColor(text)
        line.setAlphaF(_GRID_OPACITY)
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(line)
            axis.setTextPen(text)
            axis.setTickFont(self.font())
            axis.setStyle(tickLength=0)
        self.draw()
        self.redrawn.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.redraw()

    def _on_mouse(self, where: QPointF) -> None:
        place = self.plot.getPlotItem().vb.mapSceneToView(where)
        words = self.tip_at(place.x(), place.y())
        QToolTip.showText(self.plot.mapToGlobal(self.plot.mapFromScene(where)), words, self.plot)


def ticks(most: float, write: Callable[[float, int], str] = units.number) -> Ticks:
    """Round numbers from 0 to at most `most`."""
    if most <= 0:
        return [(0.0, write(0.0, 0))]
    rough = most / _MOST_TICKS
    power = 10.0 ** ceil(log10(rough) - 1)
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    digits = max(0, ceil(-log10(step) - 1e-9))
    return [(number * step, write(number * step, digits)) for number in range(int(most / step + 1e-9) + 1)]


def unit_of(seconds: float) -> tuple[float, str]:
    """What to count so many seconds in: its length in seconds, and its sign."""
    if seconds < 120:
        return 1.0, "s"
    return (60.0, "min") if seconds < 7_200 else (3_600.0, "h")


def shades(color: QColor, ground: QColor, count: int) -> Sequence[QColor]:
    """`count` steps from a colour towards the ground; the last one is still seen."""
    return [_mixed(color, ground, 0.72 * place / max(1, count - 1) if count > 1 else 0.0) for place in range(count)]


def _mixed(color: QColor, ground: QColor, share: float) -> QColor:
    parts = zip(color.getRgbF()[:3], ground.getRgbF()[:3], strict=True)  # type: ignore[index]
    return QColor.fromRgbF(*(one * (1 - share) + other * share for one, other in parts))

"""The plots of the page of savings: prefill saved by day and pin, and prefill with and without what is cached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QWidget

from pinfill_app import units
from pinfill_app.theme import cached_color, processed_color, track_color
from pinfill_app.widgets.plot import Plot, shades, ticks, unit_of

_BAR_WIDTH = 0.7
_MOST_LABELS = 7  # of days
_DOT = 12
_NAME_CHARACTERS = 20
_ROOM = 1.08  # of the longest bar


@dataclass(frozen=True, slots=True)
class Stack:
    """One pin's part of every day, in seconds."""

    name: str
    seconds: tuple[float, ...]
    is_pinned: bool = True


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds of prefill for a request of one pin, without and with what is cached."""

    name: str
    cold: float
    warm: float


class DayBars(Plot):
    """A bar a day, with a part for each pin; the first stack stands at the bottom."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._days: Sequence[str] = ()
        self._stacks: Sequence[Stack] = ()

    def show_days(self, days: Sequence[str], stacks: Sequence[Stack]) -> None:
        """`days`: what is written below the bars."""
        if (days, stacks) != (self._days, self._stacks):
            self._days, self._stacks = days, stacks
            self.redraw()

    def names(self) -> list[str]:
        """Of the stacks."""
        return [stack.name for stack in self._stacks]

    def colors(self) -> list[QColor]:
        """Of the stacks."""
        pinned = [stack for stack in self._stacks if stack.is_pinned]
        ground = self.palette().color(QPalette.ColorRole.Base)
        parts = iter(shades(cached_color(self.palette()), ground, len(pinned)))
        rest = track_color(self.palette())
        rest.setAlphaF(0.35)
        return [next(parts) if stack.is_pinned else rest for stack in self._stacks]

    def draw(self) -> None:
        places = [float(place) for place in range(len(self._days))]
        bottoms = [0.0] * len(places)
        length, _ = unit_of(self._most())
        for stack, color in zip(self._stacks, self.colors(), strict=True):
            heights = [max(0.0, seconds) / length for seconds in stack.seconds]
            edge = self.palette().color(QPalette.ColorRole.Base)
            bars = pg.BarGraphItem(x=places, y0=bottoms, height=heights, width=_BAR_WIDTH, brush=color, pen=edge)
            self.plot.addItem(bars)
            bottoms = [low + height for low, height in zip(bottoms, heights, strict=True)]
        most = self._most() / length
        every = -(-len(self._days) // _MOST_LABELS) if self._days else 1
        labels = [(place, self._days[int(place)]) for place in places[every // 2 :: every]]
        self.plot.getAxis("bottom").setTicks([labels])
        self.plot.getAxis("left").setTicks([ticks(most)])
        self.plot.setXRange(-0.6, len(self._days) - 0.4, padding=0)
        self.plot.setYRange(0, most * _ROOM or 1, padding=0)

    def unit(self) -> str:
        """What the left axis counts."""
        return unit_of(self._most())[1]

    def tip_at(self, x: float, y: float) -> str:
        place = round(x)
        if not 0 <= place < len(self._days) or abs(x - place) > _BAR_WIDTH / 2 or y < 0:
            return ""
        parts = [(stack.name, stack.seconds[place]) for stack in self._stacks if stack.seconds[place]]
        lines = [f"{name}: {units.duration(seconds)}" for name, seconds in parts]
        return "\n".join([f"{self._days[place]}: {units.duration(sum(seconds for _, seconds in parts))}", *lines])

    def _most(self) -> float:
        sums = (sum(max(0.0, stack.seconds[place]) for stack in self._stacks) for place in range(len(self._days)))
        return max(sums, default=0.0)


class ColdWarm(Plot):
    """A line for each pin, from a square (without what is cached) to a dot (with it); the first pin stands on top."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._pairs: Sequence[Pair] = ()

    def show_pairs(self, pairs: Sequence[Pair]) -> None:
        if pairs != self._pairs:
            self._pairs = pairs
            self.redraw()

    def draw(self) -> None:
        rows = self._rows()
        length, _ = unit_of(self._most())
        cold, warm = [pair.cold / length for pair in self._pairs], [pair.warm / length for pair in self._pairs]
        line = track_color(self.palette())
        line.setAlphaF(0.5)
        for one, other, row in zip(cold, warm, rows, strict=True):
            self.plot.plot([one, other], [row, row], pen=pg.mkPen(line, width=2))
        for values, color, symbol in (
            (cold, processed_color(self.palette()), "s"),
            (warm, cached_color(self.palette()), "o"),
        ):
            dots = pg.ScatterPlotItem(x=values, y=rows, size=_DOT, brush=color, pen=None, symbol=symbol)
            self.plot.addItem(dots)
        most = self._most() / length
        names = [(row, _short(pair.name)) for row, pair in zip(rows, self._pairs, strict=True)]
        self.plot.getAxis("left").setTicks([names])
        self.plot.getAxis("bottom").setTicks([ticks(most)])
        self.plot.setXRange(-most * (_ROOM - 1), most * _ROOM or 1, padding=0)
        self.plot.setYRange(-0.6, max(len(rows), 1) - 0.4, padding=0)

    def unit(self) -> str:
        """What the bottom axis counts."""
        return unit_of(self._most())[1]

    def tip_at(self, _x: float, y: float) -> str:
        row = round(y)
        if not 0 <= row < len(self._pairs):
            return ""
        pair = self._pairs[len(self._pairs) - 1 - row]
        words = self.tr("{}\nwithout what is cached: {}\nwith it: {}")
        return words.format(pair.name, units.duration(pair.cold), units.duration(pair.warm))

    def _rows(self) -> list[float]:
        return [float(len(self._pairs) - 1 - place) for place in range(len(self._pairs))]

    def _most(self) -> float:
        return max((max(pair.cold, pair.warm) for pair in self._pairs), default=0.0)


def _short(name: str) -> str:
    return name if len(name) <= _NAME_CHARACTERS else f"{name[: _NAME_CHARACTERS - 1]}\N{HORIZONTAL ELLIPSIS}"

"""The plots of the page of savings with their titles and legends. Imported when they are first shown: what draws them
takes a while to load, and most of the time the application is only an icon.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLabel, QWidget

from pinfill_app.models.savings_row import by_pin, cold_and_warm, day_text, pin_name
from pinfill_app.theme import GRID, cached_color, processed_color
from pinfill_app.widgets.legend import Legend, Sample
from pinfill_app.widgets.plot import Plot
from pinfill_app.widgets.savings_plots import ColdWarm, DayBars, Pair, Stack
from pinfill_service.api.schemas.manage import SavingsByDay

DAYS_OF_WEEK = 7
MOST_PINS = 6  # that have a colour, or a line, of their own
_PLOT_LINES, _PLOT_CHARACTERS = 12, 30  # at least


class SavingsPlots(QWidget):
    """Both plots side by side, or one above the other where there is no room for that."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.days = DayBars(self.tr("Prefill saved by day and pin"))
        self.pairs = ColdWarm(self.tr("Prefill with and without what is cached, by pin"))
        self._titles = QLabel(wordWrap=True), QLabel(wordWrap=True)
        self._legends = Legend(), Legend()
        self._halves = self._half(0, self.days), self._half(1, self.pairs)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(GRID)
        for half in self._halves:
            self._layout.addWidget(half, 1)

    def minimumSizeHint(self) -> QSize:
        """That of one above the other."""
        return QSize(max(half.minimumSizeHint().width() for half in self._halves), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        both = sum(half.minimumSizeHint().width() for half in self._halves) + GRID
        ways = QBoxLayout.Direction
        self._layout.setDirection(ways.LeftToRight if self.width() >= both else ways.TopToBottom)

    def _half(self, number: int, plot: Plot) -> QWidget:
        """A plot with its title and its legend."""
        metrics, half = self.fontMetrics(), QWidget()
        plot.setMinimumSize(_PLOT_CHARACTERS * metrics.averageCharWidth(), _PLOT_LINES * metrics.lineSpacing())
        plot.redrawn.connect(self._render_legends)
        layout = QGridLayout(half)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self._titles[number], 0, 0, 1, 2)
        layout.addWidget(plot, 1, 0)
        layout.addWidget(self._legends[number], 1, 1, Qt.AlignmentFlag.AlignTop)
        layout.setColumnStretch(0, 1)
        layout.setRowStretch(1, 1)
        return half

    def show_savings(self, days: Sequence[str], rows: Sequence[SavingsByDay]) -> None:
        """`days` as YYYY-MM-DD, the last one on the right; `rows` are of these days."""
        names = [day_text(day, "ddd" if len(days) <= DAYS_OF_WEEK else "d MMM") for day in days]
        self.days.show_days(names, _stacks(days, rows, self.tr("others")))
        pins = [each for each in by_pin(rows) if each.pin is not None and each.requests][:MOST_PINS]
        self.pairs.show_pairs([Pair(pin_name(each.pin), *cold_and_warm(each)) for each in pins])
        self._titles[0].setText(self.tr("Prefill saved by day, in {}").format(self.days.unit()))
        words = self.tr("Prefill before the first word, mean for a request, in {}")
        self._titles[1].setText(words.format(self.pairs.unit()))

    def _render_legends(self) -> None:
        stacks = zip(self.days.colors(), self.days.names(), strict=True)
        self._legends[0].show_samples([Sample(*stack) for stack in stacks][::-1])  # as they stand on each other
        palette = self.pairs.palette()
        without, with_it = self.tr("not cached"), self.tr("cached")
        dots = [Sample(processed_color(palette), without), Sample(cached_color(palette), with_it, is_round=True)]
        self._legends[1].show_samples(dots)


def _stacks(days: Sequence[str], rows: Sequence[SavingsByDay], others: str) -> list[Stack]:
    """The pins that saved most, all the others together, and what no pin served."""
    pins = [each.pin for each in by_pin(rows)]
    named = [pin for pin in pins if pin is not None][:MOST_PINS]
    rest = [pin for pin in pins if pin is not None][MOST_PINS:]
    groups = [(pin, [pin]) for pin in named] + ([(others, rest)] if rest else [])
    stacks = [Stack(name, _seconds(days, rows, group)) for name, group in groups]
    if None in pins:
        stacks.append(Stack(pin_name(None), _seconds(days, rows, [None]), is_pinned=False))
    return stacks


def _seconds(days: Sequence[str], rows: Sequence[SavingsByDay], pins: Sequence[str | None]) -> tuple[float, ...]:
    return tuple(sum(row.saved_seconds for row in rows if row.day == day and row.pin in pins) for day in days)

"""Cells that hold a bar that is partly already done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QPainter, QPalette
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from pinfill_app.models.keyed_table import ROW_ROLE, Index
from pinfill_app.theme import GRID
from pinfill_app.widgets.cached_bar import RADIUS, paint_bar

Amounts = tuple[float, float, float]  # cached, processed, total
WORDS_SHARE = 0.62  # of a cell with a bar and words


class BarDelegate(QStyledItemDelegate):
    """`amounts` gives a row's, or None for a cell without a bar. The cell's own text stands beside the bar."""

    def __init__(self, amounts: Callable[[Any], Amounts | None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._amounts = amounts

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        amounts = self._amounts(index.data(ROW_ROLE))
        if amounts is None:
            super().paint(painter, option, index)
            return
        self.initStyleOption(option, index)
        words, option.text = option.text, ""
        style = option.widget.style() if option.widget is not None else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        space = QRectF(option.rect).adjusted(GRID / 2, 0, -GRID / 2, 0)
        bar = QRectF(space)
        bar.setHeight(max(GRID, round(option.fontMetrics.height() * 0.6)))
        bar.moveTop(space.center().y() - bar.height() / 2)
        if words:
            bar.setWidth(space.width() * (1 - WORDS_SHARE))
            self._draw_words(painter, option, words, space.adjusted(bar.width() + GRID, 0, 0, 0))
        if option.state & QStyle.StateFlag.State_Selected:  # the bar's colours are made for the page's ground
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(option.palette.color(QPalette.ColorRole.Base))
            painter.drawRoundedRect(bar.adjusted(-1, -1, 1, 1), RADIUS, RADIUS)
        paint_bar(painter, bar, *amounts, option.palette)

    @staticmethod
    def _draw_words(painter: QPainter, option: QStyleOptionViewItem, words: str, space: QRectF) -> None:
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole.HighlightedText if selected else QPalette.ColorRole.Text
        painter.setFont(option.font)
        painter.setPen(option.palette.color(role))
        elided = option.fontMetrics.elidedText(words, Qt.TextElideMode.ElideRight, int(space.width()))
        painter.drawText(space, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, elided)

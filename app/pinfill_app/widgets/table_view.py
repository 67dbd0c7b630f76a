"""How tables look: rows as high as the font wants, no grid, one row selected at a time, a menu by mouse and by key."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QEvent, QPoint, Signal
from PySide6.QtGui import QContextMenuEvent, QFont
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QVBoxLayout, QWidget

from pinfill_app.models.keyed_table import KeyedTable
from pinfill_app.theme import GRID, MARGIN

R = TypeVar("R")

ROW_HEIGHT = 1.6  # of the font's


class TableView(QTableView, Generic[R]):
    """A view of a KeyedTable. `row_chosen` follows the selection, and changes of the selected row; `menu_asked` carries
    where, on the screen.
    """

    row_chosen = Signal()
    menu_asked = Signal(QPoint)

    def __init__(self, table: KeyedTable[R], name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = table
        self.setAccessibleName(name)
        self._set_up()
        self.setModel(table)
        self._measure()
        self.selectionModel().selectionChanged.connect(lambda *_: self.row_chosen.emit())
        table.dataChanged.connect(self._on_data_changed)

    @property
    def chosen(self) -> R | None:
        """The selected row."""
        places = self.selectionModel().selectedRows()
        return self._table.rows[places[0].row()] if places else None

    def choose(self, key: Hashable) -> bool:
        """Selects the row with this key; False when there is none."""
        place = self._table.row_of(key)
        if place is None:
            return False
        self.selectRow(place)
        self.scrollTo(self._table.index(place, 0))
        return True

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        where = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard and self.currentIndex().isValid():
            where = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
        self.menu_asked.emit(where)
        event.accept()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self.model() is not None:
            self._measure()

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        font = self.font()
        font.setFeature(QFont.Tag("tnum"), 1)
        self.setFont(font)

    def _measure(self) -> None:
        """Sizes in units of the font."""
        metrics, header = self.fontMetrics(), self.horizontalHeader()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(round(metrics.height() * ROW_HEIGHT))
        header.setMinimumSectionSize(4 * metrics.averageCharWidth())
        for place, column in enumerate(self._table.columns):
            if column.width is None:
                header.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)
            else:
                self.setColumnWidth(place, column.width * metrics.averageCharWidth() + 2 * GRID)

    def _on_data_changed(self, first: Any, last: Any, _roles: Any = None) -> None:
        places = self.selectionModel().selectedRows()
        if places and first.row() <= places[0].row() <= last.row():
            self.row_chosen.emit()


def with_margins(view: QWidget) -> QWidget:
    """A view where a page's text begins and ends, in a widget of its own."""
    around = QWidget()
    layout = QVBoxLayout(around)
    layout.setContentsMargins(MARGIN, 0, MARGIN, 0)
    layout.addWidget(view)
    return around

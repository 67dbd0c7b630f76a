"""A view of a table whose rows have keys: one row is selected at a time."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from pinfill_app.models.keyed_table import KeyedTable
from pinfill_app.theme import MARGIN
from pinfill_app.widgets.column_view import ColumnView

R = TypeVar("R")


class TableView(ColumnView, Generic[R]):
    """A view of a KeyedTable. `row_chosen` follows the selection, and changes of the selected row."""

    row_chosen = Signal()

    def __init__(self, table: KeyedTable[R], name: str, parent: QWidget | None = None) -> None:
        super().__init__(table, name, [column.width for column in table.columns], parent=parent)
        self._table = table
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

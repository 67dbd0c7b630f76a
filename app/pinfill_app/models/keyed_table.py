"""A table of rows that have keys: shown again after a change, only what has changed is told to the views."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from pinfill_app.widgets.plain_tip import plain_tip

R = TypeVar("R")
Index = QModelIndex | QPersistentModelIndex

ROW_ROLE: Final = Qt.ItemDataRole.UserRole  # the row itself, for delegates
_NO_PARENT: Final = QModelIndex()
_NUMBERS: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_WORDS: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """`width` is in characters; None: what the others leave. `tip` is the tool tip of a cell, its text without."""

    title: str
    text: Callable[[R], str]
    width: int | None
    is_number: bool = False
    tip: Callable[[R], str] | None = None
    explanation: str = ""  # of the title


class KeyedTable(QAbstractTableModel, Generic[R]):
    """Rows in the order in which they are given.

    Invariants: a row's key is nobody else's; an index that Qt keeps (selection, current row) stays with its key until
    that is gone; nothing is told when nothing has changed.
    """

    def __init__(
        self, columns: Sequence[Column[R]], key: Callable[[R], Hashable], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self._key = key
        self._rows: list[R] = []

    @property
    def rows(self) -> Sequence[R]:
        return self._rows

    def row_of(self, key: Hashable) -> int | None:
        """Where the row with this key is; None: it is gone."""
        return next((place for place, row in enumerate(self._rows) if self._key(row) == key), None)

    def show_rows(self, rows: Sequence[R]) -> None:
        """These are the rows now. Of two with the same key the first one counts."""
        wanted: dict[Hashable, R] = {}
        for row in rows:
            wanted.setdefault(self._key(row), row)
        self._remove_all_but(wanted.keys())
        self._put_in_order(list(wanted.items()))
        self._replace(list(wanted.values()))

    # -- changes ---------------------------------------------------------------------------------------------------

    def _remove_all_but(self, keys: Any) -> None:
        last = len(self._rows) - 1
        while last >= 0:
            if self._key(self._rows[last]) in keys:
                last -= 1
                continue
            first = last
            while first > 0 and self._key(self._rows[first - 1]) not in keys:
                first -= 1
            self.beginRemoveRows(_NO_PARENT, first, last)
            del self._rows[first : last + 1]
            self.endRemoveRows()
            last = first - 1

    def _put_in_order(self, wanted: Sequence[tuple[Hashable, R]]) -> None:
        """Moves the rows that are there and inserts the others."""
        known = {self._key(row) for row in self._rows}
        place = 0
        while place < len(wanted):
            key = wanted[place][0]
            if key in known:
                self._move_to(place, key)
                place += 1
                continue
            end = place + 1
            while end < len(wanted) and wanted[end][0] not in known:
                end += 1
            self.beginInsertRows(_NO_PARENT, place, end - 1)
            self._rows[place:place] = [row for _, row in wanted[place:end]]
            self.endInsertRows()
            place = end

    def _move_to(self, place: int, key: Hashable) -> None:
        if self._key(self._rows[place]) == key:
            return
        old = self.row_of(key)
        assert old is not None and old > place
        self.beginMoveRows(_NO_PARENT, old, old, _NO_PARENT, place)
        self._rows.insert(place, self._rows.pop(old))
        self.endMoveRows()

    def _replace(self, wanted: Sequence[R]) -> None:
        """Rows that show something else now, told in runs."""
        start: int | None = None
        for place in range(len(wanted) + 1):
            changed = place < len(wanted) and wanted[place] != self._rows[place]
            if changed:
                self._rows[place] = wanted[place]
                start = place if start is None else start
            elif start is not None:
                self.dataChanged.emit(self.index(start, 0), self.index(place - 1, len(self.columns) - 1))
                start = None

    # -- as Qt asks ------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.text(row)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip((column.tip or column.text)(row))
            case Qt.ItemDataRole.TextAlignmentRole:
                return _NUMBERS if column.is_number else _WORDS
            case _ if role == ROW_ROLE:
                return row
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = self.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.title
            case Qt.ItemDataRole.ToolTipRole:
                return column.explanation or None
            case Qt.ItemDataRole.TextAlignmentRole:
                return _NUMBERS if column.is_number else _WORDS
        return None

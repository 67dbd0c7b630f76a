"""The table of prefixes as Qt wants it: filtered, sorted, and changed only where something has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QIcon, QPalette, QPixmap

from pinfill_app import icons
from pinfill_app.failure_words import reason_words
from pinfill_app.models import prefix_columns as columns
from pinfill_app.models.keyed_table import ROW_ROLE, Index
from pinfill_app.models.prefix_columns import Column
from pinfill_app.models.prefix_row import Key, PrefixRow
from pinfill_app.theme import failure_color
from pinfill_service.api.schemas.manage import PinProgressEvent

COLUMNS = len(Column)
MOST_RANGES = 32  # of changed rows that are told one by one; beyond, all between them count as changed
SAME_TIME_SECONDS = 2.0  # the time of the last use comes as an age, which is a little off each time
_FLAGS: Final = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
_NAME_FLAGS: Final = _FLAGS | Qt.ItemFlag.ItemIsEditable
_NUMBERS: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_WORDS: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class PrefixTable(QAbstractTableModel):
    """Rows by key. Invariants: `rows` are what was given, filtered and sorted; an index that Qt keeps (selection,
    current row) stays with its key until that is gone; nothing is told when nothing has changed; a change of any size
    is told in a handful of signals.
    """

    rename_asked = Signal(str, str)  # a pin's name, and the text typed

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._given: Sequence[PrefixRow] = ()
        self._rows: list[PrefixRow] = []
        self._places: dict[Key, int] = {}
        self._words: list[str] = []
        self._sorted_by: Column | None = None
        self._descending = False
        self._progress: dict[str, PinProgressEvent] = {}
        self._stalled = False
        self._leaving: frozenset[Key] = frozenset()
        self._palette = QPalette()
        self._icons: dict[str, QIcon] = {}
        self.use_palette(QPalette())

    # -- what is shown ---------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Sequence[PrefixRow]:
        return self._rows

    def row_of(self, key: Key) -> int | None:
        """Where a prefix is shown; None: nowhere, at the moment."""
        return self._places.get(key)

    def show_rows(self, given: Sequence[PrefixRow]) -> None:
        """These are the prefixes now. Of two with the same key the later one counts."""
        self._given = list({row.key: row for row in given}.values())
        self._become(self._arranged())

    def find(self, text: str) -> None:
        """Shows only what holds all words of a text, whatever their case."""
        self._words = text.casefold().split()
        self._become(self._arranged())

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """-1: as given."""
        self._sorted_by = Column(column) if column >= 0 else None
        self._descending = order is Qt.SortOrder.DescendingOrder
        self._become(self._arranged())

    def show_progress(self, progress: Mapping[str, PinProgressEvent], *, stalled: bool = False) -> None:
        """How far pins are that are being prefilled, by name. `stalled`: the service does not answer."""
        names = progress.keys() | self._progress.keys()
        changed = [name for name in names if progress.get(name) != self._progress.get(name)]
        if stalled != self._stalled:
            changed = [row.name for row in self._rows if row.pin is not None and row.pin.state == "prefilling"]
        self._progress, self._stalled = dict(progress), stalled
        for name in changed:
            self._tell_row(("pin", name))

    def show_leaving(self, keys: frozenset[Key]) -> None:
        """What is about to be given up."""
        changed, self._leaving = keys ^ self._leaving, keys
        for key in changed:
            self._tell_row(key)

    def use_palette(self, palette: QPalette) -> None:
        """The colours of icons and failures."""
        self._palette = QPalette(palette)
        blank = QPixmap(max(icons.SIZES), max(icons.SIZES))
        blank.fill(Qt.GlobalColor.transparent)
        self._icons = {name: icons.icon(name, palette) for name in ("pin", "warning")} | {"": QIcon(blank)}
        if self._rows:
            self._tell_changed(range(len(self._rows)))

    # -- Qt's questions --------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else COLUMNS

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = Column(section)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return columns.title(column)
            case Qt.ItemDataRole.ToolTipRole:
                return columns.explanation(column) or None
            case Qt.ItemDataRole.TextAlignmentRole:
                return _WORDS if column in columns.WORDS else _NUMBERS
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        is_name = index.column() == Column.NAME and self._rows[index.row()].pin is not None
        return _NAME_FLAGS if is_name else _FLAGS

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _WORDS if column in columns.WORDS else _NUMBERS
            case Qt.ItemDataRole.DecorationRole:
                return self._icon(row, column)
            case Qt.ItemDataRole.ForegroundRole:
                return self._color(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return self._tip(row, column)
            case Qt.ItemDataRole.EditRole:
                return row.name
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{columns.title(column)}: {self._text(row, column)}"
            case _ if role == ROW_ROLE:
                return row
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """A name was typed. It is shown once the service has taken it."""
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.EditRole and row.pin is not None and str(value).strip() != row.name:
            self.rename_asked.emit(row.name, str(value))
        return False

    def _text(self, row: PrefixRow, column: Column) -> str:
        if column is not Column.STATE:
            return columns.text(row, column)
        if row.key in self._leaving:
            return self.tr("unpinned soon") if row.pin is not None else self.tr("evicted soon")
        progress = self.progress_of(row)
        return columns.text(row, column) if progress is None else columns.progress_text(progress, self._stalled)

    def progress_of(self, row: PrefixRow) -> PinProgressEvent | None:
        """Events are newer than what was asked for, but only that knows a pin whose events were missed."""
        if row.pin is None or row.pin.state != "prefilling" or row.key in self._leaving:
            return None
        pin = row.pin
        known = PinProgressEvent(name=pin.name, done=pin.done, total=pin.total, seconds_left=pin.seconds_left)
        return self._progress.get(pin.name, known)

    def _icon(self, row: PrefixRow, column: Column) -> QIcon | None:
        if column is Column.NAME:
            return self._icons["pin" if row.pin is not None else ""]
        warns = column is Column.STATE and row.state in ("stale", "failed") and row.key not in self._leaving
        return self._icons["warning"] if warns else None

    def _color(self, row: PrefixRow, column: Column) -> Any:
        if row.key in self._leaving:
            return self._palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
        if column is Column.STATE and row.state == "failed":
            return failure_color(self._palette)
        return None

    def _tip(self, row: PrefixRow, column: Column) -> str:
        words = self._text(row, column)
        if column is Column.STATE and row.pin is not None:
            progress = f"{columns.state_text(row)}: {words}" if self.progress_of(row) is not None else words
            return f"{progress}. {reason_words(row.pin.state, row.pin.reason)}" if row.pin.reason else progress
        if column is Column.SOURCE and row.pin is not None:
            return "\n".join(source.path for source in row.pin.sources) or words
        return words

    # -- changes ---------------------------------------------------------------------------------------------------

    def _arranged(self) -> list[PrefixRow]:
        """What was given, filtered and sorted."""
        rows = list(self._given)
        if self._words:
            rows = [row for row in rows if _holds(row.searched, self._words)]
        if self._sorted_by is None:
            return rows
        by = self._sorted_by
        keyed = [(columns.sort_key(row, by), row) for row in rows]
        known: list[tuple[Any, PrefixRow]] = [pair for pair in keyed if pair[0] is not None]
        known.sort(key=lambda pair: pair[0], reverse=self._descending)
        return [row for _, row in known] + [row for key, row in keyed if key is None]

    def _become(self, target: list[PrefixRow]) -> None:
        """The rows that are gone are gathered at the end and removed, new ones are put there, then all are ordered."""
        target = [self._settled(row) for row in target]
        if [row.key for row in target] != [row.key for row in self._rows]:
            wanted = {row.key for row in target}
            kept = [row for row in self._rows if row.key in wanted]
            self._reorder(kept + [row for row in self._rows if row.key not in wanted])
            self._remove_from(len(kept))
            self._append([row for row in target if row.key not in self._places])
            known = dict(self._places)
            self._reorder([self._rows[known[row.key]] for row in target])
        pairs = zip(target, self._rows, strict=True)
        changed = [place for place, (row, old) in enumerate(pairs) if row is not old and row != old]
        self._rows = target
        self._tell_changed(changed)

    def _settled(self, row: PrefixRow) -> PrefixRow:
        """The row with the time of its last use as it was shown, if it is the same."""
        place = self._places.get(row.key)
        before = self._rows[place].used if place is not None else None
        if row.used is None or before is None or row.used == before:
            return row
        return replace(row, used=before) if abs(row.used - before) < SAME_TIME_SECONDS else row

    def _reorder(self, rows: list[PrefixRow]) -> None:
        if [row.key for row in rows] == [row.key for row in self._rows]:
            return
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        keys = [self._rows[index.row()].key for index in old]
        self._set(rows)
        new = [self.index(self._places[key], index.column()) for key, index in zip(keys, old, strict=True)]
        self.changePersistentIndexList(old, new)
        self.layoutChanged.emit()

    def _remove_from(self, first: int) -> None:
        if first < len(self._rows):
            self.beginRemoveRows(QModelIndex(), first, len(self._rows) - 1)
            self._set(self._rows[:first])
            self.endRemoveRows()

    def _append(self, rows: list[PrefixRow]) -> None:
        if rows:
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + len(rows) - 1)
            self._set(self._rows + rows)
            self.endInsertRows()

    def _set(self, rows: list[PrefixRow]) -> None:
        self._rows, self._places = rows, {row.key: place for place, row in enumerate(rows)}

    def _tell_changed(self, places: Sequence[int]) -> None:
        ranges: list[tuple[int, int]] = []
        for place in places:
            if ranges and place == ranges[-1][1] + 1:
                ranges[-1] = ranges[-1][0], place
            else:
                ranges.append((place, place))
        if len(ranges) > MOST_RANGES:
            ranges = [(ranges[0][0], ranges[-1][1])]
        for first, last in ranges:
            self.dataChanged.emit(self.index(first, 0), self.index(last, COLUMNS - 1))

    def _tell_row(self, key: Key) -> None:
        place = self._places.get(key)
        if place is not None:
            self.dataChanged.emit(self.index(place, 0), self.index(place, COLUMNS - 1))


def _holds(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)

"""The table of prefixes as a widget: bars while pins are prefilled, rows as high as the font wants, a menu."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from pinfill_app.models.prefix_columns import Column
from pinfill_app.models.prefix_row import Key, PrefixRow
from pinfill_app.models.prefix_table import PrefixTable
from pinfill_app.widgets.bar_delegate import Amounts, BarDelegate
from pinfill_app.widgets.column_view import ColumnView

AGES_MILLISECONDS = 30_000  # between two looks at "2 min"
FIRST_HIDDEN = (Column.LAST, Column.SOURCE)
_WIDTHS = {  # in characters; None: what the others leave
    Column.NAME: None,
    Column.STATE: 26,
    Column.TOKENS: 9,
    Column.MEMORY: 9,
    Column.SHARED: 9,
    Column.HITS: 7,
    Column.TODAY: 14,
    Column.TOTAL: 12,
    Column.LAST: 10,
    Column.USED: 9,
    Column.SOURCE: 20,
}


class PrefixView(ColumnView):
    """Any number of rows can be selected."""

    selected = Signal()  # other rows are selected, or the selected ones have changed

    def __init__(self, table: PrefixTable, parent: QWidget | None = None) -> None:
        super().__init__(table, "", [_WIDTHS[column] for column in Column], FIRST_HIDDEN, parent)
        self.setAccessibleName(self.tr("Prefixes"))
        self._table = table
        self._awaited: Key | None = None
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setItemDelegateForColumn(Column.STATE, BarDelegate(self._amounts, self))
        self.horizontalHeader().setSortIndicatorClearable(True)
        self.setSortingEnabled(True)  # the header knows by now that there may be no order
        self.selectionModel().selectionChanged.connect(lambda *_: self.selected.emit())
        for changed in (table.dataChanged, table.rowsInserted, table.rowsRemoved, table.layoutChanged):
            changed.connect(lambda *_: self._on_rows_changed())
        ages = QTimer(self, interval=AGES_MILLISECONDS)
        ages.timeout.connect(self.viewport().update)
        ages.start()

    @property
    def selected_rows(self) -> list[PrefixRow]:
        """From top to bottom."""
        ranges = self.selectionModel().selection().toList()
        places = {place for part in ranges for place in range(part.top(), part.bottom() + 1)}
        return [self._table.rows[place] for place in sorted(places)]

    def select(self, key: Key) -> None:
        """Selects one prefix, as soon as it is shown."""
        self._awaited = key
        self._on_rows_changed()

    def rename(self) -> None:
        """Lets the current pin's name be typed."""
        self.edit(self._table.index(self.currentIndex().row(), Column.NAME))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape gives the selection up; it would do nothing else here."""
        if event.key() == Qt.Key.Key_Escape and self.selectionModel().hasSelection():
            self.clearSelection()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._table.use_palette(self.palette())

    def _amounts(self, row: PrefixRow) -> Amounts | None:
        """How far a pin is that is being prefilled."""
        progress = self._table.progress_of(row)
        return (0, progress.done, progress.total) if progress is not None else None

    def _on_rows_changed(self) -> None:
        place = self._table.row_of(self._awaited) if self._awaited is not None else None
        if place is not None:
            self._awaited = None
            self.selectRow(place)
            self.scrollTo(self._table.index(place, Column.NAME))
        self.selected.emit()

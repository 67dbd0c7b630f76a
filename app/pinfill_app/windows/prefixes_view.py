"""The table of prefixes as a widget: bars while pins are prefilled, rows as high as the font wants, a menu."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFont, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from pinfill_app.models.prefix_columns import Column, title
from pinfill_app.models.prefix_row import Key, PrefixRow
from pinfill_app.models.prefix_table import Index, PrefixTable, Role
from pinfill_app.theme import GRID
from pinfill_app.widgets.cached_bar import paint_bar

AGES_MILLISECONDS = 30_000  # between two looks at "2 min"
ROW_HEIGHT = 1.6  # of the font's
FIRST_HIDDEN = (Column.LAST, Column.SOURCE)
_WIDTHS = {  # in characters
    Column.NAME: 26,
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
_BAR_SHARE = 0.34  # of the cell's width


class StateDelegate(QStyledItemDelegate):
    """Draws how far a pin is as the bar that is partly already done, and then its words."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        progress = index.data(Role.PROGRESS)
        if progress is None:
            super().paint(painter, option, index)
            return
        self.initStyleOption(option, index)
        words, option.text = option.text, ""
        style = option.widget.style() if option.widget is not None else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        inside = option.rect.adjusted(GRID // 2, 0, -GRID // 2, 0)
        height = max(GRID, round(option.fontMetrics.height() * 0.55))
        top = inside.top() + (inside.height() - height) / 2
        bar = QRectF(inside.left(), top, inside.width() * _BAR_SHARE, height)
        paint_bar(painter, bar, 0, progress.done, progress.total, option.palette)
        self._draw_words(painter, option, words, inside.adjusted(round(bar.width()) + GRID, 0, 0, 0))

    @staticmethod
    def _draw_words(painter: QPainter, option: QStyleOptionViewItem, words: str, space: QRect) -> None:
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole.HighlightedText if selected else QPalette.ColorRole.Text
        painter.save()
        painter.setFont(option.font)
        painter.setPen(option.palette.color(role))
        elided = option.fontMetrics.elidedText(words, Qt.TextElideMode.ElideRight, space.width())
        painter.drawText(space, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, elided)
        painter.restore()


class PrefixView(QTableView):
    """`menu_asked` carries where, on the screen."""

    selected = Signal()  # other rows are selected, or the selected ones have changed
    menu_asked = Signal(QPoint)

    def __init__(self, table: PrefixTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = table
        self._awaited: Key | None = None
        self._set_up()
        self.setModel(table)
        self._set_up_header()
        self._measure()
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

    def columns_menu(self, parent: QWidget) -> QMenu:
        """Which columns are shown."""
        menu = QMenu(self.tr("Columns"), parent)
        for column in Column:
            if column is not Column.NAME:
                action = menu.addAction(title(column))
                action.setCheckable(True)
                action.setChecked(not self.isColumnHidden(column))
                action.toggled.connect(lambda on, column=column: self.setColumnHidden(column, not on))
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """By mouse, and by its key: then at the current row."""
        where = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard and self.currentIndex().isValid():
            where = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
        self.menu_asked.emit(where)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape gives the selection up; it would do nothing else here."""
        if event.key() == Qt.Key.Key_Escape and self.selectionModel().hasSelection():
            self.clearSelection()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self.model() is not None:
            self._measure()
        if event.type() is QEvent.Type.PaletteChange:
            self._table.use_palette(self.palette())

    def _set_up(self) -> None:
        self.setAccessibleName(self.tr("Prefixes"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSortingEnabled(False)  # until the header knows that there may be no order
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setItemDelegateForColumn(Column.STATE, StateDelegate(self))
        self.verticalHeader().hide()
        font = self.font()
        font.setFeature(QFont.Tag("tnum"), 1)
        self.setFont(font)

    def _set_up_header(self) -> None:
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_menu)
        self.setSortingEnabled(True)
        for column in FIRST_HIDDEN:
            self.hideColumn(column)

    def _measure(self) -> None:
        """Sizes in units of the font."""
        metrics, header = self.fontMetrics(), self.horizontalHeader()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(round(metrics.height() * ROW_HEIGHT))
        self.setIconSize(QSize(metrics.height(), metrics.height()))
        for column, characters in _WIDTHS.items():
            self.setColumnWidth(column, characters * metrics.averageCharWidth() + GRID)
        header.setMinimumSectionSize(4 * metrics.averageCharWidth())
        header.setSectionResizeMode(Column.NAME, QHeaderView.ResizeMode.Stretch)

    def _on_header_menu(self, where: QPoint) -> None:
        menu = self.columns_menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.horizontalHeader().mapToGlobal(where))

    def _on_rows_changed(self) -> None:
        place = self._table.row_of(self._awaited) if self._awaited is not None else None
        if place is not None:
            self._awaited = None
            self.selectRow(place)
            self.scrollTo(self._table.index(place, Column.NAME))
        self.selected.emit()

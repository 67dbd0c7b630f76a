"""How tables look: rows as high as the font wants, no grid, columns that can be arranged, a menu by mouse and key."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QEvent, QItemSelectionModel, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QFont, QHideEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QMenu, QTableView, QWidget

from pinfill_app.settings import AppSettings
from pinfill_app.table_layout import TableLayout
from pinfill_app.theme import GRID

ROW_HEIGHT = 1.6  # of the font's
FEWEST_ROWS = 3  # in sight
LEAST_REST = 22  # characters of the column that takes what the others leave
_SAVE_MILLISECONDS = 500  # after the last change: the edge of a column is moved in many steps


class ColumnView(QTableView):
    """`widths` are in characters, by column; None: what the others leave. A title that is longer makes a column wider.

    `menu_asked` carries where, on the screen. The first column is always shown.
    """

    menu_asked = Signal(QPoint)

    def __init__(
        self,
        model: QAbstractTableModel,
        name: str,
        widths: Sequence[int | None],
        first_hidden: Sequence[int] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._widths, self._chosen = tuple(widths), dict[int, float]()
        self._rest = self._widths.index(None)
        self._at_first = TableLayout(order=tuple(range(len(self._widths))), hidden=tuple(first_hidden))
        self._keep: tuple[AppSettings, str] | None = None
        self._saving = QTimer(self, singleShot=True, interval=_SAVE_MILLISECONDS)
        self._saving.timeout.connect(self._save)
        self._arranging = True  # what the header says meanwhile is no person's doing
        self.setAccessibleName(name)
        self._set_up()
        self.setModel(model)
        self._set_up_header()
        self._arrange(self._at_first)

    # -- columns ---------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> TableLayout:
        """As they are arranged now."""
        header, count = self.horizontalHeader(), len(self._widths)
        by = header.sortIndicatorSection() if header.isSortIndicatorShown() else -1
        return TableLayout(
            order=tuple(header.logicalIndex(place) for place in range(count)),
            hidden=tuple(column for column in range(count) if self.isColumnHidden(column)),
            widths=dict(self._chosen),
            sorted_by=by,
            descending=by >= 0 and header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder,
        )

    def keep_columns(self, settings: AppSettings, name: str) -> None:
        """Arranges them as they were under this name, and remembers every change from now on."""
        self._keep = settings, name
        kept = TableLayout.parse(settings.table(name), len(self._widths))
        if kept is not None:
            self._arrange(kept)

    def show_column(self, column: int, on: bool) -> None:
        self.setColumnHidden(column, not on)
        self._fill()
        self._on_arranged()

    def columns_menu(self, parent: QWidget) -> QMenu:
        """Which columns are shown."""
        menu = QMenu(self.tr("Columns"), parent)
        header, words = self.horizontalHeader(), self.model().headerData
        for column in map(header.logicalIndex, range(1, len(self._widths))):
            action = menu.addAction(str(words(column, Qt.Orientation.Horizontal)).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(not self.isColumnHidden(column))
            action.toggled.connect(lambda on, column=column: self.show_column(column, on))
        menu.addSeparator()
        first = menu.addAction(self.tr("As at first"), self._forget)
        first.setEnabled(self.columns != self._at_first)
        return menu

    def popup_menu(self, where: QPoint, actions: Sequence[QAction], title: str = "") -> None:
        """What can be done with the rows, and with the columns."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if title:
            menu.addSection(title)
        menu.addActions(actions)
        menu.addSeparator()
        menu.addMenu(self.columns_menu(menu))
        menu.popup(where)

    def _forget(self) -> None:
        self._arrange(self._at_first)
        self._on_arranged()

    def _arrange(self, layout: TableLayout) -> None:
        header, self._arranging = self.horizontalHeader(), True
        for place, column in enumerate(layout.order):
            header.moveSection(header.visualIndex(column), place)
            self.setColumnHidden(column, column in layout.hidden)
        order = Qt.SortOrder.DescendingOrder if layout.descending else Qt.SortOrder.AscendingOrder
        header.setSortIndicator(layout.sorted_by, order)
        self._chosen = dict(layout.widths)
        self._measure()
        self._arranging = False

    def _on_arranged(self) -> None:
        if not self._arranging and self._keep is not None:
            self._saving.start()

    def _on_resized(self, column: int, _old: int, width: int) -> None:
        if not self._arranging and width:  # hidden, it has none
            self._chosen[column] = max(1.0, round(width / self.fontMetrics().averageCharWidth(), 2))
            self._fill()
            self._on_arranged()

    def _save(self) -> None:
        self._saving.stop()
        if self._keep is not None:
            settings, name = self._keep
            settings.set_table(name, self.columns.model_dump_json())

    # -- as Qt asks ------------------------------------------------------------------------------------------------

    def minimumSizeHint(self) -> QSize:
        """With rows in sight, whatever the font."""
        rows = FEWEST_ROWS * self.verticalHeader().defaultSectionSize()
        bar = self.horizontalScrollBar().sizeHint().height()
        height = self.horizontalHeader().sizeHint().height() + rows + bar
        return QSize(super().minimumSizeHint().width(), height)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """By mouse, and by its key: then at the current row."""
        where = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard and self.currentIndex().isValid():
            where = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
        self.menu_asked.emit(where)
        event.accept()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self.model() is not None:
            self._measure()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fill()

    def hideEvent(self, event: QHideEvent) -> None:
        if self._saving.isActive():
            self._save()
        super().hideEvent(event)

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
        font = self.font()
        font.setFeature(QFont.Tag("tnum"), 1)
        self.setFont(font)

    def _set_up_header(self) -> None:
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSelectionModel(
            QItemSelectionModel(self.model(), header)
        )  # that of the rows it would walk along to paint
        header.setSectionsMovable(True)
        header.setFirstSectionMovable(False)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_menu)
        header.sectionResized.connect(self._on_resized)
        header.sectionMoved.connect(lambda *_: self._on_arranged())
        header.sortIndicatorChanged.connect(lambda *_: self._on_arranged())

    def _measure(self) -> None:
        """Sizes in units of the font."""
        metrics, header = self.fontMetrics(), self.horizontalHeader()
        before, self._arranging = self._arranging, True
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(round(metrics.height() * ROW_HEIGHT))
        self.setIconSize(QSize(metrics.height(), metrics.height()))
        header.setMinimumSectionSize(4 * metrics.averageCharWidth())
        header.setSectionResizeMode(self._rest, QHeaderView.ResizeMode.Fixed)
        for column, width in enumerate(self._widths):
            if column in self._chosen:
                self.setColumnWidth(column, round(self._chosen[column] * metrics.averageCharWidth()))
            elif width is not None:
                wanted = width * metrics.averageCharWidth() + 2 * GRID
                self.setColumnWidth(column, max(wanted, header.sectionSizeHint(column)))
        self._arranging = before
        self._fill()

    def _fill(self) -> None:
        """Gives what is left to the column that takes it, which stays readable: else the table is scrolled."""
        before, self._arranging = self._arranging, True
        header = self.horizontalHeader()
        others = header.length() - header.sectionSize(self._rest)
        least = LEAST_REST * self.fontMetrics().averageCharWidth() + 2 * GRID
        self.setColumnWidth(self._rest, max(least, self.viewport().width() - others))
        self._arranging = before

    def _on_header_menu(self, where: QPoint) -> None:
        menu = self.columns_menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.horizontalHeader().mapToGlobal(where))

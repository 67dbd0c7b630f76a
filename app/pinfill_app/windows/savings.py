"""The page of savings: how much prefill was saved, on which day and by which pin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from pinfill_app import units
from pinfill_app.background import in_background
from pinfill_app.icons import set_icon
from pinfill_app.models.keyed_table import KeyedTable
from pinfill_app.models.savings_row import as_csv, columns, day_names, last_days, total
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.empty_state import EmptyState
from pinfill_app.widgets.heading import heading
from pinfill_app.widgets.table_view import TableView
from pinfill_app.windows.no_service import why_no_service
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context, Page
from pinfill_service.api.schemas.manage import SavingsByDay

if TYPE_CHECKING:
    from pinfill_app.windows.savings_plots import SavingsPlots

WEEK, MONTH = 7, 30
_NUMBER_SIZE = 1.8  # of the text's
_TABLE_LINES = 10  # at least


class SavingsPage(Page):
    """Rendered from the store while it is shown."""

    NAME = "savings"
    ICON = "savings"

    def __init__(self, context: Context, parent: QWidget | None = None, today: Callable[[], date] = date.today) -> None:
        super().__init__(context, parent)
        self._today = today
        self.rows: Sequence[SavingsByDay] = ()
        self.table: KeyedTable[SavingsByDay] = KeyedTable(columns(), lambda row: (row.day, row.pin), self)
        self.view = TableView(self.table, self.title())
        self.number, self.more = heading("", _NUMBER_SIZE), QLabel(wordWrap=True)
        self.span = QComboBox()
        self.span.addItem(self.tr("Last 7 days"), WEEK)
        self.span.addItem(self.tr("Last 30 days"), MONTH)
        self.export = QPushButton(self.tr("&Export..."))
        set_icon(self.export, "download")
        self.notices, self.empty = Notices(), EmptyState()
        self.plots: SavingsPlots | None = None
        self._lay_out()
        self._connect()

    @classmethod
    def title(cls) -> str:
        return QCoreApplication.translate("SavingsPage", "Savings")

    def shown(self, **hints: Any) -> None:
        self._render()
        self.span.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._render()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GRID)
        label = QLabel(self.tr("&Show"))
        label.setBuddy(self.span)
        top.addWidget(heading(self.title()), 1)
        for widget in (label, self.span, self.export):
            top.addWidget(widget)
        content = QWidget()
        self._content = QVBoxLayout(content)
        self._content.setContentsMargins(0, 0, 0, 0)
        self._content.setSpacing(GRID)
        self._content.addWidget(self.number)
        self._content.addWidget(self.more)
        self._content.addWidget(self.view, 1)
        self.view.setMinimumHeight(_TABLE_LINES * self.fontMetrics().lineSpacing())
        scroll = QScrollArea(widgetResizable=True)  # for large type in a small window
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(content)
        self._stack = QStackedWidget()
        self._stack.addWidget(scroll)
        self._stack.addWidget(self.empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(GRID)
        layout.addLayout(top)
        layout.addWidget(self.notices)
        layout.addWidget(self._stack, 1)

    def _connect(self) -> None:
        store = self.context.store
        for changed in (store.savings_changed, store.status_changed, self.context.supervisor.state_changed):
            changed.connect(self._render)
        self.span.currentIndexChanged.connect(self._render)
        self.export.clicked.connect(self._choose_file)
        save = QShortcut(QKeySequence(QKeySequence.StandardKey.Save), self)
        save.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        save.activated.connect(self.export.click)

    # -- from the store --------------------------------------------------------------------------------------------

    @property
    def days(self) -> int:
        """How many are shown."""
        return int(self.span.currentData())

    def _render(self) -> None:
        if not self.isVisible():
            return
        savings, today = self.context.store.savings, self._today()
        self.rows = last_days(savings.by_day, self.days, today) if savings is not None else []
        self.export.setEnabled(bool(self.rows))
        if not self.rows:
            self._say_why_empty()
            self._stack.setCurrentIndex(1)
            return
        self._stack.setCurrentIndex(0)
        self._render_number()
        self.table.show_rows(self.rows)
        self._shown_plots().show_savings(day_names(self.days, today), self.rows)

    def _render_number(self) -> None:
        sums = total(self.rows)
        saved = units.rough_duration(max(0.0, sums.saved_seconds))
        words = (
            self.tr("{} of prefill saved this week") if self.days == WEEK else self.tr("{} of prefill saved this month")
        )
        self.number.setText(words.format(saved))
        share = sums.cached_tokens / sums.prompt_tokens if sums.prompt_tokens else 0.0
        counts = units.number(sums.requests), units.percent(share), units.number(sums.prompt_tokens)
        done = units.rough_duration(sums.prefill_seconds)
        self.more.setText(
            self.tr("{} requests; {} of {} prompt tokens came from the cache; the others took {} of prefill.").format(
                *counts, done
            )
        )

    def _shown_plots(self) -> SavingsPlots:
        if self.plots is None:
            from pinfill_app.windows.savings_plots import SavingsPlots

            self.plots = SavingsPlots()
            self._content.insertWidget(2, self.plots, 1)
        return self.plots

    def _say_why_empty(self) -> None:
        reason = why_no_service(self.context, self.tr("Savings are shown while it runs."))
        savings = self.context.store.savings
        if reason is not None:
            self.empty.tell(*reason)
        elif savings is None:
            self.empty.tell(self.tr("Asking the service."))
        elif savings.by_day and self.days == WEEK:
            month = self.tr("Show the last &30 days"), lambda: self.span.setCurrentIndex(self.span.findData(MONTH))
            self.empty.tell(self.tr("Nothing was asked in the last 7 days."), month)
        else:
            words = self.tr("Nothing was saved yet. Pin what many prompts begin with, and send some that do.")
            self.empty.tell(words, (self.tr("Go to the &prefixes"), lambda: self.context.show_page("prefixes")))

    # -- export ----------------------------------------------------------------------------------------------------

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, self.tr("Export savings"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(self.tr("Tables for spreadsheets (*.csv)"))
        dialog.setDefaultSuffix("csv")
        dialog.selectFile(f"pinfill-savings-{self._today().isoformat()}.csv")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.export_to)
        dialog.open()

    def export_to(self, path: str) -> None:
        """Writes what is shown, in a thread of its own."""
        text = as_csv(self.rows)
        self.notices.withdraw("export")
        in_background(
            self, lambda: Path(path).write_text(text, encoding="utf-8"), lambda outcome: self._on_written(path, outcome)
        )

    def _on_written(self, path: str, outcome: int | Exception) -> None:
        name = Path(path).name
        if isinstance(outcome, Exception):
            reason = outcome.strerror if isinstance(outcome, OSError) else None
            words = self.tr("{} was not written: {}. Choose another place.").format(name, reason or str(outcome))
            again = self.tr("Choose another &place"), self._choose_file
            self.notices.show_notice("export", Notice(words, Weight.FAILURE, again))
        else:
            self.notices.show_notice("export", Notice(self.tr("{} is written.").format(name)))

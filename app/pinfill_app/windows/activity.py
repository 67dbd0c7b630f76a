"""The page of activity: recent and running requests, what of each was cached, and why not all of it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from pinfill_app import units
from pinfill_app.client import Call
from pinfill_app.failure import Failure
from pinfill_app.models.keyed_table import KeyedTable
from pinfill_app.models.request_row import BAR_COLUMN, RequestRow, columns, request_rows
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.tray_actions import copy
from pinfill_app.widgets.bar_delegate import BarDelegate
from pinfill_app.widgets.empty_state import EmptyState
from pinfill_app.widgets.heading import heading
from pinfill_app.widgets.splitter import Splitter
from pinfill_app.widgets.table_view import TableView, with_margins
from pinfill_app.windows.activity_detail import ActivityDetail
from pinfill_app.windows.activity_rules import RuleOffer
from pinfill_app.windows.no_service import why_no_service
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context, Page
from pinfill_service.api.schemas.manage import RequestDetail

DETAIL_LINES = 19  # of text, at first


class ActivityPage(Page):
    """Rendered from the store while it is shown; what is remembered of the selected request is asked for."""

    NAME = "activity"
    ICON = "activity"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.table: KeyedTable[RequestRow] = KeyedTable(columns(), lambda row: row.id, self)
        self.view = TableView(self.table, self.title())
        self.view.setItemDelegateForColumn(
            BAR_COLUMN, BarDelegate(lambda row: (row.cached, row.processed, row.total), self.view)
        )
        self.view.keep_columns(context.settings, self.NAME)
        self.notices = Notices()
        self.offer = RuleOffer(context.client, self.notices)
        self.detail = ActivityDetail(self._pin_up_to, self.offer)
        self.empty = EmptyState()
        self.summary = QLabel()
        self._known: RequestDetail | None = None
        self._asked: str | None = None  # the id whose detail was asked for
        self._call: Call[RequestDetail] | None = None
        self._lay_out()
        self._connect()

    @classmethod
    def title(cls) -> str:
        return QCoreApplication.translate("ActivityPage", "Activity")

    def shown(self, **hints: Any) -> None:
        """`select`: the id of a request."""
        self.offer.look()
        self._render()
        if "select" in hints:
            self.view.choose(str(hints["select"]))
        elif self.view.chosen is None and self.table.rows:
            self.view.selectRow(0)
        self.view.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._render()

    def _lay_out(self) -> None:
        split = Splitter(Qt.Orientation.Vertical, self.tr("Height of the details"))
        split.addWidget(with_margins(self.view))
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self.detail)
        split.addWidget(scroll)
        split.setStretchFactor(0, 1)
        split.setSizes([1, DETAIL_LINES * self.fontMetrics().lineSpacing()])
        split.keep_sizes(self.context.settings, self.NAME)
        self._stack = QStackedWidget()
        self._stack.addWidget(split)
        self._stack.addWidget(self.empty)
        top = QVBoxLayout()
        top.setContentsMargins(MARGIN, MARGIN, MARGIN, GRID)
        top.setSpacing(GRID)
        top.addWidget(heading(self.title()))
        top.addWidget(self.summary)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self.notices)
        layout.addWidget(self._stack, 1)

    def _connect(self) -> None:
        store = self.context.store
        for changed in (store.requests_changed, store.progress_changed, store.status_changed, store.connection_changed):
            changed.connect(self._render)
        self.context.supervisor.state_changed.connect(self._render)
        self.view.row_chosen.connect(self._on_row)
        self.view.menu_asked.connect(self._on_menu)

    # -- from the store --------------------------------------------------------------------------------------------

    def _render(self) -> None:
        if not self.isVisible():
            return
        store = self.context.store
        running = store.running
        rows = request_rows(running.requests.values(), store.requests, stalled=running.is_stalled)
        self.table.show_rows(rows)
        if not self.table.rows:
            self._say_why_empty()
        self._stack.setCurrentIndex(0 if self.table.rows else 1)
        self.summary.setText(self._summary())
        self.summary.setVisible(bool(self.table.rows))

    def _summary(self) -> str:
        """47 requests: 96 % of 212,400 prompt tokens came from the cache."""
        total = sum(row.total for row in self.table.rows)
        share = sum(row.cached for row in self.table.rows) / total if total else 0
        words = self.tr("{} requests: {} of {} prompt tokens came from the cache.")
        return words.format(units.number(len(self.table.rows)), units.percent(share), units.number(total))

    def _say_why_empty(self) -> None:
        reason = why_no_service(self.context, self.tr("Requests are shown while it runs."))
        if reason is not None:
            self.empty.tell(*reason)
            return
        endpoint = f"{self.context.client.url}/v1"
        words = self.tr("No requests yet. Connect an agent, or send requests to {}.").format(endpoint)
        self.empty.tell(
            words,
            (self.tr("&Connect an agent"), lambda: self.context.show_page("agents")),
            (self.tr("Copy the &address"), lambda: copy(endpoint)),
        )

    # -- the selected request --------------------------------------------------------------------------------------

    def _on_row(self) -> None:
        row = self.view.chosen
        wanted = row.id if row is not None and row.summary is not None else None
        if wanted != self._asked:
            self._asked = wanted
            self._ask(wanted)
        self.detail.show_row(row, self._known)

    def _ask(self, request_id: str | None) -> None:
        if self._call is not None:
            self._call.abort()
            self._call = None
        self._known = None
        self.notices.withdraw("detail")
        if request_id is not None:
            self._call = self.context.client.get(RequestDetail, "requests", request_id, done=self._on_detail)

    def _on_detail(self, answer: RequestDetail | Failure) -> None:
        self._call = None
        if isinstance(answer, Failure):
            words = self.tr("What is remembered of this request cannot be shown. {}").format(answer.message)
            self.notices.show_notice("detail", Notice(words, Weight.FAILURE))
            return
        self._known = answer
        self.detail.show_row(self.view.chosen, answer)

    def _on_menu(self, where: QPoint) -> None:
        can_pin = self.detail.pin.isEnabled()
        actions = self.detail.menu.actions() if can_pin else []
        self.view.popup_menu(where, actions, self.detail.pin.text().replace("&", "") if can_pin else "")

    def _pin_up_to(self, request_id: str, label: str | None) -> None:
        self.context.show_page("prefixes", pin_request=request_id, up_to=label)

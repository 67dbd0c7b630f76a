"""The page of prefixes: what is pinned and what is cached, and all that can be done with it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QPoint, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QVBoxLayout, QWidget

from pinfill_app import units
from pinfill_app.models.prefix_row import PrefixRow, entry_rows, pin_rows
from pinfill_app.models.prefix_table import PrefixTable
from pinfill_app.service_state import ServiceState
from pinfill_app.source_watching import SourceWatching
from pinfill_app.theme import MARGIN
from pinfill_app.widgets.empty_state import EmptyState
from pinfill_app.widgets.memory_bar import MemoryBar
from pinfill_app.windows.notices import Notices
from pinfill_app.windows.page import Context, Page
from pinfill_app.windows.prefixes_actions import PrefixActions
from pinfill_app.windows.prefixes_bar import PrefixBar
from pinfill_app.windows.prefixes_detail import PrefixDetail
from pinfill_app.windows.prefixes_drop import DropSign
from pinfill_app.windows.prefixes_pinning import Pinning, local_paths
from pinfill_app.windows.prefixes_removal import Removals
from pinfill_app.windows.prefixes_stop import PrefixStop
from pinfill_app.windows.prefixes_view import PrefixView
from pinfill_app.windows.prefixes_work import PrefixWork
from pinfill_app.wording import state_word
from pinfill_service.api.schemas.manage import Entry

REQUESTS_MILLISECONDS = 1_000  # thousands of rows are not shown again with every request that ends


class PrefixesPage(Page):
    """Rendered from the store; while it is hidden nothing is, and once it is shown all at once. The files of pins are
    watched in any case.
    """

    NAME = "prefixes"
    ICON = "prefixes"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.table = PrefixTable(self)
        self.view = PrefixView(self.table)
        self.view.keep_columns(context.settings, self.NAME)
        self.notices = Notices()
        self.pinning = Pinning(context, self.notices, self)
        self.removals = Removals(context, self.notices)
        self.stops = PrefixStop(context, self.notices, self.pinning)
        work = PrefixWork(context, self.notices)
        self.actions_of_rows = PrefixActions(self.view, work, self.stops, self.pinning, self.removals)
        self.bar = PrefixBar(self.title(), context.store, self.pinning, self.view, self._evict_unpinned)
        self.detail = PrefixDetail(self.actions_of_rows)
        self.empty = EmptyState()
        self._memory = MemoryBar()
        self._stack = QStackedWidget()
        self._drop = DropSign(self)
        self._sources = SourceWatching(context, self)
        self._requests_timer = QTimer(self, singleShot=True, interval=REQUESTS_MILLISECONDS)
        self._requests_timer.timeout.connect(self._render_requests)
        self._pin_rows: list[PrefixRow] = []
        self._entries: tuple[Entry, ...] = ()
        self._entry_rows: list[PrefixRow] = []  # of those
        self.setAcceptDrops(True)
        self._lay_out()
        self._connect(work)

    @classmethod
    def title(cls) -> str:
        return QCoreApplication.translate("PrefixesPage", "Prefixes")

    def shown(self, **hints: Any) -> None:
        """`pin_file`: asks which; `pin_text`, or `pin_request` with `up_to`: asks how; `stop` and `select`: a
        pin's name.
        """
        if hints.get("pin_file"):
            self.pinning.choose_files()
        elif "pin_text" in hints:
            self.pinning.text(str(hints["pin_text"]))
        elif "pin_request" in hints:
            self.pinning.request(str(hints["pin_request"]), hints.get("up_to"))
        elif "stop" in hints:
            self.stops.stop([pin for pin in self.context.store.pins if pin.name == hints["stop"]])
        elif "select" in hints:
            self._select_pin(str(hints["select"]))

    # -- from the store --------------------------------------------------------------------------------------------

    def _render(self) -> None:
        if not self.isVisible():
            return
        store = self.context.store
        if self._entries is not store.entries:
            self._entries, self._entry_rows = store.entries, entry_rows(store.entries, store.entries_at)
        self._render_progress()
        self._pin_rows = pin_rows(store.pins, store.requests)
        self.table.show_rows(self._pin_rows + self._entry_rows)
        self._render_rest()

    def _render_requests(self) -> None:
        """They tell what a pin saved last, and often nothing about any."""
        store = self.context.store
        if self.isVisible() and pin_rows(store.pins, store.requests) != self._pin_rows:
            self._render()

    def _render_rest(self) -> None:
        """All but the rows."""
        if not self.isVisible():
            return
        store = self.context.store
        self._memory.show_memory(store.status.memory if store.status is not None else None)
        self._render_empty()

    def _render_progress(self) -> None:
        if self.isVisible():
            running = self.context.store.running
            self.table.show_progress(running.pins, stalled=running.is_stalled)

    def _render_empty(self) -> None:
        has_rows = bool(self.table.rows)
        if not has_rows:
            self._say_why_empty()
        self._stack.setCurrentWidget(self.view if has_rows else self.empty)
        self.detail.setVisible(has_rows)

    def _say_why_empty(self) -> None:
        supervisor, store = self.context.supervisor, self.context.store
        answers, state = supervisor.state.answers, state_word(supervisor.state)
        can_pin = answers and store.status is not None and store.status.model is not None
        if self.bar.search.text().strip() and (store.pins or store.entries):
            words = self.tr('Nothing here has all of these words: "{}".').format(self.bar.search.text().strip())
            self.empty.tell(words, (self.tr("Clear the search"), self.bar.search.clear))
        elif supervisor.state in (ServiceState.STOPPED, ServiceState.FAILED):
            words = self.tr("The service is not running ({}). Prefixes are shown while it does.").format(state)
            self.empty.tell(words, (self.tr("Start the service"), supervisor.start))
        elif not answers:
            self.empty.tell(self.tr("The service is {}. Prefixes are shown when it is ready.").format(state))
        elif store.status is None:
            self.empty.tell(self.tr("Asking the service what it has cached."))
        elif not can_pin:
            words = self.tr("No model is loaded. Load one, then pin what is to be kept warm for it.")
            self.empty.tell(words, (self.tr("Choose a model"), lambda: self.context.show_page("models")))
        else:
            words = self.tr("Nothing pinned yet. Drop a document here, or pin the prompt of a running agent.")
            files = self.tr("Pin a document..."), self.pinning.choose_files
            self.empty.tell(words, files, (self.tr("Pin a prompt..."), self._show_requests))

    def _show_requests(self) -> None:
        """Those that can be pinned; where there are none yet, where they would come from."""
        menu = self.bar.requests_menu(QMenu(self))
        if menu.isEmpty():
            self.context.show_page("agents")
            return
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.empty.mapToGlobal(self.empty.rect().center()))

    def _on_rows(self) -> None:
        """Other rows are selected, or what they show has changed."""
        rows = self.view.selected_rows
        self.actions_of_rows.show_rows(rows, self.removals.leaving)
        self.detail.show_rows(rows)

    def _on_leaving(self) -> None:
        self.table.show_leaving(self.removals.leaving)
        self._on_rows()

    # -- what people do --------------------------------------------------------------------------------------------

    def _find(self, text: str) -> None:
        self.table.find(text)
        self._render_empty()

    def _enter_table(self) -> None:
        if not self.view.selected_rows:
            self.view.selectRow(0)
        self.view.setFocus()

    def _evict_unpinned(self) -> None:
        rows = entry_rows(self.context.store.entries, self.context.store.entries_at)
        self.removals.start([row for row in rows if row.is_evictable])

    def _select_pin(self, name: str) -> None:
        self.bar.search.clear()
        self.view.select(("pin", name))
        self.view.setFocus()

    def _on_menu(self, where: QPoint) -> None:
        self.view.popup_menu(where, self.actions_of_rows.for_menu)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        data = event.mimeData()
        paths = local_paths(data)
        if paths:
            count = self.tr("1 file") if len(paths) == 1 else self.tr("{} files").format(units.number(len(paths)))
            self._drop.tell(self.tr("Drop to pin {}").format(count))
        elif data.hasText() and not data.hasUrls():
            self._drop.tell(self.tr("Drop to pin this text"))
        else:
            return
        event.acceptProposedAction()

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self._drop.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self._drop.hide()
        event.acceptProposedAction()
        self.pinning.take(event.mimeData())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._render()

    # -- wiring ----------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._stack.addWidget(self.view)
        self._stack.addWidget(self.empty)
        head = QVBoxLayout()
        head.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        head.setSpacing(MARGIN)
        head.addWidget(self.bar)
        head.addWidget(self._memory)
        table = QVBoxLayout()
        table.setContentsMargins(MARGIN, 0, MARGIN, 0)
        table.addWidget(self._stack)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.notices)
        layout.addLayout(table, 1)
        layout.addWidget(self.detail)

    def _connect(self, work: PrefixWork) -> None:
        store = self.context.store
        for changed in (store.pins_changed, store.entries_changed):
            changed.connect(self._render)
        store.requests_changed.connect(lambda: self._requests_timer.isActive() or self._requests_timer.start())
        for changed in (store.status_changed, self.context.supervisor.state_changed):
            changed.connect(self._render_rest)
        store.progress_changed.connect(self._render_progress)
        self.view.selected.connect(self._on_rows)
        self.view.menu_asked.connect(self._on_menu)
        self.table.rename_asked.connect(work.rename)
        self.removals.changed.connect(self._on_leaving)
        self.pinning.pinned.connect(self._select_pin)
        self.bar.search.textChanged.connect(self._find)
        self.bar.search.returnPressed.connect(self._enter_table)
        self.on_key(QKeySequence.StandardKey.Find, self.bar.search.setFocus)
        self.on_key(QKeySequence.StandardKey.Open, self.pinning.choose_files)
        self.on_key(QKeySequence.StandardKey.Paste, self.pinning.clipboard)

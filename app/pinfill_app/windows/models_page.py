"""The page of models: the catalogue, what is on this computer, what other programs have; pull, import, load, remove."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psutil
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QStackedWidget, QVBoxLayout, QWidget

from pinfill_app.failure import Failure
from pinfill_app.failure_words import provider_words
from pinfill_app.models.found_model import FoundModel, not_here_yet
from pinfill_app.models.keyed_table import KeyedTable
from pinfill_app.models.model_row import STATE_COLUMN, Memory, ModelRow, Work, amounts, columns, found_row
from pinfill_app.refresher import Part
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.bar_delegate import BarDelegate
from pinfill_app.widgets.empty_state import EmptyState
from pinfill_app.widgets.flow_layout import FlowLayout
from pinfill_app.widgets.heading import heading
from pinfill_app.widgets.table_view import TableView, with_margins
from pinfill_app.windows.models_actions import ModelActions
from pinfill_app.windows.models_detail import ModelDetail
from pinfill_app.windows.models_found import FoundLine
from pinfill_app.windows.models_import import ImportLine
from pinfill_app.windows.no_service import why_no_service
from pinfill_app.windows.notices import Notices
from pinfill_app.windows.page import Context, Page
from pinfill_app.wording import provider_word
from pinfill_service.api.schemas.manage import ModelEntry, ModelStateEvent, SettingsView

_MIB = 1 << 20


def _free_memory() -> int:
    return int(psutil.virtual_memory().available)


class ModelsPage(Page):
    """Rendered from the store while it is shown. `free_memory` counts bytes."""

    NAME = "models"
    ICON = "models"

    def __init__(
        self, context: Context, parent: QWidget | None = None, free_memory: Callable[[], int] = _free_memory
    ) -> None:
        super().__init__(context, parent)
        self._free_memory = free_memory
        self._free, self._budget = 0, 0  # bytes, when they were last looked at
        self._changing: tuple[str, Work] | None = None  # the model that is being loaded
        self.notices, self.empty = Notices(), EmptyState()
        self.table: KeyedTable[ModelRow] = KeyedTable(columns(), lambda row: row.name, self)
        self.view = TableView(self.table, self.title())
        self.view.setItemDelegateForColumn(STATE_COLUMN, BarDelegate(amounts, self.view))
        self.view.keep_columns(context.settings, self.NAME)
        self.actions_of_row = ModelActions(context, self.notices, self)
        self.detail = ModelDetail(self.actions_of_row)
        self.importing = ImportLine(self.notices, self._on_imported)
        self.found = FoundLine(context.found, self.notices, self)
        self._wanted = ""  # is selected as soon as it is there
        self.provider = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._lay_out()
        self._connect()

    @classmethod
    def title(cls) -> str:
        return QCoreApplication.translate("ModelsPage", "Models")

    def shown(self, **hints: Any) -> None:
        """`select`: the name of a model; `found`: select one that can be imported."""
        self._look()
        if "select" in hints:
            self.view.choose(str(hints["select"]))
        elif "found" in hints:
            self.view.choose(next((row.name for row in self.table.rows if row.found is not None), ""))
        self.view.setFocus()
        if hints.get("import_file"):  # asks which
            self.importing.choose_file()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()
        self.context.found.look_once()

    def _lay_out(self) -> None:
        top = FlowLayout(heading(self.title()))
        top.add_stretch()
        top.addWidget(self.importing.file)
        top.addWidget(self.importing.folder)
        head = QVBoxLayout()
        head.setContentsMargins(MARGIN, MARGIN, MARGIN, GRID)
        head.setSpacing(GRID)
        head.addLayout(top)
        head.addWidget(self.provider)
        head.addWidget(self.found)
        head.addWidget(self.importing)
        content = QWidget()
        inside = QVBoxLayout(content)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        inside.addWidget(with_margins(self.view), 1)
        inside.addWidget(self.detail)
        self._stack = QStackedWidget()
        self._stack.addWidget(content)
        self._stack.addWidget(self.empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.notices)
        layout.addWidget(self._stack, 1)

    def _connect(self) -> None:
        store = self.context.store
        for changed in (store.models_changed, store.status_changed, store.progress_changed):
            changed.connect(self._render)
        self.context.supervisor.state_changed.connect(self._render)
        self.context.found.changed.connect(self._render)
        self.found.again.triggered.connect(self._look)
        self.importing.changed.connect(self._on_import_changed)
        self.actions_of_row.import_asked.connect(self._import_found)
        store.model_state_changed.connect(self._on_state)
        self.actions_of_row.changed.connect(self._render)
        self.view.row_chosen.connect(self._on_row)
        self.view.menu_asked.connect(self._on_menu)
        self.view.activated.connect(lambda _: self.actions_of_row.do_first())

    # -- from the store --------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """What no event tells: how much memory is free, and how much is for prefixes."""
        self._free = self._free_memory()
        self.context.client.get(SettingsView, "settings", done=self._on_settings)
        self._render()

    def _on_settings(self, answer: SettingsView | Failure) -> None:
        if isinstance(answer, SettingsView):  # without it a verdict leaves the prefixes out
            budget = answer.values.get("memory_budget_mib")
            self._budget = budget * _MIB if isinstance(budget, int) else 0
            self._render()

    def _render(self) -> None:
        if not self.isVisible():
            return
        store = self.context.store
        memory = store.status.memory if store.status is not None else None
        left = self._budget - (memory.used_bytes if memory is not None else 0)
        there_is = Memory(self._free, max(0, left))
        self.table.show_rows([*(self._row(entry, there_is) for entry in store.models), *self._found_rows(there_is)])
        self.found.setVisible(bool(store.models))
        self.found.show_found(store.models)
        if not self.table.rows:
            self._say_why_empty()
        elif self._wanted and self.view.choose(self._wanted):
            self._wanted = ""
        elif self.view.chosen is None:
            self.view.selectRow(0)
        self._stack.setCurrentIndex(0 if self.table.rows else 1)
        self.provider.setText(self._provider_words())
        self.provider.setVisible(store.status is not None)

    def _row(self, entry: ModelEntry, memory: Memory) -> ModelRow:
        progress = self.context.store.running.pulls.get(entry.name)
        work = Work.NOTHING
        if self._changing is not None and self._changing[0] == entry.name:
            work = self._changing[1]
        elif entry.name in self.actions_of_row.stopping:
            work = Work.STOPPING
        elif entry.pulling or progress is not None:
            work = Work.PULLING
        return ModelRow(entry, memory, work, progress if work is Work.PULLING else None)

    def _found_rows(self, memory: Memory) -> Iterator[ModelRow]:
        """What other programs have, and is not here; while nobody tells what is here, none."""
        models = self.context.store.models
        for model in not_here_yet(self.context.found.models, models) if models else ():
            if self.importing.running.is_running and self.importing.source == model.id:
                yield found_row(model, memory, Work.IMPORTING, self.importing.progress)
            else:
                yield found_row(model, memory)

    def _provider_words(self) -> str:
        status = self.context.store.status
        if status is None:
            return ""
        if status.model is None:
            return self.tr("No model is loaded. Load one that is on this computer, or pull or import one first.")
        where = self.tr("{} runs on {}.").format(status.model.name, provider_word(status.model.provider))
        return f"{where} {provider_words(status.model)}".strip()

    def _say_why_empty(self) -> None:
        reason = why_no_service(self.context, self.tr("Models are shown while it runs."))
        self.empty.tell(*(reason or (self.tr("Asking the service."),)))

    # -- what happens ----------------------------------------------------------------------------------------------

    def _on_state(self, event: ModelStateEvent) -> None:
        loading = self._changing[0] if self._changing is not None else None
        if event.state == "loading" and event.name is not None:
            self._changing = event.name, Work.LOADING
        elif event.state == "draining" and loading is not None:
            self._changing = loading, Work.DRAINING
        elif event.state in ("loaded", "unloaded") or (event.state == "failed" and event.name == loading):
            self._changing = None
            self._free = self._free_memory()
        self._render()

    def _on_row(self) -> None:
        row = self.view.chosen
        self.actions_of_row.show_row(row)
        self.detail.show_row(row, self._budget)

    def _on_menu(self, where: QPoint) -> None:
        self.view.popup_menu(where, self.actions_of_row.all)

    def _import_found(self, model: FoundModel) -> None:
        taken = {entry.name for entry in self.context.store.models if entry.installed}
        self.importing.import_found(model, taken)

    def _on_import_changed(self) -> None:
        self.actions_of_row.is_importing = self.importing.running.is_running
        self._render()
        self._on_row()  # the action depends on more than the row

    def _on_imported(self, name: str) -> None:
        self.actions_of_row.offer_to_load(name)
        if self.view.chosen is not None and self.view.chosen.name == self.importing.source:
            self._wanted = name
        self.context.store.reload(Part.MODELS)
        self.context.found.look()

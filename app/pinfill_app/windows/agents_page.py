"""The page of agents: which are here, what they were told, and how to start them on Pinfill."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from pinfill_app.agent_desk import AgentDesk, AgentFacts
from pinfill_app.models.agent_table import CONNECTED, MODEL, NAME, PROGRAM, AgentTable
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.heading import heading
from pinfill_app.windows.agents_actions import AgentActions
from pinfill_app.windows.agents_detail import AgentDetail, action_button
from pinfill_app.windows.notices import Notices
from pinfill_app.windows.page import Context, Page

ROW_HEIGHT = 1.6  # of the font's
FEWEST_ROWS = 4
WIDTHS = {NAME: 22, PROGRAM: 20, CONNECTED: 26}  # characters; the model has the rest


class AgentsPage(Page):
    """All agents in a table, the selected one below it."""

    NAME = "agents"
    ICON = "agents"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.desk = AgentDesk(context.client, context.store, self)
        self.table = AgentTable(self)
        self.notices = Notices()
        self.acts = AgentActions(context, self.desk, self.notices, self)
        self.detail = AgentDetail(self.acts)
        self.view = self._make_view()
        self._lay_out()
        self.desk.changed.connect(self._on_looked)
        context.store.status_changed.connect(self._render)
        context.supervisor.state_changed.connect(self._render)
        self.acts.tested.connect(self._render)

    @classmethod
    def title(cls) -> str:
        return QCoreApplication.translate("AgentsPage", "Agents")

    def shown(self, **hints: Any) -> None:
        """`select`: an agent's name; `write` and `undo`: a name, for which the change is shown at once."""
        self.desk.look()
        for hint, act in (("select", None), ("write", self.acts.write), ("undo", self.acts.undo)):
            facts = self._select(str(hints[hint])) if hint in hints else None
            if facts is not None and facts.local is not None and act is not None:
                act(facts.local)
        self.view.setFocus()

    @property
    def selected(self) -> AgentFacts | None:
        """The agent whose details are shown."""
        row = self.view.currentIndex().row()
        return self.table.facts[row] if 0 <= row < len(self.table.facts) else None

    def _select(self, name: str) -> AgentFacts | None:
        if not self.table.facts:
            self.table.show_facts(self.desk.all_unknown())
        row = self.table.row_of(name)
        if row is not None:
            self.view.selectRow(row)
        return self.selected if row is not None else None

    def _on_looked(self) -> None:
        self.table.show_facts(self.desk.facts)
        if self.selected is None:
            first = next((row for row, facts in enumerate(self.table.facts) if facts.program is not None), 0)
            self.view.selectRow(first)
        self._render()

    def _render(self) -> None:
        self.detail.show_agent(self.selected, self.desk.endpoint())

    def _make_view(self) -> QTableView:
        view = QTableView()
        view.setModel(self.table)
        view.setAccessibleName(self.title())
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setShowGrid(False)
        view.setWordWrap(False)
        view.setTabKeyNavigation(False)
        view.setCornerButtonEnabled(False)
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        view.addActions(self.acts.all)
        view.verticalHeader().hide()
        view.horizontalHeader().setHighlightSections(False)
        view.selectionModel().currentRowChanged.connect(lambda *_: self._render())
        metrics = view.fontMetrics()
        view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        view.verticalHeader().setDefaultSectionSize(round(metrics.height() * ROW_HEIGHT))
        for column, width in WIDTHS.items():
            view.setColumnWidth(column, width * metrics.averageCharWidth())
        view.setMinimumHeight(round(FEWEST_ROWS * ROW_HEIGHT * metrics.height()))
        view.horizontalHeader().setSectionResizeMode(MODEL, QHeaderView.ResizeMode.Stretch)
        return view

    def _lay_out(self) -> None:
        words = self.tr(
            "Launch an agent on Pinfill for once, or connect it: then its own configuration says where Pinfill is."
        )
        head = QVBoxLayout()
        head.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        head.setSpacing(GRID)
        title = QHBoxLayout()
        title.addWidget(heading(self.title()))
        title.addStretch(1)
        title.addWidget(action_button(self.acts.look_action, primary=False))
        head.addLayout(title)
        head.addWidget(QLabel(words, wordWrap=True))
        table = QHBoxLayout()
        table.setContentsMargins(MARGIN, 0, MARGIN, 0)
        table.addWidget(self.view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.notices)
        layout.addLayout(table, 4)
        layout.addWidget(self.detail, 5)

"""The page of agents: which are here, what they were told, and how to start them on Pinfill."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QPoint
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from pinfill_app.agent_desk import AgentDesk, AgentFacts
from pinfill_app.models.agent_row import agent_columns
from pinfill_app.models.keyed_table import KeyedTable
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.action_button import ActionButton
from pinfill_app.widgets.flow_layout import FlowLayout
from pinfill_app.widgets.heading import heading
from pinfill_app.widgets.table_view import TableView, with_margins
from pinfill_app.windows.agents_actions import AgentActions
from pinfill_app.windows.agents_detail import AgentDetail
from pinfill_app.windows.notices import Notices
from pinfill_app.windows.page import Context, Page


class AgentsPage(Page):
    """All agents in a table, the selected one below it."""

    NAME = "agents"
    ICON = "agents"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.desk = AgentDesk(context.client, context.store, self)
        self.table = KeyedTable(agent_columns(), lambda facts: facts.agent.name, self)
        self.notices = Notices()
        self.acts = AgentActions(context, self.desk, self.notices, self)
        self.detail = AgentDetail(self.acts)
        self.view = TableView(self.table, self.title())
        self.view.keep_columns(context.settings, self.NAME)
        self._lay_out()
        self.desk.changed.connect(self._on_looked)
        context.store.status_changed.connect(self._render)
        context.supervisor.state_changed.connect(self._render)
        self.acts.tested.connect(self._render)
        self.view.row_chosen.connect(self._render)
        self.view.menu_asked.connect(self._on_menu)

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
        return self.view.chosen

    def _select(self, name: str) -> AgentFacts | None:
        if not self.table.rows:
            self.table.show_rows(self.desk.all_unknown())
        return self.selected if self.view.choose(name) else None

    def _on_looked(self) -> None:
        self.table.show_rows(self.desk.facts)
        if self.selected is None:
            first = next((facts for facts in self.desk.facts if facts.program is not None), self.desk.facts[0])
            self.view.choose(first.agent.name)
        self._render()

    def _render(self) -> None:
        self.detail.show_agent(self.selected, self.desk.endpoint())

    def _on_menu(self, where: QPoint) -> None:
        self.view.popup_menu(where, self.acts.all)

    def _lay_out(self) -> None:
        words = self.tr(
            "Launch an agent on Pinfill for once, or connect it: then its own configuration says where Pinfill is."
        )
        head = QVBoxLayout()
        head.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        head.setSpacing(GRID)
        title = FlowLayout(heading(self.title()))
        title.add_stretch()
        title.addWidget(ActionButton(self.acts.look_action, self))
        head.addLayout(title)
        head.addWidget(QLabel(words, wordWrap=True))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.notices)
        layout.addWidget(with_margins(self.view), 4)
        layout.addWidget(self.detail, 5)

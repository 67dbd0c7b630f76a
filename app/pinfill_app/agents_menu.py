"""Coding agents in the tray's menu."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from pinfill_app.agent_desk import AgentDesk, AgentFacts
from pinfill_app.failure_words import error_words
from pinfill_app.terminals import TerminalError
from pinfill_app.tray_actions import copy
from pinfill_app.windows.page import Context
from pinfill_service.agents import LOCAL_AGENTS
from pinfill_service.agents.agent import AgentError, LocalAgent
from pinfill_service.agents.connections import State


class AgentsMenu(QObject):
    """Fills a menu with the agents that can be connected, and tells them when the service has another address.

    What changes files is shown in the window first.
    """

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._desk = AgentDesk(context.client, context.store, self)
        context.supervisor.connected.connect(self._on_connected)

    def fill(self, menu: QMenu) -> None:
        """From the last look at the disk; the next one begins now."""
        for facts in self._desk.facts or self._desk.all_unknown():
            if facts.local is not None:
                self._add(menu, facts, facts.local)
        menu.addSeparator()
        menu.addAction(self.tr("All agents..."), partial(self._context.show_page, "agents"))
        self._desk.look()

    def _add(self, menu: QMenu, facts: AgentFacts, agent: LocalAgent) -> None:
        title, ready = agent.title, self._desk.endpoint() is not None
        if facts.state is State.connected:
            title = self.tr("{} - connected").format(agent.title)
        submenu = menu.addMenu(title)
        launch = submenu.addAction(self.tr("Launch in terminal"), partial(self._launch, agent))
        launch.setEnabled(ready and facts.program is not None)
        show_page = self._context.show_page
        write = submenu.addAction(self.tr("Write configuration..."), partial(show_page, "agents", write=agent.name))
        write.setEnabled(ready)
        submenu.addAction(self.tr("Copy settings"), partial(self._copy, agent)).setEnabled(ready)
        undo = submenu.addAction(self.tr("Undo..."), partial(show_page, "agents", undo=agent.name))
        undo.setEnabled(facts.state not in (None, State.not_connected))

    def _launch(self, agent: LocalAgent) -> None:
        try:
            self._desk.launch(agent)
        except (AgentError, TerminalError) as error:
            self._context.tell(self.tr("{} could not be started").format(agent.title), error_words(error))

    def _copy(self, agent: LocalAgent) -> None:
        endpoint = self._desk.endpoint()
        if endpoint is None:
            return
        try:
            copy(agent.settings_text(endpoint))
        except AgentError as error:
            self._context.tell(self.tr("{} could not be told").format(agent.title), error_words(error))

    def _on_connected(self, url: str, key: str | None) -> None:
        self._desk.tell_address(url, key, self._on_told)
        self._desk.look()

    def _on_told(self, outcome: dict[str, AgentError | None]) -> None:
        done = [_title(name) for name, error in outcome.items() if error is None]
        if done:
            words = self.tr("Their configuration has the new address of the service: {}.").format(", ".join(done))
            self._context.tell(self.tr("Agents were updated"), words)
        for name, error in outcome.items():
            if error is not None:
                title = self.tr("{} still has an old address").format(_title(name))
                self._context.tell(title if name else self.tr("Agents could not be updated"), error_words(error))


def _title(name: str) -> str:
    """As people know it."""
    return next((agent.title for agent in LOCAL_AGENTS if agent.name == name), name)

"""Coding agents for the page and the tray: what is found of them, and everything that can be done about it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from pinfill_app.background import in_background
from pinfill_app.client import Client
from pinfill_app.failure_words import error_words
from pinfill_app.state import Store
from pinfill_app.terminals import open_terminal
from pinfill_service.agents import AGENTS, LOCAL_AGENTS, programs
from pinfill_service.agents.agent import Agent, AgentError, Endpoint, Environ, LocalAgent
from pinfill_service.agents.connections import Connections, Plan, State
from pinfill_service.agents.record import Connection
from pinfill_service.settings import home


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """One agent on this machine. `state` None: it can only be told by hand. `problem`: why it cannot be looked at."""

    agent: Agent
    program: Path | None = None
    state: State | None = None
    connection: Connection | None = None
    problem: str = ""

    @property
    def local(self) -> LocalAgent | None:
        """The agent, if Pinfill can start and connect it."""
        return self.agent if isinstance(self.agent, LocalAgent) else None


class AgentDesk(QObject):
    """Looks at agents and changes their files, beside the GUI thread.

    `changed` follows every look. `done` callbacks get what was asked for, or an exception whose text is for people.
    """

    changed = Signal()

    def __init__(self, client: Client, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._store = client, store
        self._environ: Environ = os.environ
        self.facts: tuple[AgentFacts, ...] = ()

    @property
    def connections(self) -> Connections:
        """Those of this user's folder."""
        return Connections(home(), self._environ)

    def look(self) -> None:
        """Asks the disk again."""
        in_background(self, self._look, self._on_looked)

    def all_unknown(self) -> tuple[AgentFacts, ...]:
        """All agents, before anything was looked at."""
        return tuple(AgentFacts(agent) for agent in AGENTS)

    def endpoint(self) -> Endpoint | None:
        """The service as agents see it; None while it has no model, or does not answer."""
        status = self._store.status
        if status is None or status.model is None or not self._client.url:
            return None
        return Endpoint(self._client.url, self._client.key, status.model.name, status.model.context_length)

    def plan(self, agent: LocalAgent, endpoint: Endpoint, done: Callable[[Plan | Exception], None]) -> None:
        """What connecting the agent would change."""
        in_background(self, lambda: self.connections.plan(agent, endpoint), done)

    def plan_undo(self, agent: LocalAgent, done: Callable[[Plan | Exception], None]) -> None:
        """What taking it back would change."""
        in_background(self, lambda: self.connections.plan_undo(agent), done)

    def apply(self, plan: Plan, done: Callable[[Exception | None], None]) -> None:
        """Makes changes that were shown, and looks again."""
        in_background(self, lambda: self.connections.apply(plan), partial(self._on_applied, done))

    def launch(self, agent: LocalAgent) -> None:
        """Starts the agent in a window of its own. Raises TerminalError or AgentError."""
        if programs.find_program(agent, self._environ) is None:
            raise AgentError(f"There is no {agent.program} on PATH. Get it: {agent.install_hint}")
        open_terminal(programs.terminal_command(agent), self._environ)

    def tell_address(self, url: str, key: str | None, done: Callable[[dict[str, AgentError | None]], None]) -> None:
        """Writes this address into the agents that are connected and were told another one."""

        def work() -> dict[str, AgentError | None]:
            connections = self.connections
            told = [agent for agent in LOCAL_AGENTS if _needs_telling(connections, agent, url, key)]
            return connections.refresh(told, url, key)

        def finish(outcome: dict[str, AgentError | None] | Exception) -> None:
            if isinstance(outcome, Exception):
                outcome = {"": AgentError(str(outcome))}
            if outcome:
                done(outcome)
                self.look()

        in_background(self, work, finish)

    def _look(self) -> tuple[AgentFacts, ...]:
        return tuple(_look_at(self.connections, agent, self._environ) for agent in AGENTS)

    def _on_looked(self, facts: tuple[AgentFacts, ...] | Exception) -> None:
        if isinstance(facts, Exception):
            facts = tuple(replace(each, problem=error_words(facts)) for each in self.all_unknown())
        self.facts = facts
        self.changed.emit()

    def _on_applied(self, done: Callable[[Exception | None], None], outcome: Exception | None) -> None:
        done(outcome)
        self.look()


def _look_at(connections: Connections, agent: Agent, environ: Environ) -> AgentFacts:
    if not isinstance(agent, LocalAgent):
        return AgentFacts(agent)
    program = programs.find_program(agent, environ)
    try:
        return AgentFacts(agent, program, connections.state(agent), connections.connection(agent))
    except AgentError as error:
        return AgentFacts(agent, program, State.not_connected, None, error_words(error))


def _needs_telling(connections: Connections, agent: LocalAgent, url: str, key: str | None) -> bool:
    """Also when only the key is another one."""
    try:
        known = connections.connection(agent)
        if known is None or connections.state(agent) is not State.connected:
            return False
        plan = connections.plan(agent, Endpoint(url, key, known.model, known.context_length))
    except AgentError:
        return True  # refreshing it fails in the same words, which are told
    return known.url != url or not plan.changes_nothing

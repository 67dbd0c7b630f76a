"""The third step: a coding agent, or any other program."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from pinfill_app.agent_desk import AgentDesk
from pinfill_app.tray_actions import copy
from pinfill_app.windows.first_run_step import Choice, Step
from pinfill_app.windows.page import Context
from pinfill_service.agents.connections import State


class AgentStep(Step):
    """Offers the agents that are found; without any, the address for other programs."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        tr = QCoreApplication.translate
        about = tr(
            "AgentStep",
            "A coding agent that is connected asks Pinfill instead of a service far away. Its long beginning is then "
            "evaluated once, not in every conversation. You see every change before it is made, and can undo it.",
        )
        super().__init__(tr("AgentStep", "An agent"), about, context, parent)
        self._desk = AgentDesk(context.client, context.store, self)
        self._desk.changed.connect(self.render_state)
        context.supervisor.state_changed.connect(self.render_state)
        self._desk.look()
        self.render_state()

    def render_state(self) -> None:
        not_yet = self.why_not()
        if not_yet is not None:
            self.tell(*not_yet)
            return
        if not self._desk.facts:
            self.tell(self.tr("Looking for agents..."))
            return
        found = [facts for facts in self._desk.facts if facts.local is not None and facts.program is not None]
        connected = [facts.agent.title for facts in found if facts.state is State.connected]
        connect = self.tr("Connect {}...")
        choices = [
            (connect.format(facts.agent.title), partial(self.context.show_page, "agents", write=facts.agent.name))
            for facts in found
            if facts.state is not State.connected
        ]
        if not found:
            words = self.tr(
                "No agent that Pinfill knows was found. Any program that can be given an address will do: {}"
            )
            self.tell(words.format(f"{self.context.client.url}/v1"), *self._other_ways(), done=True)
        elif connected:
            self.tell(self.tr("Connected: {}.").format(", ".join(connected)), *choices, done=True)
        else:
            self.tell(self.tr("Found on this machine:"), *choices, done=True)

    def _other_ways(self) -> list[Choice]:
        client = self.context.client
        return [
            (self.tr("Copy &address"), partial(copy, f"{client.url}/v1")),
            (self.tr("Copy &key"), partial(copy, client.key or "")),
            (self.tr("&All agents..."), partial(self.leave_for, "agents")),
        ]

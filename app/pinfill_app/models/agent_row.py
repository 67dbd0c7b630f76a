"""A line of the table of agents: what is found of one, and what it was told."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from pinfill_app.agent_desk import AgentFacts
from pinfill_app.models.keyed_table import Column
from pinfill_service.agents.connections import State


def agent_columns() -> list[Column[AgentFacts]]:
    """The columns of the table, in this order."""
    tr = QCoreApplication.translate
    return [
        Column(tr("agents", "Agent"), lambda facts: facts.agent.title, 22),
        Column(tr("agents", "On this machine"), _program, 20, tip=_program_tip),
        Column(tr("agents", "Configuration"), _connected, 26, tip=_connected_tip),
        Column(tr("agents", "Model"), lambda facts: facts.connection.model if facts.connection else "", None),
    ]


def _program(facts: AgentFacts) -> str:
    tr = QCoreApplication.translate
    if facts.local is None:
        return ""
    return tr("agents", "found") if facts.program is not None else tr("agents", "not found")


def _program_tip(facts: AgentFacts) -> str:
    if facts.local is None:
        return ""
    if facts.program is not None:
        return str(facts.program)
    return QCoreApplication.translate("agents", "Get it: {}").format(facts.local.install_hint)


def _connected(facts: AgentFacts) -> str:
    tr = QCoreApplication.translate
    if facts.problem:
        return tr("agents", "cannot be read")
    if facts.state is None:
        return tr("agents", "to be pasted by hand")
    return {
        State.connected: tr("agents", "connected"),
        State.changed: tr("agents", "changed since"),
        State.not_connected: tr("agents", "not connected"),
    }[facts.state]


def _connected_tip(facts: AgentFacts) -> str:
    if facts.connection is None:
        return facts.problem
    return "\n".join((facts.connection.url, *(str(file.path) for file in facts.connection.files)))

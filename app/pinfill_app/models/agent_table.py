"""Agents as rows: what is found of them, and what they were told."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from pinfill_app.agent_desk import AgentFacts
from pinfill_service.agents.connections import State

Index = QModelIndex | QPersistentModelIndex
NAME, PROGRAM, CONNECTED, MODEL = range(4)


class AgentTable(QAbstractTableModel):
    """One row an agent, always the same ones in the same order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._facts: tuple[AgentFacts, ...] = ()

    @property
    def facts(self) -> tuple[AgentFacts, ...]:
        return self._facts

    def show_facts(self, facts: tuple[AgentFacts, ...]) -> None:
        if len(facts) != len(self._facts):
            self.beginResetModel()
            self._facts = facts
            self.endResetModel()
        elif facts != self._facts:
            self._facts = facts
            self.dataChanged.emit(self.index(0, 0), self.index(len(facts) - 1, MODEL))

    def row_of(self, name: str) -> int | None:
        """The row of an agent by its name."""
        return next((row for row, facts in enumerate(self._facts) if facts.agent.name == name), None)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._facts)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else 4

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return (self.tr("Agent"), self.tr("On this machine"), self.tr("Configuration"), self.tr("Model"))[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        facts = self._facts[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(facts, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(facts, index.column())
        return None

    def _words(self, facts: AgentFacts, column: int) -> str:
        if column == NAME:
            return facts.agent.title
        if column == PROGRAM:
            if facts.local is None:
                return ""
            return self.tr("found") if facts.program is not None else self.tr("not found")
        if column == CONNECTED:
            return self._connected(facts)
        return facts.connection.model if facts.connection is not None else ""

    def _connected(self, facts: AgentFacts) -> str:
        if facts.problem:
            return self.tr("cannot be read")
        if facts.state is None:
            return self.tr("to be pasted by hand")
        return {
            State.connected: self.tr("connected"),
            State.changed: self.tr("changed since"),
            State.not_connected: self.tr("not connected"),
        }[facts.state]

    def _tip(self, facts: AgentFacts, column: int) -> str | None:
        if column == PROGRAM and facts.local is not None:
            hint = self.tr("Get it: {}").format(facts.local.install_hint)
            return str(facts.program) if facts.program is not None else hint
        if column == CONNECTED and facts.connection is not None:
            return "\n".join((facts.connection.url, *(str(file.path) for file in facts.connection.files)))
        return facts.problem or None

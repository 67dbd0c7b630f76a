"""The lines of the log as a list, and those of them that are looked for."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QGuiApplication

from pinfill_app.log_tail import Level, LogLine
from pinfill_app.theme import failure_color

Index = QModelIndex | QPersistentModelIndex

MOST = 20_000  # lines


class LogLines(QAbstractListModel):
    """The newest MOST lines, the oldest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: list[LogLine] = []

    def add(self, lines: list[LogLine]) -> None:
        lines = lines[-MOST:]
        surplus = len(self._lines) + len(lines) - MOST
        if surplus > 0:
            self.beginRemoveRows(QModelIndex(), 0, surplus - 1)
            del self._lines[:surplus]
            self.endRemoveRows()
        if lines:
            count = len(self._lines)
            self.beginInsertRows(QModelIndex(), count, count + len(lines) - 1)
            self._lines += lines
            self.endInsertRows()

    def line(self, row: int) -> LogLine:
        return self._lines[row]

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return line.text
        if role == Qt.ItemDataRole.ForegroundRole and line.level is Level.ERROR:
            return failure_color(QGuiApplication.palette())
        return None


class LogFilter(QSortFilterProxyModel):
    """The lines that hold a text, whatever its case, and matter at least that much."""

    def __init__(self, lines: LogLines, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines, self._text, self._level = lines, "", Level.DEBUG
        self.setSourceModel(lines)

    def look_for(self, text: str, level: Level) -> None:
        self._text, self._level = text.casefold(), level
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        line = self._lines.line(row)
        return line.level >= self._level and self._text in line.text.casefold()

"""Whether the desktop has a tray, looked at now and then: a panel may come later than we, crash, or be restarted."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QSystemTrayIcon

LOOK_MILLISECONDS = 2_500
GONE_LOOKS = 3  # in a row without one: a panel that is only restarted gets its icons back from Qt


class TrayPresence(QObject):
    """`changed` follows a change of `is_there`. Nobody tells of such a change on every desktop, so it is asked for."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_available: Callable[[], bool] = QSystemTrayIcon.isSystemTrayAvailable
        self.is_there = False
        self._missed = 0
        self._timer = QTimer(self, interval=LOOK_MILLISECONDS)
        self._timer.timeout.connect(self.look)

    def start(self) -> None:
        """`is_there` counts from now on."""
        self.is_there = self.is_available()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def look(self) -> None:
        available = self.is_available()
        self._missed = 0 if available else self._missed + 1
        if available != self.is_there and (available or self._missed >= GONE_LOOKS):
            self.is_there = available
            self.changed.emit()

"""Keeps one service running: finds it, or starts it as a child and looks after it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from pinfill_app.service_state import ServiceState


class Supervisor(QObject):
    """`state_changed` follows every change of `state`."""

    state_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = ServiceState.STOPPED

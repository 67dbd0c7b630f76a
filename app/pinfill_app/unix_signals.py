"""Signals of the system, handled in the event loop."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier


class UnixSignals(QObject):
    """Calls `act` when this process is told to end (SIGTERM) or interrupted (Ctrl-C).

    Python's handlers run only between two instructions of Python, of which a quiet event loop has none: the system
    writes into a socket, which wakes it.
    """

    def __init__(self, act: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._written, self._read = socket.socketpair()
        for end in (self._written, self._read):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_activated)
        signal.set_wakeup_fd(self._written.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: act())

    def _on_activated(self) -> None:
        self._read.recv(64)

"""Work that may block, such as asking a keyring, done beside the GUI thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal
from shiboken6 import isValid

T = TypeVar("T")


def in_background(owner: QObject, work: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
    """Calls `done` in the GUI thread with what `work` returned or raised, unless `owner` is gone by then.

    The thread is a daemon: a program that never answers does not keep the application from ending.
    """
    delivery = _Delivery(owner, done)
    threading.Thread(target=delivery.run, args=(work,), name="background", daemon=True).start()


class _Delivery(QObject):
    _ready = Signal(object)

    def __init__(self, owner: QObject, done: Callable[[T | Exception], None]) -> None:
        super().__init__(owner)
        self._done = done
        self._ready.connect(self._on_ready, Qt.ConnectionType.QueuedConnection)

    def run(self, work: Callable[[], T]) -> None:
        try:
            outcome: T | Exception = work()
        except Exception as error:
            outcome = error
        if isValid(self):
            self._ready.emit(outcome)

    def _on_ready(self, outcome: object) -> None:
        self.deleteLater()
        self._done(outcome)  # type: ignore[arg-type]  # a signal carries any object

"""Waits for the service that systemd is to run, where that is wanted."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from pinfill_app.background import in_background
from pinfill_app.discovery import running_service
from pinfill_app.user_unit import UserUnit

LOOK_MILLISECONDS = 250


class UnitWaiting(QObject):
    """One of the signals follows `begin`: `came` carries the Found service, `unwanted` says that the unit is not to run
    it, `failed` that it should and does not. `is_wanted`: it is worth waiting for, as it has not failed.
    """

    came = Signal(object)
    unwanted = Signal()
    failed = Signal()

    def __init__(self, unit: UserUnit | None, limit_milliseconds: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._unit = unit
        self.is_wanted = unit is not None
        self._home = Path()
        self._turn = 0  # so that a late answer to an earlier question is known as such
        self._timer = QTimer(self, interval=LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._look)
        self._limit = QTimer(self, singleShot=True, interval=limit_milliseconds)
        self._limit.timeout.connect(self._fail)

    def forgive(self) -> None:
        """A person wants a start: it may be tried once more."""
        self.is_wanted = self._unit is not None

    def begin(self, home: Path) -> None:
        """Only while `is_wanted`."""
        assert self._unit is not None
        self.stop()
        self._home, turn = home, self._turn
        in_background(self, self._unit.wake, lambda awake: self._on_awake(turn, awake))

    def stop(self) -> None:
        """Nothing is waited for any more."""
        self._turn += 1
        self._timer.stop()
        self._limit.stop()

    @property
    def is_waiting(self) -> bool:
        """Whether a service is expected of it."""
        return self._timer.isActive()

    def _on_awake(self, turn: int, awake: bool | Exception) -> None:
        if turn != self._turn:
            return
        if isinstance(awake, Exception):
            self._fail()
        elif awake:
            self._timer.start()
            self._limit.start()
        else:
            self.unwanted.emit()

    def _look(self) -> None:
        found = running_service(self._home)
        if found is not None:
            self.stop()
            self.came.emit(found)

    def _fail(self) -> None:
        self.stop()
        self.is_wanted = False
        self.failed.emit()

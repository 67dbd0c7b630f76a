"""Work that may block, such as asking a keyring, done beside the GUI thread.

Other threads touch no Qt object but one that lives as long as the process: one that the GUI thread deletes while they
still emit its signal takes the process with it. Nor do they hold the last reference to anything.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from functools import cache, partial
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal
from shiboken6 import isValid

T = TypeVar("T")


def in_background(owner: QObject, work: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
    """Calls `done` in the GUI thread with what `work` returned or raised, unless `owner` is gone by then.

    To be called in the GUI thread. The thread is a daemon: a program that never answers does not keep the application
    from ending.
    """
    mailbox = _mailbox()
    number = mailbox.keep(_Job(owner, work, done))  # type: ignore[arg-type]  # done gets what its own work returns
    threading.Thread(target=mailbox.run, args=(number,), name="background", daemon=True).start()


class GuiThread:
    """Has functions called in the GUI thread, from whichever thread, as long as `owner` is there. Made in the GUI
    thread.
    """

    def __init__(self, owner: QObject) -> None:
        self._owner, self._mailbox = owner, _mailbox()

    def call(self, function: Callable[[], None]) -> None:
        """Returns at once."""
        number = self._mailbox.keep(_Job(self._owner, lambda: None, partial(_without_outcome, function)))
        self._mailbox.deliver(number)


class _Job:
    def __init__(self, owner: QObject, work: Callable[[], object], done: Callable[[object], None]) -> None:
        self.owner, self.work, self.done = owner, work, done
        self.outcome: object = None


class _Mailbox(QObject):
    """Keeps jobs until the GUI thread has taken them."""

    _delivered = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count()
        self._jobs: dict[int, _Job] = {}
        self._delivered.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def keep(self, job: _Job) -> int:
        number = next(self._numbers)
        self._jobs[number] = job
        return number

    def run(self, number: int) -> None:
        job = self._jobs[number]
        try:
            job.outcome = job.work()
        except Exception as error:
            job.outcome = error
        del job
        self.deliver(number)

    def deliver(self, number: int) -> None:
        self._delivered.emit(number)

    def _take(self, number: int) -> None:
        job = self._jobs.pop(number)
        if isValid(job.owner):
            job.done(job.outcome)


@cache
def _mailbox() -> _Mailbox:
    return _Mailbox()


def _without_outcome(function: Callable[[], None], _: object) -> None:
    function()

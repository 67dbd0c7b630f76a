"""The one thread that works with the ledger's file."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from pinfill_service.cache import ledger_history
from pinfill_service.cache.ledger_file import (
    FILE_ERRORS,
    Damage,
    OpenLedger,
    empty_ledger,
    empty_log,
    is_damage,
    is_surrounding,
    open_ledger,
    reason,
    transaction,
)
from pinfill_service.cache.ledger_pin_rows import PinChanges, load_pins, write_pins
from pinfill_service.cache.ledger_pins import LedgerPins
from pinfill_service.cache.ledger_records import LedgerError, LedgerVersionError, Limits, RequestRecord

log = logging.getLogger(__name__)

FLUSH_SECONDS = 1.0  # the longest that a request waits to be written
RETRY_SECONDS = 10.0  # between two tries while the file cannot be written

Served = tuple[RequestRecord, int | None]  # with the number of the pin that served it
T = TypeVar("T")


class LedgerThread:
    """Owns the file; everything that touches it happens on this thread, in the order in which it was asked for.

    Invariants: nobody waits for the disk but who asked to. What was added is in the file within FLUSH_SECONDS; pins at
    once. While the file cannot be written, changes of pins and the last `limits.waiting` requests wait in memory.
    """

    def __init__(self, home: Path, limits: Limits, clock: Callable[[], float]) -> None:
        """Raises LedgerVersionError."""
        self._home, self._limits, self._clock = home, limits, clock
        self._set_aside: list[str] = []
        self._use(open_ledger(home, clock))
        rows, last_number = load_pins(self._connection)
        self.pins = LedgerPins(rows, last_number, self._wake)
        self._condition = threading.Condition()
        self._records: deque[Served] = deque(maxlen=limits.waiting)
        self._jobs: deque[Callable[[], None]] = deque()
        self._urgent = self._closing = False
        self._failure: str | None = None
        self._log_holds_text = False
        self._thread = threading.Thread(target=self._run, name="ledger", daemon=True)
        self._thread.start()

    @property
    def problem(self) -> str | None:
        """Why things are not kept at the moment."""
        return self._standing or self._failure

    @property
    def set_aside(self) -> tuple[str, ...]:
        """Sentences about damaged files, since the start."""
        return tuple(self._set_aside)

    def add(self, served: Served) -> None:
        """Never waits. After `close` requests are not kept any more."""
        with self._condition:
            if self._closing:
                return
            self._records.append(served)
            self._urgent = self._urgent or len(self._records) > self._limits.waiting // 2
            self._condition.notify()

    def ask(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `job` once everything before is written, and waits for it. Raises what it does, and LedgerError."""
        future: Future[T] = Future()
        with self._condition:
            if self._closing:
                raise LedgerError("The ledger is closed: the service is ending.")
            self._jobs.append(lambda: self._do(job, future))
            self._urgent = True
            self._condition.notify()
        return future.result()

    def close(self) -> None:
        """Writes what waits and closes the file. May be called twice."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        self._thread.join()

    def _wake(self) -> None:
        with self._condition:
            self._urgent = True
            self._condition.notify()

    # -- on the thread -------------------------------------------------------------------------------------------

    def _run(self) -> None:
        closing = False
        while not closing:
            closing, jobs = self._wait()
            if self._save():
                self._save()
            for job in jobs:
                job()
        if self._failure is not None:
            log.warning("Pinfill ends with %d requests that were not written down", len(self._records))
        self._close_connection()

    def _wait(self) -> tuple[bool, list[Callable[[], None]]]:
        """Until something has to be done. Returns whether it is the last time, and the jobs."""
        with self._condition:
            self._condition.wait_for(lambda: self._urgent or self._closing or self._records or self._failure)
            seconds = RETRY_SECONDS if self._failure else FLUSH_SECONDS
            self._condition.wait_for(lambda: self._urgent or self._closing, seconds)
            self._urgent = False
            jobs = list(self._jobs)
            self._jobs.clear()
            return self._closing, jobs

    def _save(self) -> bool:
        """Writes what waits, if it can be written. Returns whether to try again at once, for the file is a new one."""
        with self._condition:
            records = list(self._records)
            self._records.clear()
        changes = self.pins.take_changes()
        if not (records or changes or self._failure):
            return False
        try:
            self._write(records, changes)
        except Exception as error:
            return self._not_written(error, records, changes)
        if self._failure is not None:
            log.info("the ledger can be written again")
            self._failure = None
        self._empty_log()
        return False

    def _write(self, records: list[Served], changes: PinChanges | None) -> None:
        with transaction(self._connection):
            if changes is not None:
                write_pins(self._connection, changes)
                self._log_holds_text |= changes.replaces_text
            ledger_history.add(self._connection, records)
            ledger_history.forget_old(self._connection, self._limits, self._clock())

    def _not_written(self, error: Exception, records: list[Served], changes: PinChanges | None) -> bool:
        if not (is_surrounding(error) or is_damage(error)):
            log.exception("%d requests and changes of pins could not be written down and are left out", len(records))
            return False
        with self._condition:
            self._records = deque([*records, *self._records], self._limits.waiting)
        if changes is not None:
            self.pins.give_back(changes)
        return self._failed(error)

    def _failed(self, error: Exception) -> bool:
        """Returns whether a new file was begun."""
        if self._failure is None:
            self._failure = (
                f"Pins, savings and the history of requests cannot be written to {self._home}: {reason(error)}. They "
                "stay in memory and are written when it is possible again: make room there and the folder writable."
            )
            log.warning("%s", self._failure)
        if is_damage(error):
            self._begin_anew(error)
            return True
        return False

    def _begin_anew(self, error: Exception) -> None:
        """The file turned out to be damaged. Pins are known; sums and requests are in the file that is set aside."""
        self._connection.close()
        try:
            opened = open_ledger(self._home, self._clock, Damage(error, self.pins.rows()))
        except LedgerVersionError as newer:  # another Pinfill has put its file there
            opened = empty_ledger(str(newer))
        self._use(opened)
        self.pins.write_all_again()

    def _use(self, opened: OpenLedger) -> None:
        self._connection, self._standing = opened.connection, opened.problem
        if opened.set_aside is not None:
            self._set_aside.append(opened.set_aside)

    def _do(self, job: Callable[[sqlite3.Connection], T], future: Future[T]) -> None:
        try:
            future.set_result(job(self._connection))
        except Exception as error:
            if (is_surrounding(error) or is_damage(error)) and self._failed(error):
                self._save()
            future.set_exception(error)

    def _empty_log(self) -> None:
        """What a person unpinned is to be in no file."""
        if not self._log_holds_text:
            return
        try:
            self._log_holds_text = not empty_log(self._connection)
        except FILE_ERRORS as error:  # it is tried again with the next change, and done when the file is closed
            log.info("the ledger's write-ahead log could not be emptied: %s", error)

    def _close_connection(self) -> None:
        try:
            empty_log(self._connection)
        except FILE_ERRORS as error:
            log.info("the ledger's write-ahead log could not be emptied: %s", error)
        self._connection.close()

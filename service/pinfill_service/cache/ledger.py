"""The ledger: pins, what reuse saved, and the history of requests, in one SQLite file.

What a request saved is the time this machine would have needed to prefill the tokens that it reused, at the depth at
which they stand, minus what it took to bring them back, and never less than nothing:

    saved_seconds = max(0, PrefillCost.seconds(0, cached_tokens) - restore_seconds)

PrefillCost is the curve measured on the whole chunks that are evaluated anyway: seconds a token for every 1,024 tokens
of depth, kept here for the next start. The engine works savings out when a request starts (`Started.saved_seconds`);
the ledger only adds, and `pinfill bench` compares the sum with what clients measure. Sums are kept by local date, model
and pin.

What is pinned is in the file, for it has to be prefilled again after a change of model. Of other prompts there is
nothing but counts and labels, unless history is on: then prompt and reply, cut to a set length, and the doctor's words.
Turning history off deletes those. What is deleted is overwritten with zeros.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from pinfill_service.cache import ledger_costs, ledger_history
from pinfill_service.cache.ledger_costs import MachineCosts
from pinfill_service.cache.ledger_file import FILE_ERRORS, delete_copies, empty_log, reason, transaction
from pinfill_service.cache.ledger_pins import LedgerPins
from pinfill_service.cache.ledger_records import (
    LedgerError,
    Limits,
    PinUse,
    RequestPage,
    RequestRecord,
    Savings,
    Sums,
    bounded,
)
from pinfill_service.cache.ledger_thread import LedgerThread

log = logging.getLogger(__name__)

T = TypeVar("T")
LARGEST_PAGE = 500
DEFAULTS = Limits()


class Ledger:
    """One for a state folder, whose lock its process holds. Methods may be called from any thread.

    `record` and everything of `pins` answer at once, so the engine thread may call them; the rest waits for the disk,
    some milliseconds. No disk that is full, no folder that cannot be written and no damaged file raises from `record`,
    from `pins` or from a look: `problem` and `set_aside` say what happened, looks then show what there is.
    """

    def __init__(self, home: Path, history: bool, limits: Limits, clock: Callable[[], float]) -> None:
        """Use `open`."""
        self._home, self._limits, self._clock = home, limits, clock
        self._history, self._history_lock = history, threading.Lock()
        self._thread = LedgerThread(home, limits, clock)

    @classmethod
    def open(
        cls, home: Path, *, history: bool = False, limits: Limits = DEFAULTS, clock: Callable[[], float] = time.time
    ) -> Self:
        """Opens `home/ledger.sqlite3`. Raises LedgerVersionError for one of a newer Pinfill, and nothing else."""
        ledger = cls(home, history, limits, clock)
        ledger._look(ledger._tidy, None)
        return ledger

    @property
    def pins(self) -> LedgerPins:
        """The pins, as a `pins.book.PinBook`."""
        return self._thread.pins

    @property
    def problem(self) -> str | None:
        """Why nothing can be written down at the moment, and what to do; None: all is well."""
        return self._thread.problem

    @property
    def set_aside(self) -> tuple[str, ...]:
        """Sentences about damaged files that were set aside since the start."""
        return self._thread.set_aside

    def record(self, record: RequestRecord) -> None:
        """Adds a request that has ended, of which it keeps what it may."""
        with self._history_lock:  # so that no text slips in behind `keep_history(False)`
            kept = bounded(record, self._limits, self._clock(), history=self._history)
            self._thread.add((kept, self.pins.number_of(record.pin)))

    def requests(self, limit: int = 50, before: str | None = None) -> RequestPage:
        """The latest requests, or those that came before the one of the id `before`; LARGEST_PAGE at most."""
        count = min(max(1, limit), LARGEST_PAGE)
        return self._look(lambda connection: ledger_history.page(connection, count, before), RequestPage((), None))

    def request(self, request_id: str) -> RequestRecord | None:
        return self._look(lambda connection: ledger_history.find(connection, request_id), None)

    def savings(self, days: int = 30) -> Savings:
        """Over the last local dates, today's among them; as many as are kept at most."""
        days = min(max(1, days), self._limits.savings_days)
        nothing = Savings(days, Sums(), (), ())
        return self._look(lambda connection: ledger_history.savings(connection, days, self._clock()), nothing)

    def pin_uses(self) -> dict[str, PinUse]:
        """What each pin did, by name; pins that served nothing are left out."""
        return self._look(lambda connection: ledger_history.pin_uses(connection, self._clock()), {})

    def prefill_costs(self) -> MachineCosts:
        """What earlier runs learned."""
        return self._look(ledger_costs.load, {})

    def keep_prefill_costs(self, fingerprint: str, runtime: str, costs: Mapping[int, float]) -> None:
        """Of one model on one machine. Where it cannot be written it is lost, and `problem` tells."""

        def keep(connection: sqlite3.Connection) -> None:
            days = self._limits.savings_days
            with transaction(connection):
                ledger_costs.keep(connection, fingerprint, runtime, costs, self._clock(), days)

        self._look(keep, None)

    def keep_history(self, on: bool) -> None:
        """Turns the history of texts on, or off: then those written are deleted. Raises LedgerError."""
        with self._history_lock:
            self._history = on
        if not on:
            self._change(_forget_texts, "The texts of requests could not be deleted")

    def purge_history(self) -> None:
        """Deletes every request, and damaged files and copies, in which there are some. Raises LedgerError.

        Pins and savings stay.
        """

        def purge(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                ledger_history.purge(connection)
            connection.execute("VACUUM")
            empty_log(connection)
            delete_copies(self._home)

        self._change(purge, "The history could not be deleted")

    def flush(self) -> None:
        """Returns when everything before was written, or `problem` says why not. Raises LedgerError when closed."""
        self._look(lambda connection: None, None)

    def close(self) -> None:
        """Writes what waits and closes the file. May be called twice; `record` does nothing afterwards."""
        self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _tidy(self, connection: sqlite3.Connection) -> None:
        """What grew too old while the service was not running goes, and texts, if history was turned off meanwhile."""
        with transaction(connection):
            ledger_history.forget_old(connection, self._limits, self._clock())
        if not self._history:
            _forget_texts(connection)

    def _look(self, job: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What the job finds, or `otherwise` where the file cannot be read, which `problem` then tells."""
        try:
            return self._thread.ask(job)
        except FILE_ERRORS as error:
            log.info("the ledger could not be used: %s", error)
            return otherwise

    def _change(self, job: Callable[[sqlite3.Connection], None], failure: str) -> None:
        try:
            self._thread.ask(job)
        except (OSError, *FILE_ERRORS) as error:
            raise LedgerError(f"{failure}: {reason(error)}. Make room on the disk, then try again.") from error


def _forget_texts(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        ledger_history.forget_texts(connection)
    empty_log(connection)

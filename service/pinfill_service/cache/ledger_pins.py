"""The pins in the ledger: a list in memory that answers at once, and its lines in the file.

A pin's name is ASCII (letters of either case, digits, '.', '_', '-'), because it becomes part of a model's name: that
travels through configuration files, environment variables, command lines and terminals, not all of which speak UTF-8,
and one written name must be one sequence of bytes ("e" with an accent has two in Unicode). Names that differ only in
case are the same name, because some clients change the case of models.
"""

from __future__ import annotations

import json
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pinfill_service.cache.ledger_pin_rows import NAME_PATTERN, PinChanges, PinRow, checksum
from pinfill_service.cache.ledger_records import storable
from pinfill_service.pins.book import StoredPin
from pinfill_service.pins.errors import PinError, PinExistsError, UnknownPinError


class PinNameError(PinError):
    """The name cannot be a pin's."""

    code = "invalid_pin_name"


class LedgerPins:
    """Implements pins.book.PinBook. Safe from any thread, and never waits for the disk.

    Invariants: names differ, whatever their case; a number belongs to one pin as long as the ledger speaks of it.
    """

    def __init__(self, rows: Iterable[PinRow], last_number: int, on_change: Callable[[], None]) -> None:
        """`last_number`: the largest that was ever given to a pin the ledger speaks of."""
        self._lock = threading.Lock()
        self._rows = {row.number: row for row in rows}  # in the user's order
        self._last = max([last_number, *self._rows])
        self._changed: set[int] = set()
        self._contents: set[int] = set()
        self._all_again = False
        self._on_change = on_change

    # -- what people do ------------------------------------------------------------------------------------------

    def pins(self) -> list[StoredPin]:
        """In the user's order."""
        with self._lock:
            return [row.pin for row in self._rows.values()]

    def add_pin(self, pin: StoredPin) -> None:
        """At the end. The content must not be changed afterwards.

        Raises PinNameError or PinExistsError, and TypeError or ValueError for a content that is not JSON.
        """
        content = json.dumps(pin.content)
        with self._lock:
            self._check_name(pin.name, None)
            self._last += 1
            self._put(self._last, len(self._rows), pin, content)
        self._on_change()

    def update_pin(self, name: str, pin: StoredPin) -> None:
        """Replaces the pin called `name`, which may get another name. Raises as `add_pin` does, and UnknownPinError."""
        with self._lock:
            row = self._find(name)
            self._check_name(pin.name, row.number)
            # Most changes are of states: what is pinned is the same then, and need not be written as JSON again.
            content = row.content if pin.content == row.pin.content else json.dumps(pin.content)
            self._put(row.number, row.position, pin, content)
        self._on_change()

    def remove_pin(self, name: str) -> None:
        """Raises UnknownPinError."""
        with self._lock:
            row = self._find(name)
            del self._rows[row.number]
            self._changed.add(row.number)
            self._renumber()
        self._on_change()

    def order_pins(self, names: Sequence[str]) -> None:
        """The named pins in this order, the others after them. Raises UnknownPinError."""
        with self._lock:
            first = {row.number: row for row in (self._find(name) for name in names)}
            self._rows = first | {number: row for number, row in self._rows.items() if number not in first}
            self._renumber()
        self._on_change()

    # -- for the ledger ------------------------------------------------------------------------------------------

    def number_of(self, name: str | None) -> int | None:
        """None for a pin that is gone, too."""
        with self._lock:
            return next((row.number for row in self._rows.values() if row.pin.name == name), None)

    def rows(self) -> list[PinRow]:
        with self._lock:
            return list(self._rows.values())

    def take_changes(self) -> PinChanges | None:
        """What was not written yet; it is then for the caller to write it, or to give it back. None: nothing."""
        with self._lock:
            if not self._changed and not self._all_again:
                return None
            rows = tuple(row for number, row in self._rows.items() if number in self._changed)
            gone = frozenset(self._changed - self._rows.keys())
            changes = PinChanges(rows, frozenset(self._contents & self._rows.keys()), gone, self._all_again)
            self._changed.clear()
            self._contents.clear()
            self._all_again = False
            return changes

    def give_back(self, changes: PinChanges) -> None:
        with self._lock:
            self._changed |= {row.number for row in changes.rows} | changes.gone
            self._contents |= changes.contents
            self._all_again |= changes.all_again

    def write_all_again(self) -> None:
        """The file is a new one."""
        with self._lock:
            self._changed |= self._rows.keys()
            self._contents |= self._rows.keys()
            self._all_again = True

    # -- with the lock -------------------------------------------------------------------------------------------

    def _find(self, name: str) -> PinRow:
        for row in self._rows.values():
            if row.pin.name == name:
                return row
        raise UnknownPinError(f"There is no pin {name!r}.")

    def _check_name(self, name: str, number: int | None) -> None:
        """`number`: of the pin that is to have the name, which may have it already."""
        check_pin_name(name)
        for row in self._rows.values():
            if row.number != number and row.pin.name.lower() == name.lower():
                raise PinExistsError(f"There is a pin {row.pin.name} already. Choose another name, or unpin it first.")

    def _put(self, number: int, position: int, pin: StoredPin, content: str) -> None:
        old = self._rows.get(number)
        digest = old.sha256 if old is not None and old.content == content else checksum(content)
        if old is None or old.sha256 != digest:
            self._contents.add(number)
        self._rows[number] = PinRow(number, position, pin, content, digest)
        self._changed.add(number)

    def _renumber(self) -> None:
        for position, row in enumerate(list(self._rows.values())):
            if row.position != position:
                self._rows[row.number] = replace(row, position=position)
                self._changed.add(row.number)


def check_pin_name(name: str) -> None:
    """Raises PinNameError, which proposes a name where one can be made of this one."""
    if re.fullmatch(NAME_PATTERN, name):
        return
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    proposal = re.sub(r"[^A-Za-z0-9._-]+", "-", plain)[:100].strip("._-")
    example = f", for instance {proposal}" if proposal else ""
    raise PinNameError(
        f"{storable(name[:100])!r} cannot be a pin's name, which becomes part of a model's. Use up to 100 of a-z, A-Z, "
        f"0-9, '.', '_' and '-', with a letter or digit at both ends{example}."
    )

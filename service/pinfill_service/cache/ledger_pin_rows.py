"""Pins as lines of the ledger's file. Functions raise sqlite3.Error."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pinfill_service.cache.ledger_records import LedgerDamageError, storable
from pinfill_service.pins.book import StoredPin

NAME_PATTERN = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?"
_COLUMNS = ("number", "position", "name", "model", "fingerprint", "auto_refresh", "created", "state", "tokens", "error")
_TABLES = ("pin_contents", "pin_names", "days", "requests")  # that speak of pins by number
_LARGEST_NUMBER = 1 << 53  # what comes after it still fits SQLite's integers


@dataclass(frozen=True, slots=True)
class PinRow:
    """A pin as it is in the file. `content` is the JSON of the pin's content, `sha256` that of this text."""

    number: int
    position: int
    pin: StoredPin
    content: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PinChanges:
    """What is to be written: pins that are new or changed, those of them that hold something new, and what is gone.

    `all_again`: the rows are all there are, for a file that may hold others.
    """

    rows: tuple[PinRow, ...]
    contents: frozenset[int]
    gone: frozenset[int]
    all_again: bool = False

    @property
    def replaces_text(self) -> bool:
        """Whether something a person had pinned may leave the file."""
        return bool(self.contents or self.gone or self.all_again)


def load_pins(connection: sqlite3.Connection) -> tuple[list[PinRow], int]:
    """All pins, in the user's order, and the largest number of a pin that any row speaks of.

    Raises LedgerDamageError where something is not what was written.
    """
    rows = sorted(pin_rows(connection), key=lambda row: row.position)
    (count,) = connection.execute("SELECT count(*) FROM pins").fetchone()
    if not len(rows) == count == len({row.pin.name.lower() for row in rows}):
        raise LedgerDamageError("a pin in it is not what was written")
    numbers = " UNION ALL ".join(f"SELECT pin FROM {table}" for table in _TABLES)
    (last,) = connection.execute(f"SELECT ifnull(max(CAST(pin AS INTEGER)), 0) FROM ({numbers})").fetchone()
    if not 0 <= last <= _LARGEST_NUMBER:
        raise LedgerDamageError("the number of a pin in it is not what was written")
    return rows, last


def pin_rows(connection: sqlite3.Connection) -> Iterator[PinRow]:
    """The pins that are what was written, as they come."""
    query = f"SELECT {', '.join(_COLUMNS)}, content, sha256 FROM pins JOIN pin_contents ON pin = number"
    for values in connection.execute(query):
        row = _pin_row(values)
        if row is not None:
            yield row


def _pin_row(values: Sequence[Any]) -> PinRow | None:
    """None for values that `write_pins` did not write."""
    *line, content, digest = values
    number, position, name, model, fingerprint, auto_refresh, created, state, tokens, error = line
    try:
        if checksum(str(content)) != digest or not re.fullmatch(NAME_PATTERN, name):
            return None
        pin = StoredPin(
            name=name,
            model=str(model),
            fingerprint=str(fingerprint),
            content=json.loads(content),
            auto_refresh=bool(auto_refresh),
            created=float(created),
            state=str(state),
            tokens=int(tokens),
            error=None if error is None else str(error),
        )
        return PinRow(int(number), int(position), pin, content, digest)
    except (TypeError, ValueError, OverflowError):
        return None


def write_pins(connection: sqlite3.Connection, changes: PinChanges) -> None:
    """Within a transaction."""
    if changes.all_again:
        connection.execute("DELETE FROM pins")
        connection.execute("DELETE FROM pin_contents")
    gone = [(number,) for number in changes.gone]
    # Rows that change go first, all of them: pins may have exchanged their names.
    connection.executemany("DELETE FROM pins WHERE number = ?", [*gone, *((row.number,) for row in changes.rows)])
    connection.executemany("DELETE FROM pin_contents WHERE pin = ?", gone)
    marks = ", ".join("?" * len(_COLUMNS))
    connection.executemany(
        f"INSERT INTO pins ({', '.join(_COLUMNS)}) VALUES ({marks})", [_values(row) for row in changes.rows]
    )
    connection.executemany(
        "REPLACE INTO pin_contents VALUES (?, ?, ?)",
        [(row.number, row.content, row.sha256) for row in changes.rows if row.number in changes.contents],
    )
    connection.executemany("REPLACE INTO pin_names VALUES (?, ?)", [(row.number, row.pin.name) for row in changes.rows])


def checksum(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()


def _values(row: PinRow) -> tuple[object, ...]:
    """In the order of _COLUMNS."""
    pin = row.pin
    error = None if pin.error is None else storable(pin.error)
    texts = (storable(pin.model), storable(pin.fingerprint))
    return (row.number, row.position, pin.name, *texts, pin.auto_refresh, pin.created, pin.state, pin.tokens, error)

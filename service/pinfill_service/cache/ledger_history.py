"""Requests and savings in the ledger's file: added, summed up, looked at, forgotten. Functions raise sqlite3.Error."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from datetime import date, datetime, timedelta
from typing import Any

from pinfill_service.cache.ledger_records import (
    DaySums,
    FindingValue,
    LedgerDamageError,
    Limits,
    PinSums,
    PinUse,
    RequestPage,
    RequestRecord,
    Savings,
    Sums,
    finding_without_text,
)

_COLUMNS = tuple(field.name for field in fields(RequestRecord))
_COUNTS = ("prompt_tokens", "cached_tokens", "generated_tokens")
_INSERT = f"INSERT INTO requests ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_SELECT = f"SELECT {', '.join(_COLUMNS)}, name FROM requests LEFT JOIN pin_names USING (pin)"
_SUMS = "requests, hits, prompt_tokens, cached_tokens, saved_seconds, prefill_seconds"
_ADD_TO_DAY = f"""
INSERT INTO days (day, model, pin, {_SUMS}, last_used) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?)
ON CONFLICT (day, model, ifnull(pin, 0)) DO UPDATE SET
    requests = requests + 1,
    hits = hits + excluded.hits,
    prompt_tokens = prompt_tokens + excluded.prompt_tokens,
    cached_tokens = cached_tokens + excluded.cached_tokens,
    saved_seconds = saved_seconds + excluded.saved_seconds,
    prefill_seconds = prefill_seconds + excluded.prefill_seconds,
    last_used = max(last_used, excluded.last_used)
"""


def add(connection: sqlite3.Connection, records: Iterable[tuple[RequestRecord, int | None]]) -> None:
    """Records with the numbers of the pins that served them. Within a transaction."""
    for record, pin in records:
        if pin is not None:  # the pin may be gone before it was ever written
            connection.execute("INSERT OR IGNORE INTO pin_names VALUES (?, ?)", (pin, record.pin))
        connection.execute(
            _ADD_TO_DAY,
            (
                _day(record.at).isoformat(),
                record.model,
                pin,
                record.cached_tokens > 0,
                record.prompt_tokens,
                record.cached_tokens,
                record.saved_seconds,
                record.prefill_seconds,
                record.at,
            ),
        )
        connection.execute(_INSERT, _values(record, pin))


def forget_old(connection: sqlite3.Connection, limits: Limits, now: float) -> None:
    """Deletes what is beyond the limits. Within a transaction."""
    connection.execute(
        "DELETE FROM requests WHERE number <= (SELECT number FROM requests ORDER BY number DESC LIMIT 1 OFFSET ?)",
        (limits.requests,),
    )
    connection.execute("DELETE FROM requests WHERE at < ?", (now - limits.request_days * 86_400,))
    connection.execute("DELETE FROM days WHERE day < ?", (_first_day(limits.savings_days, now),))
    forget_names(connection)


def forget_names(connection: sqlite3.Connection) -> None:
    """Deletes the names of pins that nothing speaks of. Within a transaction."""
    connection.execute(
        "DELETE FROM pin_names WHERE pin NOT IN (SELECT number FROM pins) "
        "AND pin NOT IN (SELECT pin FROM days WHERE pin IS NOT NULL) "
        "AND pin NOT IN (SELECT pin FROM requests WHERE pin IS NOT NULL)"
    )


def purge(connection: sqlite3.Connection) -> None:
    """Deletes every request; sums and pins stay. Within a transaction."""
    connection.execute("DELETE FROM requests")
    forget_names(connection)


def forget_texts(connection: sqlite3.Connection) -> None:
    """Leaves of requests what is kept without history. Within a transaction. Raises LedgerDamageError."""
    connection.execute("UPDATE requests SET prompt = NULL, reply = NULL WHERE prompt IS NOT NULL OR reply IS NOT NULL")
    changes = []
    for text, number in connection.execute("SELECT finding, number FROM requests WHERE finding IS NOT NULL"):
        finding = _object(text)
        kept = finding_without_text(finding)
        if kept != finding:
            changes.append((json.dumps(kept), number))
    connection.executemany("UPDATE requests SET finding = ? WHERE number = ?", changes)


# -- looks -------------------------------------------------------------------------------------------------------------


def page(connection: sqlite3.Connection, limit: int, before: str | None) -> RequestPage:
    """At most `limit` requests, latest first, that came before the one called `before`. Raises LedgerDamageError."""
    where = ""
    values: tuple[str, ...] = ()
    if before is not None:
        where, values = "WHERE number < (SELECT max(number) FROM requests WHERE id = ?)", (before,)
    rows = connection.execute(f"{_SELECT} {where} ORDER BY number DESC LIMIT ?", (*values, limit + 1)).fetchall()
    records = tuple(_record(row) for row in rows[:limit])
    return RequestPage(records, records[-1].id if records and len(rows) > limit else None)


def find(connection: sqlite3.Connection, request_id: str) -> RequestRecord | None:
    """The latest request of that id. Raises LedgerDamageError."""
    row = connection.execute(f"{_SELECT} WHERE id = ? ORDER BY number DESC LIMIT 1", (request_id,)).fetchone()
    return None if row is None else _record(row)


def savings(connection: sqlite3.Connection, days: int, now: float) -> Savings:
    """Sums over the last `days` local dates."""
    sums = ", ".join(f"total({column})" for column in _SUMS.split(", "))
    query = f"FROM days LEFT JOIN pin_names USING (pin) WHERE day >= '{_first_day(days, now)}'"
    by_pin = connection.execute(f"SELECT name, {sums} {query} GROUP BY name ORDER BY total(saved_seconds) DESC, name")
    by_day = connection.execute(f"SELECT day, name, {sums} {query} GROUP BY day, name ORDER BY day, name")
    total = connection.execute(f"SELECT {sums} {query}").fetchone()
    return Savings(
        days=days,
        total=_sums(total),
        by_pin=tuple(PinSums(name, _sums(values)) for name, *values in by_pin),
        by_day=tuple(DaySums(day, name, _sums(values)) for day, name, *values in by_day),
    )


def pin_uses(connection: sqlite3.Connection, now: float) -> dict[str, PinUse]:
    """What each pin there is did, by name; pins that served nothing are left out."""
    rows = connection.execute(
        "SELECT name, total(hits), total(saved_seconds), total(CASE WHEN day = ? THEN saved_seconds END), "
        "CAST(max(last_used) AS REAL) FROM days JOIN pins ON number = pin GROUP BY number",
        (_day(now).isoformat(),),
    )
    return {name: PinUse(int(hits), saved, today, last) for name, hits, saved, today, last in rows}


# -- helpers -----------------------------------------------------------------------------------------------------------


def _day(at: float) -> date:
    """The local date of a Unix time."""
    return datetime.fromtimestamp(at).date()


def _first_day(days: int, now: float) -> str:
    return (_day(now) - timedelta(days=days - 1)).isoformat()


def _sums(values: Sequence[float]) -> Sums:
    requests, hits, prompt, cached, saved, prefill = values
    return Sums(int(requests), int(hits), int(prompt), int(cached), saved, prefill)


def _values(record: RequestRecord, pin: int | None) -> tuple[object, ...]:
    """In the order of _COLUMNS."""
    finding = None if record.finding is None else json.dumps(record.finding)
    values = {**asdict(record), "pin": pin, "finding": finding, "segments": json.dumps(record.segments)}
    return tuple(values[column] for column in _COLUMNS)


def _record(row: Sequence[Any]) -> RequestRecord:
    """Of a row of _SELECT. Raises LedgerDamageError for one that `_values` did not write."""
    values = dict(zip(_COLUMNS, row, strict=False))
    name = row[-1]
    try:
        finding = None if values["finding"] is None else _object(values["finding"])
        segments = tuple((str(label), int(tokens)) for label, tokens in json.loads(values["segments"]))
        counts = {column: int(values[column]) for column in _COUNTS}
        seconds = {column: float(values[column]) for column in _COLUMNS if column == "at" or "seconds" in column}
    except (TypeError, ValueError, OverflowError) as error:
        raise LedgerDamageError(f"a request in it is not what was written: {error}") from error
    return RequestRecord(**{**values, **counts, **seconds, "pin": name, "finding": finding, "segments": segments})


def _object(text: str) -> dict[str, FindingValue]:
    """Raises LedgerDamageError for what is not a JSON object."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError) as error:
        raise LedgerDamageError(f"a finding in it is not what was written: {error}") from error
    if not isinstance(value, dict):
        raise LedgerDamageError("a finding in it is not what was written")
    return value

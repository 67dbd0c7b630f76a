"""What prefill costs, in the ledger's file: a row for every depth that was measured. Functions raise sqlite3.Error."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

# (a model's fingerprint, what runs it) -> seconds a token by depth, see PrefillCost.learned.
MachineCosts = dict[tuple[str, str], dict[int, float]]

_LARGEST_BUCKET = 1 << 14
_LEAST_SECONDS, _MOST_SECONDS = 1e-7, 10.0  # a token; no machine is beyond them


def load(connection: sqlite3.Connection) -> MachineCosts:
    """Of all models and machines. What no machine can have measured is left out."""
    found: MachineCosts = {}
    rows = connection.execute("SELECT fingerprint, runtime, bucket, seconds_per_token FROM prefill_costs")
    for fingerprint, runtime, bucket, seconds in rows:
        known = isinstance(bucket, int) and isinstance(seconds, float)
        if known and 0 <= bucket <= _LARGEST_BUCKET and _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
            found.setdefault((fingerprint, runtime), {})[bucket] = seconds
    return found


def keep(
    connection: sqlite3.Connection, fingerprint: str, runtime: str, costs: Mapping[int, float], now: float, days: int
) -> None:
    """Replaces what was known of this model on this machine, and forgets what nobody measured for so many days. Within
    a transaction.
    """
    connection.execute("DELETE FROM prefill_costs WHERE fingerprint = ? AND runtime = ?", (fingerprint, runtime))
    connection.execute("DELETE FROM prefill_costs WHERE at < ?", (now - days * 86_400,))
    rows = ((fingerprint, runtime, bucket, seconds, now) for bucket, seconds in costs.items())
    connection.executemany("INSERT INTO prefill_costs VALUES (?, ?, ?, ?, ?)", rows)

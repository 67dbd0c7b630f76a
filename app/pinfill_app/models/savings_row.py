"""What reuse saved, summed up as the page of savings shows it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from pinfill_app import units
from pinfill_app.models.keyed_table import Column
from pinfill_service.api.schemas.manage import SavingsByDay, SavingsByPin, SavingsPart

_SUMS = tuple(SavingsPart.model_fields)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets take for one at the beginning of a cell


def last_days(rows: Iterable[SavingsByDay], days: int, today: date) -> list[SavingsByDay]:
    """Those of the last days, today among them, the latest day and in it the most saved first."""
    first = (today - timedelta(days=days - 1)).isoformat()
    return sorted((row for row in rows if row.day >= first), key=lambda row: (row.day, row.saved_seconds), reverse=True)


def day_names(days: int, today: date) -> list[str]:
    """The last days as YYYY-MM-DD, today at the end."""
    return [(today - timedelta(days=back)).isoformat() for back in range(days - 1, -1, -1)]


def total(rows: Iterable[SavingsPart]) -> SavingsPart:
    """All of them together."""
    listed = list(rows)
    return SavingsPart(**{name: sum(getattr(row, name) for row in listed) for name in _SUMS})


def by_pin(rows: Iterable[SavingsByDay]) -> list[SavingsByPin]:
    """The days together, the most saved first; what no pin served last."""
    groups: dict[str | None, list[SavingsByDay]] = {}
    for row in rows:
        groups.setdefault(row.pin, []).append(row)
    sums = [SavingsByPin(pin=pin, **total(group).model_dump()) for pin, group in groups.items()]
    return sorted(sums, key=lambda each: (each.pin is None, -each.saved_seconds))


def cold_and_warm(sums: SavingsPart) -> tuple[float, float]:
    """Mean seconds of prefill for a request without what was saved, and with it. There must be requests."""
    return (sums.prefill_seconds + sums.saved_seconds) / sums.requests, sums.prefill_seconds / sums.requests


def pin_name(pin: str | None) -> str:
    """Or what is said of requests that no pin served."""
    return QCoreApplication.translate("savings", "not pinned") if pin is None else pin


def day_text(day: str, pattern: str = "") -> str:
    """A local date, YYYY-MM-DD, as the locale writes it, or in its words by a pattern of Qt's."""
    parsed = QDate.fromString(day, "yyyy-MM-dd")
    return (
        QLocale().toString(parsed, pattern) if pattern else QLocale().toString(parsed, QLocale.FormatType.ShortFormat)
    )


def columns() -> list[Column[SavingsByDay]]:
    tr = QCoreApplication.translate
    return [
        Column(tr("savings", "Day"), lambda row: day_text(row.day), 12),
        Column(tr("savings", "Pin"), lambda row: pin_name(row.pin), None),
        Column(tr("savings", "Requests"), lambda row: units.number(row.requests), 10, True),
        Column(tr("savings", "Prompt tokens"), lambda row: units.number(row.prompt_tokens), 15, True),
        Column(tr("savings", "Cached"), lambda row: units.number(row.cached_tokens), 13, True),
        Column(tr("savings", "Prefill done"), lambda row: units.duration(row.prefill_seconds), 14, True),
        Column(tr("savings", "Prefill saved"), lambda row: units.duration(row.saved_seconds), 14, True),
    ]


def as_csv(rows: Sequence[SavingsByDay]) -> str:
    """As `pinfill savings --csv` prints it: numbers with a point, seconds as they are, an empty cell for no pin."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("day", "pin", *_SUMS))
    for row in rows:
        name = row.pin or ""
        safe = f"'{name}" if name.startswith(_FORMULAS) else name
        writer.writerow((row.day, safe, *(getattr(row, each) for each in _SUMS)))
    return text.getvalue()

"""A line of the table of requests: one that has ended, or one that runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from pinfill_app import finding_words, units
from pinfill_app.failure_words import failure_words
from pinfill_app.models.keyed_table import Column
from pinfill_app.running import RunningRequest
from pinfill_service.api.schemas.manage import RequestSummary

NOTHING = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class RequestRow:
    """`cached` + `processed` of `total` prompt tokens are there; all of them once it has ended. `summary` is None while
    it runs.
    """

    id: str
    client: str
    model: str
    cached: int
    processed: int
    total: int
    summary: RequestSummary | None = None
    is_stalled: bool = False


def request_rows(
    running: Iterable[RunningRequest], ended: Iterable[RequestSummary], *, stalled: bool = False
) -> list[RequestRow]:
    """Those that run, the latest first, then those that have ended, as given (latest first). `stalled`: the service
    does not answer, so nobody knows how far they are.
    """
    rows = [
        RequestRow(
            each.id,
            each.client,
            each.model,
            each.cached,
            max(0, each.done - each.cached),
            each.total,
            is_stalled=stalled,
        )
        for each in reversed(list(running))
    ]
    for each in ended:
        model = f"{each.model}@{each.pin}" if each.pin is not None else each.model
        counts = each.cached_tokens, each.processed_tokens, each.prompt_tokens
        rows.append(RequestRow(each.id, each.client, model, *counts, each))
    return rows


def columns() -> list[Column[RequestRow]]:
    """What each row shows, with a column of bars."""
    tr = QCoreApplication.translate
    return [
        Column(tr("activity", "Time"), _time, 12, tip=date),
        Column(tr("activity", "Client"), lambda row: row.client, 15),
        Column(tr("activity", "Model"), lambda row: row.model, 25, explanation=tr("activity", "And the pin, behind @")),
        Column(tr("activity", "Prompt"), lambda row: "", None, tip=counts),
        Column(tr("activity", "Why"), why, 22, explanation=tr("activity", "Why not all of it was cached")),
        Column(tr("activity", "Cached"), lambda row: units.number(row.cached), 8, True),
        Column(tr("activity", "New"), lambda row: units.number(row.total - row.cached), 8, True),
        Column(
            tr("activity", "First word"),
            first_word,
            10,
            True,
            explanation=tr("activity", "How long it took to the first word of the answer"),
        ),
    ]


BAR_COLUMN = 3


def counts(row: RequestRow) -> str:
    """Of the bar, in words."""
    words = QCoreApplication.translate("activity", "{} cached, {} new, of {} tokens")
    return words.format(units.number(row.cached), units.number(row.total - row.cached), units.number(row.total))


def first_word(row: RequestRow) -> str:
    """0.4 s; 48 %; answering"""
    tr = QCoreApplication.translate
    if row.summary is None:
        done = row.cached + row.processed
        return units.percent(done / row.total) if done < row.total else tr("activity", "answering")
    if row.summary.error is not None or not row.summary.generated_tokens:
        return NOTHING
    return units.duration(row.summary.ttft_seconds)


def why(row: RequestRow) -> str:
    """What a person should know of it, in a few words; empty where all went well."""
    tr = QCoreApplication.translate
    if row.summary is None:
        return tr("activity", "stalled") if row.is_stalled else tr("activity", "running")
    if row.summary.error is not None:
        return tr("activity", "failed: {}").format(failure_words(row.summary.error, row.summary.error))
    if row.summary.finish_reason == "cancelled":
        return tr("activity", "cancelled")
    finding = row.summary.finding
    if finding is None or finding.explanation or finding.position_tokens is None:
        return finding_words.explanation(finding, short=True) if finding is not None else ""
    return tr("activity", "left what is cached at token {}").format(units.number(finding.position_tokens))


def date(row: RequestRow) -> str:
    """Date and time; now"""
    if row.summary is None:
        return _time(row)
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(row.summary.at)), QLocale.FormatType.ShortFormat)


def _time(row: RequestRow) -> str:
    """With seconds today; else the day."""
    if row.summary is None:
        return QCoreApplication.translate("activity", "now")
    locale, at = QLocale(), QDateTime.fromSecsSinceEpoch(int(row.summary.at))
    if at.date() != QDateTime.currentDateTime().date():
        return locale.toString(at.date(), QLocale.FormatType.ShortFormat)
    return units.clock_with_seconds(row.summary.at)

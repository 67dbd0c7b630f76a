"""The columns of the table of prefixes: their titles, and what a row shows in each."""

from __future__ import annotations

import time
from enum import IntEnum
from math import ceil

from PySide6.QtCore import QCoreApplication

from pinfill_app import units
from pinfill_app.models.prefix_row import PrefixRow, RowState
from pinfill_app.wording import pin_word
from pinfill_service.api.schemas.manage import PinProgressEvent

NOTHING = "\N{EN DASH}"


class Column(IntEnum):
    NAME = 0
    STATE = 1
    TOKENS = 2
    MEMORY = 3
    SHARED = 4
    HITS = 5
    TODAY = 6
    TOTAL = 7
    LAST = 8
    USED = 9
    SOURCE = 10


WORDS = (Column.NAME, Column.STATE, Column.SOURCE)  # the others are numbers


def title(column: Column) -> str:
    tr = QCoreApplication.translate
    return {
        Column.NAME: tr("prefixes", "Name"),
        Column.STATE: tr("prefixes", "State"),
        Column.TOKENS: tr("prefixes", "Tokens"),
        Column.MEMORY: tr("prefixes", "Memory"),
        Column.SHARED: tr("prefixes", "Shared"),
        Column.HITS: tr("prefixes", "Hits"),
        Column.TODAY: tr("prefixes", "Saved today"),
        Column.TOTAL: tr("prefixes", "Total"),
        Column.LAST: tr("prefixes", "Last"),
        Column.USED: tr("prefixes", "Used"),
        Column.SOURCE: tr("prefixes", "Source"),
    }[column]


def explanation(column: Column) -> str:
    """For a tool tip on the title; empty where the title says it all."""
    tr = QCoreApplication.translate
    return {
        Column.MEMORY: tr("prefixes", "What is shared with others counts for each of them."),
        Column.SHARED: tr("prefixes", "Tokens that others begin with, too"),
        Column.HITS: tr("prefixes", "Requests that began with it"),
        Column.TODAY: tr("prefixes", "Prefill saved today"),
        Column.TOTAL: tr("prefixes", "Prefill saved in all; for what is not pinned: hits times what one saves"),
        Column.LAST: tr("prefixes", "Prefill saved by the last request"),
        Column.USED: tr("prefixes", "How long ago a request began with it"),
        Column.SOURCE: tr("prefixes", "The files it was pinned from, or the program that sent it"),
    }.get(column, "")


def state_text(row: PrefixRow) -> str:
    """warm, stale, cached, ..."""
    return state_word(row.state) if row.pin is None else pin_word(row.pin.state)


def state_word(state: RowState) -> str:
    tr = QCoreApplication.translate
    match state:
        case "in use":
            return tr("prefixes", "in use")
        case "cached":
            return tr("prefixes", "cached")
        case "on disk":
            return tr("prefixes", "on disk")
        case _:
            return pin_word(state)


def progress_text(progress: PinProgressEvent, stalled: bool = False) -> str:
    """48 %, 9 s left; 48 %, stalled; 100 %, finishing"""
    share = units.percent(progress.done / progress.total if progress.total else 0)
    if stalled:
        return QCoreApplication.translate("prefixes", "{}, stalled").format(share)
    if progress.total and progress.done >= progress.total:  # it is written to the disk
        return QCoreApplication.translate("prefixes", "{}, finishing").format(share)
    if progress.seconds_left is None:
        return share
    tr, seconds = QCoreApplication.translate, ceil(progress.seconds_left)  # whole ones: it is a guess
    left = tr("prefixes", "{} s").format(units.number(seconds)) if seconds < 60 else units.rough_duration(seconds)
    return tr("prefixes", "{}, {} left").format(share, left)


def text(row: PrefixRow, column: Column) -> str:
    """What stands in a cell."""
    match column:
        case Column.NAME:
            return row.name or QCoreApplication.translate("prefixes", "(no words)")
        case Column.STATE:
            return state_text(row)
        case Column.TOKENS:
            return units.number(row.tokens)
        case Column.MEMORY:
            return units.size(row.memory_bytes) if row.memory_bytes else NOTHING
        case Column.SHARED:
            return units.number(row.shared_tokens) if row.shared_tokens else NOTHING
        case Column.HITS:
            return units.number(row.hits)
        case Column.TODAY:
            return units.duration(row.saved_today) if row.saved_today else NOTHING
        case Column.TOTAL:
            return units.rough_duration(row.saved_total) if row.saved_total else NOTHING
        case Column.LAST:
            return units.duration(row.saved_last) if row.saved_last else NOTHING
        case Column.USED:
            return units.ago(time.time() - row.used) if row.used is not None else NOTHING
        case Column.SOURCE:
            return row.source or NOTHING


def sort_key(row: PrefixRow, column: Column) -> float | str | None:
    """None comes last in both directions."""
    match column:
        case Column.NAME:
            return row.name.casefold()
        case Column.STATE:
            return state_text(row)
        case Column.SOURCE:
            return row.source.casefold() or None
        case Column.USED:
            return row.used
        case _:
            return {
                Column.TOKENS: row.tokens,
                Column.MEMORY: row.memory_bytes,
                Column.SHARED: row.shared_tokens,
                Column.HITS: row.hits,
                Column.TODAY: row.saved_today,
                Column.TOTAL: row.saved_total,
                Column.LAST: row.saved_last,
            }[column]

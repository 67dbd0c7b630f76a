"""Pins on the screen: a table of all, and all about one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pinfill_service.commands.console import out
from pinfill_service.commands.remote import plain, show_ago, show_left, show_seconds, show_size, show_time

if TYPE_CHECKING:
    from pinfill_service.api.schemas.manage import Pin

_WIDE = 130  # characters of a terminal that has room for model names, too


def print_table(listed: list[Pin]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("Name", overflow="fold")
    table.add_column("State")
    for title in ("Tokens", "Memory", "Hits", "Saved\ntoday", "Total", "Used"):
        table.add_column(title, justify="right", no_wrap=True)
    console, names = out(), [pin.use_as for pin in listed if pin.use_as and pin.state != "failed"]
    wide = console.width >= _WIDE
    if wide:
        table.add_column("Use as model", overflow="fold")
    for pin in listed:
        cells = (
            plain(pin.name),
            plain(_state(pin)),
            f"{pin.tokens:,}",
            show_size(pin.memory_bytes) if pin.memory_bytes else "-",
            f"{pin.hits:,}",
            show_seconds(pin.saved_seconds_today),
            show_seconds(pin.saved_seconds),
            _used(pin),
        )
        table.add_row(*cells, *([plain(pin.use_as or "-")] if wide else []))
    console.print(table)
    if names and not wide:
        console.print(plain(f"Use one as the model: {', '.join(names)}"), soft_wrap=True)


def _state(pin: Pin) -> str:
    """The state in a few words: "prefilling 48 %, 9 s left", "stale (the file changed)"."""
    if pin.state == "prefilling" and pin.total:
        left = "" if pin.seconds_left is None else f", {show_left(pin.seconds_left)}"
        return f"prefilling {pin.done / pin.total:.0%}{left}"
    return f"{pin.state} ({pin.reason})" if pin.reason else pin.state


def _used(pin: Pin) -> str:
    return "never" if pin.last_used is None else show_ago(time.time() - pin.last_used)


def print_facts(pin: Pin) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for title, value in _facts(pin):
        table.add_row(title, plain(value))
    out().print(table)


def _facts(pin: Pin) -> Iterator[tuple[str, str]]:
    yield "Pin", pin.name
    yield "State", _state(pin)
    yield "Use as model", pin.use_as or f"it was made for {pin.model}; make it anew: pinfill pins refresh {pin.name}"
    shared = f", {pin.shared_tokens:,} of them shared with other pins" if pin.shared_tokens else ""
    yield "Tokens", f"{pin.tokens:,}{shared}"
    again = ": a restart prefills it again" if pin.state not in ("stale", "failed") else ""
    disk = f"{show_size(pin.disk_bytes)} on disk" if pin.on_disk else f"not on disk{again}"
    yield "Size", f"{show_size(pin.memory_bytes)} in memory, {disk}"
    today = show_seconds(pin.saved_seconds_today)
    hits = "1 hit" if pin.hits == 1 else f"{pin.hits:,} hits"
    yield "Saved", f"{show_seconds(pin.saved_seconds)} of prefill in {hits}, {today} of it today"
    yield "Used", _used(pin)
    if pin.prefill_seconds is not None:
        yield "Costs", f"{show_seconds(pin.prefill_seconds)} of prefill, if it had to be done again"
    for source in pin.sources:
        yield "File", f"{source.path} ({show_size(source.size)}, {show_time(source.mtime)})"
    if pin.sources:
        yield "Refresh", "by itself, while its files are watched" if pin.auto_refresh else "when asked"
    if pin.verified is not None:
        outcome = "equal to a cold run" if pin.verified.greedy_equal else "NOT equal to a cold run"
        yield "Verified", f"{outcome}, {show_time(pin.verified.at)}"

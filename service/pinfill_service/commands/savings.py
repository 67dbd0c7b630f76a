"""pinfill savings"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError, out
from pinfill_service.commands.remote import connect, plain, print_model, show_seconds

if TYPE_CHECKING:
    from pinfill_service.api.schemas.manage import Savings, SavingsByDay, SavingsPart

_NO_PIN = "(no pin)"
_COLUMNS = ("day", "pin", "requests", "prompt_tokens", "cached_tokens", "saved_seconds", "prefill_seconds")


def savings(
    days: Annotated[int, typer.Option(min=1, max=3650, help="How many days, today included.")] = 7,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print a line for each day and pin, for spreadsheets.")] = False,
) -> None:
    """Tell how much prefill was saved: in all, by pin, by day.

    Saved seconds are what prefilling the reused tokens would have taken on this machine, as measured, minus what
    bringing them back took.
    """
    if json and csv:
        raise CommandError("Choose one of --json and --csv.")
    from pinfill_service.api.schemas.manage import Savings

    with connect() as remote:
        saved = remote.get(Savings, "savings", days=days)
    if json:
        print_model(saved)
    elif csv:
        _print_csv(saved.by_day)
    else:
        _print_tables(saved)


def _print_csv(rows: Iterable[SavingsByDay]) -> None:
    from csv import DictWriter

    writer = DictWriter(sys.stdout, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.model_dump(include=set(_COLUMNS)) for row in rows)


def _print_tables(saved: Savings) -> None:
    when = "today" if saved.days == 1 else f"in the last {saved.days:,} days"
    total = saved.total
    share = f" ({total.cached_tokens / total.prompt_tokens:.0%})" if total.prompt_tokens else ""
    console = out()
    console.print(plain(f"{show_seconds(total.saved_seconds)} of prefill saved {when}."))
    console.print(
        plain(
            f"{total.requests:,} requests; {total.cached_tokens:,} of {total.prompt_tokens:,} prompt tokens came from "
            f"the cache{share}; prefill took {show_seconds(total.prefill_seconds)}."
        ),
        soft_wrap=True,
    )
    if not total.requests:
        return
    by_pin = sorted(saved.by_pin, key=lambda part: -part.saved_seconds)
    _print_table("Pin", ((part.pin or _NO_PIN, part) for part in by_pin))
    _print_table("Day", _by_day(saved.by_day).items())


def _by_day(rows: Iterable[SavingsByDay]) -> dict[str, SavingsPart]:
    """Sums over the pins of each day, the latest first."""
    from pinfill_service.api.schemas.manage import SavingsPart

    days: dict[str, SavingsPart] = {}
    for row in sorted(rows, key=lambda row: row.day, reverse=True):
        part = days.setdefault(row.day, SavingsPart())
        for name in SavingsPart.model_fields:
            setattr(part, name, getattr(part, name) + getattr(row, name))
    return days


def _print_table(title: str, rows: Iterable[tuple[str, SavingsPart]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(title, overflow="fold")
    for column in ("Requests", "Prompt tokens", "From the cache", "Saved", "Prefill"):
        table.add_column(column, justify="right")
    for name, part in rows:
        table.add_row(
            plain(name),
            f"{part.requests:,}",
            f"{part.prompt_tokens:,}",
            f"{part.cached_tokens:,}",
            show_seconds(part.saved_seconds),
            show_seconds(part.prefill_seconds),
        )
    console = out()
    console.print()
    console.print(table)

"""pinfill entries and pinfill evict"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError, out
from pinfill_service.commands.remote import (
    Remote,
    confirm,
    connect,
    plain,
    print_model,
    show_ago,
    show_seconds,
    show_size,
)

if TYPE_CHECKING:
    from pinfill_service.api.schemas.manage import Entry

_SHORT_ID = 8  # characters of an id that tell entries apart in a list
_LEAST_WORDS, _OTHER_COLUMNS = 12, 76  # characters: of an entry's first words, and of all else that is told about it


def entries(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List what is cached, the most valuable first.

    *Shared* are the tokens that other entries begin with too: they are kept once. *Saved* is the prefill that the hits
    of an entry did not need.
    """
    with connect() as remote:
        cached = cached_entries(remote)
    if json:
        from pinfill_service.api.schemas.manage import Entries

        print_model(Entries(entries=cached))
    elif cached:
        _print_table(cached)
    else:
        typer.echo("Nothing is cached yet. Whatever is sent to the service will be; or pin something: pinfill pin FILE")


def evict(
    entry_ids: Annotated[
        list[str] | None, typer.Argument(metavar="ENTRY_ID", help="Entries, as 'pinfill entries' lists them.")
    ] = None,
    unpinned: Annotated[bool, typer.Option("--unpinned", help="All entries that nobody pinned.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Forget cached entries, in memory and on disk.

    Pins stay: they are given up with 'pinfill unpin'. The first characters of an id are enough where no other entry
    begins with them.
    """
    if bool(entry_ids) == unpinned:
        raise CommandError("Say what to evict: entries by their ids ('pinfill entries' lists them), or --unpinned.")
    from pinfill_service.api.schemas.manage import Evicted

    with connect() as remote:
        cached = cached_entries(remote)
        chosen = _evictable(cached, entry_ids) if entry_ids else [entry for entry in cached if not entry.pinned]
        if not chosen:
            typer.echo("Nothing is cached that is not pinned.", err=True)
        else:
            cost = show_seconds(sum(entry.saves_seconds for entry in chosen))
            command = " ".join(["pinfill evict", *(["--unpinned"] if unpinned else [entry.id for entry in chosen])])
            confirm(f"Evict {_count(len(chosen))}? Needs {cost} of prefill next time.", command, yes)
        if unpinned:
            gone = remote.post(Evicted, "entries", "evict-unpinned").entries if chosen else 0
        else:
            gone = sum(remote.delete(Evicted, "entries", entry.id).entries for entry in chosen)
    if json:
        print_model(Evicted(entries=gone))
    elif chosen:
        typer.echo(f"Evicted: {_count(gone)}.", err=True)


def cached_entries(remote: Remote) -> list[Entry]:
    """Everything that is cached, the most valuable first."""
    from pinfill_service.api.schemas.manage import Entries

    return remote.get(Entries, "entries").entries


def find_entry(cached: list[Entry], start: str) -> Entry:
    """The entry whose id begins so. Raises CommandError where that is none or not clear."""
    matching = [entry for entry in cached if start and entry.id.startswith(start)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise CommandError(f"{len(matching)} entries begin with {start!r}: {', '.join(e.id for e in matching)}.")
    raise CommandError(f"There is no entry {start!r}. 'pinfill entries' lists them with their ids.")


def _evictable(cached: list[Entry], wanted: list[str]) -> list[Entry]:
    """The entries meant, each once. Raises CommandError for one that is not there, not clear, pinned or in use."""
    found: dict[str, Entry] = {}
    for entry in (find_entry(cached, start) for start in wanted):
        if entry.pinned:
            command = f"pinfill unpin {entry.pin}" if entry.pin else "pinfill unpin NAME"
            raise CommandError(f"The entry {entry.id} is pinned. To give it up: {command}")
        if entry.in_use:
            raise CommandError(f"The entry {entry.id} is in use. Evict it once its request is answered.")
        found[entry.id] = entry
    return list(found.values())


def _count(number: int) -> str:
    return "1 entry" if number == 1 else f"{number:,} entries"


def _print_table(cached: list[Entry]) -> None:
    from rich.table import Table

    console = out()
    table = Table("Id", "Begins with", box=None, pad_edge=False)
    for title in ("Tokens", "Memory", "Shared", "Hits", "Saved", "Used"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("Source", overflow="fold")
    words = max(_LEAST_WORDS, console.width - _OTHER_COLUMNS)
    for entry in cached:
        table.add_row(
            entry.id[:_SHORT_ID],
            plain(entry.begins, words),
            f"{entry.tokens:,}",
            show_size(entry.memory_bytes) if entry.in_memory else "on disk",
            f"{entry.shared_tokens:,}" if entry.shared_tokens else "-",
            f"{entry.hits:,}",
            show_seconds(entry.hits * entry.saves_seconds),
            show_ago(entry.idle_seconds),
            plain(_source(entry)),
        )
    console.print(table)


def _source(entry: Entry) -> str:
    origin = f"pin {entry.pin}" if entry.pin else "pinned" if entry.pinned else entry.client or "-"
    return f"{origin}, in use" if entry.in_use else origin

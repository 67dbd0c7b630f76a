"""pinfill pins and pinfill unpin"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError, out
from pinfill_service.commands.pin import read_documents, show_outcome, wait_until_settled
from pinfill_service.commands.remote import (
    Remote,
    build,
    confirm,
    connect,
    plain,
    print_model,
    show_ago,
    show_left,
    show_seconds,
    show_size,
    show_time,
)

if TYPE_CHECKING:
    from pinfill_service.api.schemas.manage import Pin, PinRefresh

app = typer.Typer(help="List what is pinned, and look after it.", invoke_without_command=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A pin, as 'pinfill pins' lists them.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Until it is warm.")]
_WIDE = 130  # characters of a terminal that has room for model names, too
_STALE_LENGTH = 500  # characters of the reason that a pin can hold
_VERIFY_SECONDS = 3_600.0  # it prefills a pin from nothing, behind whatever else is running


@app.callback()
def pins(
    context: typer.Context,
    json: Json = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay, watch the files of pins, and pin again what is to be refreshed.")
    ] = False,
) -> None:
    """List what is pinned: state, size, what it saves, and the model name to use it by."""
    if context.invoked_subcommand is not None:
        return
    if json and watch:
        raise CommandError("Choose one of --json and --watch.")
    from pinfill_service.api.schemas.manage import Pins

    with connect() as remote:
        listed = remote.get(Pins, "pins")
        if json:
            print_model(listed)
        elif listed.pins:
            _print_table(listed.pins)
        else:
            typer.echo("Nothing is pinned yet. Pin a document: pinfill pin FILE")
        if watch:
            _watch(remote)


@app.command()
def rename(name: Name, new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")]) -> None:
    """Give a pin another name. Programs that use it by its model name have to be told."""
    from pinfill_service.api.schemas.manage import Pin, PinChange

    with connect() as remote:
        pin = remote.patch(Pin, "pins", name, body=build(PinChange, name=new))
    use = f" Use it as the model: {pin.use_as}" if pin.use_as else ""
    typer.echo(f"{name} is called {pin.name} now.{use}", err=True)


@app.command()
def move(
    name: Name, position: Annotated[int, typer.Argument(min=1, help="Its place in the list; 1 is the first.")]
) -> None:
    """Put a pin at another place in the list."""
    from pinfill_service.api.schemas.manage import Pin, PinChange

    with connect() as remote:
        pin = remote.patch(Pin, "pins", name, body=build(PinChange, position=position - 1))
    typer.echo(f"{pin.name} is at place {pin.position + 1:,} now.", err=True)


@app.command()
def refresh(name: Name, wait: Wait = True, json: Json = False) -> None:
    """Read the files of a pin again and prefill what changed; a pin without files is prefilled where it has to be."""
    from pinfill_service.api.schemas.manage import Pin

    with connect() as remote:
        wanted = _read_again(remote.get(Pin, "pins", name))

        def send() -> Pin:
            return remote.post(Pin, "pins", name, "refresh", body=wanted)

        show_outcome(remote, wait_until_settled(remote, send) if wait else send(), json)


@app.command()
def rebuild(name: Name, wait: Wait = True, json: Json = False) -> None:
    """Make a pin of another model for the model that is loaded now, from what was pinned."""
    from pinfill_service.api.schemas.manage import Pin

    with connect() as remote:

        def send() -> Pin:
            return remote.post(Pin, "pins", name, "rebuild")

        show_outcome(remote, wait_until_settled(remote, send) if wait else send(), json)


@app.command()
def verify(
    name: Name,
    tokens: Annotated[int, typer.Option(min=1, max=256, help="How many words (tokens) of an answer to compare.")] = 16,
    json: Json = False,
) -> None:
    """Run a pin from nothing and from the cache, and compare the two. Exit code 1 when the answers differ."""
    from pinfill_service.api.schemas.manage import VerifyReport, VerifyRequest

    wanted = build(VerifyRequest, tokens=tokens)
    with connect() as remote:
        report = remote.post(VerifyReport, "pins", name, "verify", body=wanted, seconds=_VERIFY_SECONDS)
    if json:
        print_model(report)
    else:
        outcome = "equal to a cold run" if report.greedy_equal else "NOT equal to a cold run"
        typer.echo(f"{report.name} is {outcome}: {report.tokens_compared:,} tokens of the answer were compared.")
        typer.echo(f"Largest difference of a log probability: {report.largest_difference:.2g}")
        typer.echo(
            f"{report.cached_tokens:,} of {report.prompt_tokens:,} tokens came from the cache: "
            f"{show_seconds(report.cached_seconds)} instead of {show_seconds(report.cold_seconds)}."
        )
    if not report.greedy_equal:
        raise typer.Exit(1)


@app.command()
def show(
    name: Name,
    text: Annotated[bool, typer.Option("--text", help="Print what was pinned, and nothing else.")] = False,
    json: Json = False,
) -> None:
    """Tell all about one pin."""
    from pinfill_service.api.schemas.manage import Pin, PinText

    with connect() as remote:
        shown = remote.get(PinText, "pins", name, "content") if text else remote.get(Pin, "pins", name)
    if json:
        print_model(shown)
    elif isinstance(shown, PinText):
        content = shown.text
        typer.echo(shown.model_dump_json(include={"messages", "tools"}, indent=2) if content is None else content)
    else:
        _print_facts(shown)


def unpin(
    name: Name, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False, json: Json = False
) -> None:
    """Give a pin up: its files are deleted, and it may leave memory like anything else."""
    from pinfill_service.api.schemas.manage import Pin, Unpinned

    with connect() as remote:
        cost = _cost(remote.get(Pin, "pins", name).prefill_seconds)
        confirm(f"Unpin {name}?{cost}", f"pinfill unpin {name}", yes)
        gone = remote.delete(Unpinned, "pins", name)
    if json:
        print_model(gone)
    else:
        typer.echo(f"{gone.name} is not pinned any more.{_cost(gone.prefill_seconds)}", err=True)


def _cost(prefill_seconds: float | None) -> str:
    return "" if prefill_seconds is None else f" Needs {show_seconds(prefill_seconds)} of prefill to get it back."


def _read_again(pin: Pin) -> PinRefresh:
    """What a pin's files hold now. Raises CommandError for files that are gone or cannot be read any more."""
    from pathlib import Path

    from pinfill_service.api.schemas.manage import PinRefresh

    if not pin.sources:
        return build(PinRefresh)
    found, sources = read_documents([Path(source.path) for source in pin.sources])
    return build(PinRefresh, sources=sources, **{"raw_text" if pin.kind == "raw" else "text": found})


# -- watching ----------------------------------------------------------------------------------------------------------


def _watch(remote: Remote) -> None:
    """Until Ctrl-C: tells what becomes of the pins, and does what changed files ask for."""
    from pinfill_service.api.schemas.manage import Pins
    from pinfill_service.pins.watching import SourceWatcher

    with remote.events() as events:
        watcher = SourceWatcher(lambda name, why: _take_change(remote, name, why))
        try:
            watcher.update(remote.get(Pins, "pins").pins)
            typer.echo("Watching the files of pins. Ctrl-C ends it.", err=True)
            for event, data in events:
                if event == "pin.state":
                    reason = f" ({data['reason']})" if data["reason"] else ""
                    _tell(data["name"], f"{data['state'] or 'unpinned'}{reason}")
                if event in ("pin.state", "reset"):
                    watcher.update(remote.get(Pins, "pins").pins)
        finally:
            watcher.close()
    raise CommandError("The service stopped, and so did watching. Start it again with: pinfill serve")


def _take_change(remote: Remote, name: str, why: str | None) -> None:
    """A pin's files hold something else: it is pinned again if that was asked for, else said to be stale. None: they
    hold again what was pinned.
    """
    from pinfill_service.api.schemas.manage import Pin, PinChange

    _tell(name, why or "its files are again what was pinned")
    try:
        if why is None:
            remote.patch(Pin, "pins", name, body=build(PinChange, stale=""))
            return
        current = remote.get(Pin, "pins", name)
        try:
            wanted = _read_again(current) if current.auto_refresh else None
        except CommandError as error:  # a file is gone or cannot be read any more
            wanted, why = None, str(error)
        if wanted is None:
            remote.patch(Pin, "pins", name, body=build(PinChange, stale=why[:_STALE_LENGTH]))
        else:
            remote.post(Pin, "pins", name, "refresh", body=wanted)
    except CommandError as error:  # what is wrong with one pin does not end the watching of the others
        _tell(name, str(error))


def _tell(name: str, what: str) -> None:
    out().print(plain(f"{show_time(time.time())} {name}: {what}"), soft_wrap=True)


# -- showing -----------------------------------------------------------------------------------------------------------


def _print_table(listed: list[Pin]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("Name", overflow="fold")
    table.add_column("State")
    for title in ("Tokens", "Memory", "Hits", "Saved\ntoday", "Total", "Used"):
        table.add_column(title, justify="right", no_wrap=True)
    console, names = out(), [pin.use_as for pin in listed if pin.use_as]
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


def _print_facts(pin: Pin) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for title, value in _facts(pin):
        table.add_row(title, plain(value))
    out().print(table)


def _facts(pin: Pin) -> Iterator[tuple[str, str]]:
    yield "Pin", pin.name
    yield "State", _state(pin)
    yield "Use as model", pin.use_as or f"it was made for {pin.model}; make it anew: pinfill pins rebuild {pin.name}"
    shared = f", {pin.shared_tokens:,} of them shared with other pins" if pin.shared_tokens else ""
    yield "Tokens", f"{pin.tokens:,}{shared}"
    disk = f"{show_size(pin.disk_bytes)} on disk" if pin.on_disk else "not on disk: a restart prefills it again"
    yield "Size", f"{show_size(pin.memory_bytes)} in memory, {disk}"
    today = show_seconds(pin.saved_seconds_today)
    yield "Saved", f"{show_seconds(pin.saved_seconds)} of prefill in {pin.hits:,} hits, {today} of it today"
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

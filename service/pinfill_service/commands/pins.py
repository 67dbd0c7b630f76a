"""pinfill pins and pinfill unpin"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError
from pinfill_service.commands.pin import show_outcome, wait_until_settled
from pinfill_service.commands.pins_show import print_facts, print_table
from pinfill_service.commands.pins_watch import read_again, watch_files
from pinfill_service.commands.remote import build, confirm, connect, print_model, show_seconds

if TYPE_CHECKING:
    from pinfill_service.api.schemas.manage import Pin, PinRefresh

app = typer.Typer(help="List what is pinned, and look after it.", invoke_without_command=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A pin, as 'pinfill pins' lists them.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Until it is warm.")]
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
            print_table(listed.pins)
        else:
            typer.echo("Nothing is pinned yet. Pin a document: pinfill pin FILE")
        if watch:
            watch_files(remote)


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
        print_facts(shown)


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


def _read_again(pin: Pin) -> PinRefresh:
    try:
        return read_again(pin)
    except CommandError as error:
        words = f"{error} To go on with what was pinned: pinfill pins rebuild {pin.name}"
        raise CommandError(words, code=error.code) from None


def _cost(prefill_seconds: float | None) -> str:
    return "" if prefill_seconds is None else f" Needs {show_seconds(prefill_seconds)} of prefill to get it back."

"""pinfill pin"""

from __future__ import annotations

import json as jsons
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pinfill_service.commands.console import CommandError, err, out
from pinfill_service.commands.entries import cached_entries, find_entry
from pinfill_service.commands.pin_content import STDIN, conversation_of, name_from, text_of
from pinfill_service.commands.remote import (
    Remote,
    build,
    connect,
    plain,
    print_model,
    show_left,
    show_size,
)

if TYPE_CHECKING:
    from pinfill_service.api.schemas.manage import Pin, PinCreate, PinProgressEvent

SETTLED = frozenset({"warm", "cold", "stale", "failed"})


def pin(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE|FOLDER|-", help="Documents, in this order; - is standard input."),
    ] = None,
    text: Annotated[str | None, typer.Option(help="A text, instead of files.")] = None,
    messages: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Messages of a conversation, or a request body of OpenAI's or Anthropic's APIs."
        ),
    ] = None,
    tools: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Tool definitions for --messages, instead of its own.")
    ] = None,
    request: Annotated[
        str | None, typer.Option(metavar="ID", help="What a recent request began with; 'pinfill doctor' lists them.")
    ] = None,
    up_to: Annotated[
        str | None,
        typer.Option(metavar="SEGMENT", help="The last part of --request to keep, as 'pinfill doctor ID' names it."),
    ] = None,
    entry: Annotated[
        str | None, typer.Option(metavar="ID", help="A cached entry; 'pinfill entries' lists them.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What to call it. Default: after the first file or words.")] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Not a system prompt, but a text that /v1/completions continues as it is.")
    ] = False,
    auto_refresh: Annotated[
        bool, typer.Option("--auto-refresh", help="Pin again by itself when a file has changed.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until it is warm.")] = True,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before the files of a folder are read.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Keep a text warm: it is prefilled once, survives restarts and is never evicted.

    Give one of: files (text, source code, HTML, PDF, DOCX), --text, --messages, --request, --entry. A text becomes the
    system prompt of every request to the model NAME@PIN, which any program can choose like a model.

    Files are read by this command; the service never opens one.
    """
    given = {"files": files, "--text": text, "--messages": messages, "--request": request, "--entry": entry}
    origins = [origin for origin, value in given.items() if value]
    if len(origins) != 1:
        raise CommandError("Give one thing to pin: files, - (input), --text, --messages, --request or --entry.")
    options = {"--tools": tools, "--up-to": up_to, "--raw": raw, "--auto-refresh": auto_refresh}
    _check_options(origins[0], options, files)
    with connect() as remote:
        if request or entry:
            suggestion, content = "", _cached(remote, request, up_to, entry)
        elif messages:
            suggestion, content = messages.stem, conversation_of(messages, tools)
        else:
            suggestion, content = text_of(files or [], text, raw, yes)
        wanted = _named(name or name_from(suggestion), content, auto_refresh)
        show_outcome(remote, _create(remote, wanted, wait), json)


def _check_options(origin: str, options: Mapping[str, object], files: list[Path] | None) -> None:
    """Raises CommandError for an option that means nothing for what is pinned."""
    belongs = {
        "--tools": ("--messages",),
        "--up-to": ("--request",),
        "--raw": ("files", "--text"),
        "--auto-refresh": ("files",),
    }
    for option, origins in belongs.items():
        if options[option] and origin not in origins:
            raise CommandError(f"{option} goes with {' or '.join(origins)} only.")
    if files and STDIN in files and (len(files) > 1 or options["--auto-refresh"]):
        raise CommandError("Standard input (-) cannot be mixed with files, nor be refreshed. Give it alone.")


def _cached(remote: Remote, request: str | None, up_to: str | None, entry: str | None) -> dict[str, Any]:
    """Fields of PinCreate for what a request or an entry began with."""
    whole = find_entry(cached_entries(remote), entry).id if entry else None
    return {"request_id": request, "up_to": up_to, "entry_id": whole}


def _named(name: str, content: Mapping[str, Any], auto_refresh: bool) -> PinCreate:
    from pinfill_service.api.schemas.manage import PinCreate

    if not name:
        raise CommandError("This has no name of its own. Give it one: --name NAME")
    fields = {field: value for field, value in content.items() if value is not None}
    return build(PinCreate, name=name, auto_refresh=auto_refresh, **fields)


def _create(remote: Remote, wanted: PinCreate, wait: bool) -> Pin:
    from pinfill_service.api.schemas.manage import Pin

    def create() -> Pin:
        return remote.post(Pin, "pins", body=wanted)

    return wait_until_settled(remote, create) if wait else create()


# -- waiting -----------------------------------------------------------------------------------------------------------


def wait_until_settled(remote: Remote, act: Callable[[], Pin]) -> Pin:
    """The pin that `act` makes or changes, once there is nothing left to do for it. Shows on stderr how far it is."""
    from rich.progress import BarColumn, Progress, TextColumn

    from pinfill_service.api.schemas.manage import Pin, PinProgressEvent

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"))
    console = err()
    bars = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with remote.events() as events, bars:
        current = act()
        bar = bars.add_task(current.state, total=current.total or None, amount=f"{current.tokens:,} tokens")
        while current.state not in SETTLED:
            event, data = _next_about(current.name, events)
            if event == "pin.progress":
                step = PinProgressEvent.model_validate(data)
                bars.update(bar, total=step.total, completed=step.done, amount=_amount(step))
            else:
                current = remote.get(Pin, "pins", data.get("name", current.name))
                bars.update(bar, description=current.state)
        return current


def _next_about(name: str, events: Iterator[tuple[str, Any]]) -> tuple[str, Any]:
    """The next event that may change what is known of a pin. Raises CommandError when it is gone, or the service."""
    for event, data in events:
        if event == "reset":
            return event, data
        if event in ("pin.state", "pin.progress") and name in (data["name"], data.get("renamed_from")):
            if event == "pin.state" and data["state"] is None:
                raise CommandError(f"{name} was unpinned in the meantime.")
            return event, data
    raise CommandError(f"The service stopped before {name} was warm. It goes on when it is started: pinfill serve")


def _amount(step: PinProgressEvent) -> str:
    amount = f"{step.done:,} of {step.total:,} tokens"
    return amount if step.seconds_left is None else f"{amount}, {show_left(step.seconds_left)}"


# -- showing -----------------------------------------------------------------------------------------------------------


def show_outcome(remote: Remote, made: Pin, json: bool) -> None:
    """Tells what became of a pin and how to use it. Raises CommandError for one that failed."""
    if made.state == "failed":
        raise CommandError(f"{made.name} cannot be kept warm: {made.reason} Then: pinfill pins refresh {made.name}")
    if json:
        print_model(made)
        return
    console = out()
    reason = f" ({made.reason})" if made.reason else ""
    memory = f", {show_size(made.memory_bytes)}" if made.memory_bytes else ""
    console.print(plain(f"{made.name} is {made.state}{reason}: {made.tokens:,} tokens{memory}."), soft_wrap=True)
    if made.use_as is not None:
        console.print(plain(f"Use it as the model: {made.use_as}"), soft_wrap=True)
        console.print(plain(_curl(remote, made)), soft_wrap=True)
    if made.state not in SETTLED:
        typer.echo("'pinfill pins' shows when it is warm.", err=True)
    if made.auto_refresh:
        typer.echo("Its files are watched while the app or 'pinfill pins --watch' runs.", err=True)


def _curl(remote: Remote, made: Pin) -> str:
    """A command line that asks the pin something."""
    body: dict[str, Any] = {"model": made.use_as}
    if made.kind == "raw":
        route, body["prompt"] = "completions", "\n"
    else:
        route, body["messages"] = "chat/completions", [{"role": "user", "content": "Hello"}]
    key = ' -H "Authorization: Bearer $(pinfill key)"' if remote.needs_key else ""
    return f"curl {remote.url}/v1/{route}{key} -H 'Content-Type: application/json' -d {shlex.quote(jsons.dumps(body))}"

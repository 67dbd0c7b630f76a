"""pinfill doctor"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pinfill_service.commands.console import CommandError, out, print_json
from pinfill_service.commands.remote import (
    CACHED,
    PROCESSED,
    Remote,
    RemoteError,
    connect,
    plain,
    print_model,
    show_seconds,
    show_time,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from pinfill_service.api.schemas.manage import Finding, RequestDetail, RequestSummary
    from pinfill_service.cache.doctor import Finding as BodyFinding

_BAR, _CLIENT, _INDENT = 12, 11, 10  # characters
_SHORT_ID = 12  # characters of an id that tell requests apart in a list
_LOOK_BACK = 200  # requests, for one that is named by the beginning of its id


def doctor(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="ID|FILE", help="A request, or two saved request bodies.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=_LOOK_BACK, help="How many requests to list.")] = 20,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell why prompts were, or were not, served from the cache.

    Without arguments: the last requests. With the id of one, or the beginning of it: where it left what was cached, the
    text around that place then and now, and what to do. With two files: the first difference between two request
    bodies, of any API; that needs no service.
    """
    given = what or []
    if len(given) > 2:
        raise CommandError("Give the id of one request, or two files with request bodies.")
    if len(given) == 2:
        _compare(Path(given[0]), Path(given[1]), json)
        return
    if given and Path(given[0]).is_file():
        raise CommandError(f"{given[0]} needs another body to be compared with: pinfill doctor A.json B.json")
    with connect() as remote:
        if given:
            _one(remote, given[0], json)
        else:
            _list(remote, limit, json)


# -- the last requests -------------------------------------------------------------------------------------------------


def _list(remote: Remote, limit: int, json: bool) -> None:
    from pinfill_service.api.schemas.manage import Requests

    page = remote.get(Requests, "requests", limit=limit)
    if json:
        print_model(page)
        return
    if not page.requests:
        typer.echo("No request is remembered yet.")
        return
    from rich.padding import Padding

    console, day = out(), ""
    console.print(f"{'':<{_INDENT + _SHORT_ID + 2 + _CLIENT}}  {'':<{_BAR}}  {'cached':>7}  {'new':>7}  first word")
    for request in page.requests:
        then = time.localtime(request.at)
        if time.strftime("%Y-%m-%d", then) != day:
            day = time.strftime("%Y-%m-%d", then)
            console.print(day)
        console.print(_row(console, request, time.strftime("%H:%M:%S", then)), soft_wrap=True)
        why = _why(request)
        if why:
            console.print(Padding(plain(why), (0, 0, 0, _INDENT)))
    typer.echo("One of them in detail: pinfill doctor ID", err=True)


def _row(console: Console, request: RequestSummary, at: str) -> Text:
    """One request on one line of a table, as wide as a small terminal."""
    from rich.text import Text

    cached, new = request.cached_tokens, request.processed_tokens
    client = plain(request.client, _CLIENT).plain
    return Text.assemble(
        f"{at}  {plain(request.id[:_SHORT_ID]).plain}  {client:<{_CLIENT}}  ",
        _bar(console, cached, new),
        f"  {cached:>7,}  {new:>7,}  {show_seconds(request.ttft_seconds):>10}",
    )


def _bar(console: Console, cached: int, processed: int) -> Text:
    """A prompt as a bar that is partly already done."""
    from rich.text import Text

    done, new = ("#", "-") if console.options.ascii_only else ("\N{FULL BLOCK}", "\N{LIGHT SHADE}")
    total = cached + processed
    width = round(_BAR * cached / total) if total else 0
    if cached and processed:  # a little of either is seen as a little, not as nothing
        width = min(max(width, 1), _BAR - 1)
    return Text.assemble((done * width, CACHED), (new * (_BAR - width), PROCESSED))


def _why(request: RequestSummary) -> str:
    """A few words for the table."""
    from pinfill_service.cache.doctor import TITLES

    if request.error:
        return f"failed: {request.error}"
    if request.finding is None:
        return request.miss_reason or ""
    titles: dict[Any, str] = dict(TITLES)
    title = titles.get(request.finding.kind, request.finding.explanation)
    return f"{where}: {title}" if (where := _where(request.finding)) else title


def _where(finding: Finding) -> str:
    """At which token of which part a prompt left what was cached; empty where that means nothing."""
    if finding.position_tokens is None:
        return ""
    part = f", in {finding.segment!r}" if finding.segment else ""
    return f"left what was cached at token {finding.position_tokens:,}{part}"


# -- one request -------------------------------------------------------------------------------------------------------


def _one(remote: Remote, wanted: str, json: bool) -> None:
    detail = _find(remote, wanted)
    if json:
        print_model(detail)
        return
    console = out()
    head = (show_time(detail.at), detail.client, detail.model, detail.route, detail.id)
    console.print(plain(", ".join(head)), soft_wrap=True)
    console.print(
        _bar(console, detail.cached_tokens, detail.processed_tokens),
        f" {detail.cached_tokens:,} cached  {detail.processed_tokens:,} new  first word after "
        f"{show_seconds(detail.ttft_seconds)}  {show_seconds(detail.saved_seconds)} saved",
        soft_wrap=True,
    )
    if detail.error:
        console.print(plain(f"It failed: {detail.error}"))
    if detail.finding is not None:
        _print_finding(console, detail.finding, _where(detail.finding))
    elif detail.miss_reason:
        console.print(plain(f"Why: {detail.miss_reason}"), soft_wrap=True)
    _print_segments(console, detail)
    if detail.can_be_pinned:
        typer.echo(f"To keep what it began with: pinfill pin --request {detail.id} --up-to PART --name NAME", err=True)


def _find(remote: Remote, wanted: str) -> RequestDetail:
    """A request by its id or by the beginning of it. Raises CommandError."""
    from pinfill_service.api.schemas.manage import RequestDetail, Requests

    try:
        return remote.get(RequestDetail, "requests", wanted)
    except RemoteError as error:
        if error.status != 404:
            raise
        known = [request.id for request in remote.get(Requests, "requests", limit=_LOOK_BACK).requests]
        matching = [name for name in known if name.startswith(wanted)]
        if len(matching) > 1:
            raise CommandError(f"{len(matching)} requests begin with {wanted!r}. Give more of the id.") from None
        if not matching:
            raise CommandError(f"{error} 'pinfill doctor' lists those that are remembered.") from None
        return remote.get(RequestDetail, "requests", matching[0])


def _print_finding(console: Console, finding: Finding | BodyFinding, where: str) -> None:
    if where:
        console.print(plain(f"It {where}."), soft_wrap=True)
    console.print(plain(f"Why: {finding.explanation}"), soft_wrap=True)
    for title, style, text in (("  earlier: ", CACHED, finding.before), ("  now:     ", PROCESSED, finding.after)):
        if text:
            console.print(_excerpt(title, style, text), soft_wrap=True)
    if finding.suggestion:
        console.print(plain(f"What to do: {finding.suggestion}"), soft_wrap=True)


def _excerpt(title: str, style: str, text: str) -> Text:
    """Some of a prompt on one line; what cannot be seen is spelled out, for it may be all that differs."""
    from rich.text import Text

    visible = "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text)
    return Text.assemble(title, (visible, style))


def _print_segments(console: Console, detail: RequestDetail) -> None:
    """The parts of the prompt, and how much of each was cached."""
    if not detail.segments:
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("Part of the prompt", overflow="fold")
    for title in ("Tokens", "Cached"):
        table.add_column(title, justify="right")
    start = 0
    for segment in detail.segments:
        cached = min(max(detail.cached_tokens - start, 0), segment.tokens)
        table.add_row(plain(segment.label), f"{segment.tokens:,}", f"{cached:,}")
        start += segment.tokens
    console.print()
    console.print(table)


# -- two bodies --------------------------------------------------------------------------------------------------------


def _compare(first: Path, second: Path, json: bool) -> None:
    from dataclasses import asdict

    from pinfill_service.cache.doctor import compare_bodies

    finding = compare_bodies(_read_body(first), _read_body(second))
    if json:
        print_json(asdict(finding))
        return
    _print_finding(out(), finding, f"differs first in {finding.path}" if finding.path else "")


def _read_body(path: Path) -> dict[str, Any]:
    from json import loads

    try:
        body = loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path} is not JSON: {error}.") from None
    if not isinstance(body, dict):
        raise CommandError(f"{path} is no request body: it holds no JSON object.")
    return body

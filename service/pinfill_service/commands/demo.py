"""pinfill demo"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import out, print_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pinfill_service.commands.client import MeasuringClient
    from pinfill_service.commands.demo_run import Row, Totals


def demo(
    requests: Annotated[int, typer.Option(min=2, help="How many essays are rated.")] = 10,
    prefix_tokens: Annotated[
        int | None, typer.Option(min=16, help="Cut or repeat the rubric to this length. Default: as it is, about 1880.")
    ] = None,
    cold_requests: Annotated[int, typer.Option(min=1, help="How many are also measured without the cache.")] = 3,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the table.")] = False,
) -> None:
    """Show what the cache is worth on this machine.

    Short essays are rated against one long rubric, each in a request of its own, as independent one-shot requests. The
    first few are asked twice: without the cache (cold) and with it (warm), and both answers must be equal. The default
    model is fetched when it is not there. Exit code 1 when answers differ.
    """
    from pinfill_service.commands.client import MeasuringClient
    from pinfill_service.commands.demo_run import load_essays, load_rubric, rate, total
    from pinfill_service.commands.local_service import local_service
    from pinfill_service.commands.models import pull_if_missing
    from pinfill_service.settings import DEFAULT_MODEL

    pull_if_missing(DEFAULT_MODEL)
    essays = load_essays()
    with local_service(model=DEFAULT_MODEL) as service, MeasuringClient(service.url, service.key) as client:
        rubric = load_rubric(client, prefix_tokens)
        rows = rate(client, rubric, essays, requests, min(cold_requests, requests))
        if json:
            measured = list(rows)
            totals = total(measured)
            print_json({"model": service.model.name, **asdict(totals), "rows": [_as_json(row) for row in measured]})
        else:
            typer.echo(_opening(service.model.name, client, rubric, requests), err=True)
            totals = total(_show(rows))
            for line in _closing(totals):
                out().print(line, soft_wrap=True)
    if not totals.equal:
        raise typer.Exit(1)


def _opening(model: str, client: MeasuringClient, rubric: str, requests: int) -> str:
    length = len(client.tokenize(rubric))
    return f"{model} rates {requests} short essays against one rubric of {length:,} tokens, each in its own request.\n"


def _show(rows: Iterable[Row]) -> list[Row]:
    """Draws the table as the rows come, and returns them."""
    from rich.live import Live

    measured: list[Row] = []
    with Live(_table(measured), console=out(), auto_refresh=False, vertical_overflow="visible") as live:
        for row in rows:
            measured.append(row)
            live.update(_table(measured), refresh=True)
    return measured


def _table(rows: list[Row]) -> RenderableType:
    from rich.table import Table

    from pinfill_service.commands.demo_run import cold_ttft, saved_seconds

    table = Table(box=None, pad_edge=False)
    for title in ("#", "TTFT cold", "TTFT warm", "cached", "processed", "saved"):
        table.add_column(title, justify="right")
    for row in rows:
        measured = "" if row.cold else "~"
        saved = "" if row is rows[0] else f"{measured}{saved_seconds(row, cold_ttft(rows)):.2f} s"
        table.add_row(
            str(row.number),
            f"{row.cold.ttft_seconds:.2f} s" if row.cold else "",
            f"{1000 * row.warm.ttft_seconds:,.0f} ms",
            f"{row.warm.cached_tokens or 0:,}",
            f"{row.warm.processed_tokens or 0:,}",
            saved,
        )
    return table


def _closing(totals: Totals) -> Iterable[str]:
    about = "" if totals.cold_requests == totals.requests else "about "
    yield (
        f"\n{totals.requests} ratings: {about}{totals.cold_seconds:.1f} s cold, {totals.warm_seconds:.1f} s warm; "
        f"{about}{totals.saved_seconds:.1f} s of prefill saved; first word after {1000 * totals.warm_ttft:,.0f} ms "
        f"instead of {totals.cold_ttft:.2f} s."
    )
    if about:
        yield (
            f"The cold run was measured on {totals.cold_requests} of {totals.requests}; the rest is estimated from "
            "those (~). The first warm rating fills the cache, and its time is in the sum."
        )
    else:
        yield "The first warm rating fills the cache, and its time is in the sum."
    compared = f"Cold and warm answers compared: {totals.cold_requests}."
    if totals.equal:
        yield f"{compared} [green]All are equal, word for word.[/green]"
    else:
        yield (
            f"{compared} [bold red]WARNING: at least one pair is NOT equal. The cache must never change an answer: "
            "please report this, with the output of --json.[/bold red]"
        )


def _as_json(row: Row) -> dict[str, object]:
    return {
        "number": row.number,
        "equal": row.equal,
        "warm": asdict(row.warm),
        "cold": asdict(row.cold) if row.cold else None,
    }

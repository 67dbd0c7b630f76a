"""pinfill bench"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError, err, out, print_json

if TYPE_CHECKING:
    from pinfill_service.commands.bench_run import Plan, Server

OURS, THEIRS = "pinfill", "other"
_OWN_SEED_BITS = 32


class Route(StrEnum):
    """Which of OpenAI's routes is measured."""

    completions = "completions"
    chat = "chat"


def bench(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document with every sample.")] = False,
    requests: Annotated[int, typer.Option(min=1, help="Warm requests, and requests in a throughput batch.")] = 10,
    cold_requests: Annotated[int, typer.Option(min=1, help="Prefixes that are prefilled from nothing.")] = 3,
    prefix_tokens: Annotated[int, typer.Option(min=1, help="Length of the shared prefix.")] = 1880,
    payload_tokens: Annotated[int, typer.Option(min=1, help="Length of what follows it, new in every request.")] = 35,
    max_tokens: Annotated[int, typer.Option(min=1, help="New tokens of a request in a throughput batch.")] = 16,
    decode_tokens: Annotated[int, typer.Option(min=2, help="New tokens where decoding is measured.")] = 64,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Requests at once in a throughput batch.")] = 8,
    route: Annotated[Route, typer.Option(help="What is called.")] = Route.completions,
    seed: Annotated[
        int | None, typer.Option(help="Words of the prompts. Default: 0; with --url or --against a new one each time.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME_OR_FOLDER", help="What to serve, without --url.")] = None,
    url: Annotated[str | None, typer.Option(help="A Pinfill that runs already. Default: one of its own.")] = None,
    key: Annotated[str | None, typer.Option(envvar="PINFILL_API_KEY", help="The key of --url.")] = None,
    against: Annotated[
        str | None, typer.Option(help="URL of another OpenAI-compatible server to compare with.")
    ] = None,
    against_model: Annotated[str | None, typer.Option(help="Its model. Default: the first it lists.")] = None,
    against_key: Annotated[str | None, typer.Option(help="Its key.")] = None,
) -> None:
    """Measure prefill, time to the first token, decoding and throughput over HTTP.

    Prompts are words in random order: a long prefix and a short payload. Answers are greedy, and go on to the wanted
    number of tokens. Phases: prefixes nobody has seen (cold); one prefix shared by every request, one after another
    (warm); longer answers after that prefix (decode); batches at a concurrency (throughput).

    With --against, both servers get the same requests by turns, and ratios are ours / theirs: the median over the
    rounds. For a comparison without this program's own work in the service's process, start 'pinfill serve' and give
    its --url. A running server may remember the prompts of an earlier run with the same --seed.
    """
    if url is not None and model is not None:
        raise CommandError("--model is for a service of this command's own; the one at --url has its model already.")
    from pinfill_service.commands.bench_run import Plan

    if seed is None:
        seed = secrets.randbits(_OWN_SEED_BITS) if url or against else 0
    plan = Plan(
        requests,
        cold_requests,
        prefix_tokens,
        payload_tokens,
        max_tokens,
        decode_tokens,
        concurrency,
        route.value,
        seed,
    )
    with ExitStack() as stack:
        target = (url, key) if url else stack.enter_context(_own_service(model, concurrency))
        servers = [stack.enter_context(_server(OURS, *target, None))]
        if against:
            servers.append(stack.enter_context(_server(THEIRS, against, against_key, against_model)))
        _run(plan, servers)
        if json:
            print_json(_document(plan, servers))
        else:
            _print_table(plan, servers)


@contextmanager
def _own_service(model: str | None, concurrency: int) -> Iterator[tuple[str, str | None]]:
    from pinfill_service.commands.local_service import local_service

    with local_service(model=model, slots=concurrency if concurrency > 8 else None) as service:
        yield service.url, service.key


@contextmanager
def _server(label: str, url: str, key: str | None, model: str | None) -> Iterator[Server]:
    from pinfill_service.commands.bench_run import Server
    from pinfill_service.commands.client import MeasuringClient

    with MeasuringClient(url, key) as probe:
        model = model or probe.first_model()
    with MeasuringClient(url, key, model) as client:
        yield Server(label, client, model)


def _run(plan: Plan, servers: list[Server]) -> None:
    from pinfill_service.commands.bench_prompts import PromptMaker
    from pinfill_service.commands.bench_run import Bench

    ours = servers[0].client
    prompts = PromptMaker(lambda text: len(ours.tokenize(text)), plan.seed)
    with err().status("preparing") as status:
        show: Callable[[str], None] = status.update
        Bench(plan, servers, prompts).run(show)


def _document(plan: Plan, servers: list[Server]) -> dict[str, object]:
    from pinfill_service.commands.bench_numbers import compare, raw, savings, summarise
    from pinfill_service.commands.machine import machine_facts

    saved = {server.label: savings(server.samples) for server in servers}
    return {
        "plan": asdict(plan),
        "machine": machine_facts(),
        "servers": {
            server.label: {
                "url": server.client.url,
                "model": server.model,
                "medians": summarise(server.samples),
                "rounds": raw(server.samples),
                "savings": None if (found := saved[server.label]) is None else asdict(found) | {"ratio": found.ratio},
                "samples": asdict(server.samples),
            }
            for server in servers
        },
        "ratios": compare(servers[0].samples, servers[1].samples) if len(servers) > 1 else None,
    }


def _print_table(plan: Plan, servers: list[Server]) -> None:
    from rich.table import Table

    from pinfill_service.commands.bench_numbers import METRICS, compare, summarise
    from pinfill_service.commands.machine import machine_facts

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for server in servers:
        table.add_column(f"{server.label}: {server.model or 'unknown model'}", justify="right")
    columns: list[Mapping[str, float | None]] = [summarise(server.samples) for server in servers]
    if len(servers) > 1:
        table.add_column("ours / theirs", justify="right")
        columns.append(compare(servers[0].samples, servers[1].samples))
    for metric in METRICS:
        units = [metric.unit] * len(servers) + ["x"]
        cells = [_cell(values[metric.name], unit) for values, unit in zip(columns, units, strict=False)]
        table.add_row(metric.title, *cells)
    facts = machine_facts()
    console = out()
    console.print(table)
    for line in filter(None, map(_savings_line, servers)):
        console.print(line, soft_wrap=True)
    console.print(
        f"\nMedians over the rounds; a ratio is the median of each round's own.\n"
        f"Prompts: {_prompt_tokens(servers)} tokens; {plan.max_tokens} new tokens at concurrency {plan.concurrency} "
        f"(throughput), {plan.decode_tokens} (decode); /v1/{plan.route}, seed {plan.seed}.\n"
        f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_mib']} MiB; onnxruntime {facts['onnxruntime']}, "
        f"Pinfill {facts['pinfill']}.",
        soft_wrap=True,
    )


def _savings_line(server: Server) -> str | None:
    from pinfill_service.commands.bench_numbers import savings

    found = savings(server.samples)
    if found is None:
        return None
    ratio = "" if found.ratio is None else f"; ledger / measured: {found.ratio:.2f}"
    return (
        f"\n{server.label}: {found.requests:,} warm requests saved {found.ledger_seconds:,.1f} s of prefill by the "
        f"ledger, and {found.measured_seconds:,.1f} s measured (median cold TTFT minus theirs){ratio}."
    )


def _prompt_tokens(servers: list[Server]) -> str:
    """What the servers counted: the smallest and the largest prompt of the warm phase."""
    counted = [answer.prompt_tokens for server in servers for answer in server.samples.warm if answer.prompt_tokens]
    if not counted:
        return "unknown"
    low, high = min(counted), max(counted)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _cell(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    digits = 2 if unit == "x" or value < 10 else 1 if value < 1000 else 0
    return f"{value:,.0f} {unit}" if unit == "tok" else f"{value:,.{digits}f} {unit}"

"""pinfill status"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import out
from pinfill_service.commands.remote import connect, plain, print_model, show_seconds, show_size

if TYPE_CHECKING:
    from pinfill_service.api.schemas.manage import Activity, DiskUse, LoadedModel, MemoryUse, PinState, Status

_PIN_STATES: tuple[PinState, ...] = ("warm", "cold", "prefilling", "queued", "stale", "failed")


def status(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Tell what the running service does: its model, where that runs and why, memory, disk, queue, problems."""
    from pinfill_service.api.schemas.manage import Status

    with connect() as remote:
        state = remote.get(Status, "status")
    if json:
        print_model(state)
        return
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for title, value in (("Pinfill", f"{state.version} at {remote.url}/v1, process {state.pid}"), *_lines(state)):
        table.add_row(title, plain(value))
    out().print(table)


def _lines(state: Status) -> Iterator[tuple[str, str]]:
    yield "Running for", show_seconds(state.uptime_seconds)
    yield from _about_model(state.model, state.model_state)
    if state.activity is not None:
        yield from _about_activity(state.activity)
    if state.memory is not None:
        yield "Memory", _memory(state.memory)
    if state.disk is not None:
        yield "Disk", _disk(state.disk)
    counts = [f"{state.pins[name]:,} {name}" for name in _PIN_STATES if state.pins.get(name)]
    yield "Pins", ", ".join(counts) or "none; make one with: pinfill pin FILE"
    yield "Saved today", f"{show_seconds(state.saved_seconds_today)} of prefill"
    for problem in state.problems:
        yield "Problem", problem.message


def _about_model(model: LoadedModel | None, state: str) -> Iterator[tuple[str, str]]:
    if model is None:
        yield "Model", "being loaded" if state == "loading" else f"none ({state})"
        return
    yield "Model", model.name if state == "loaded" else f"{model.name} ({state})"
    yield "Runs on", f"{model.provider} ({model.provider_note})" if model.provider_note else model.provider
    full = show_size(model.context_length * model.kv_bytes_per_token)
    yield "Context", f"{model.context_length:,} tokens, {full} when full"


def _about_activity(activity: Activity) -> Iterator[tuple[str, str]]:
    yield "Slots", f"{activity.running} of {activity.slots} in use, {activity.waiting:,} waiting"
    total = activity.prompt_tokens_cached + activity.prompt_tokens_processed
    if total:
        share = activity.prompt_tokens_cached / total
        yield "Prompts", f"{activity.prompt_tokens_cached:,} of {total:,} tokens came from the cache ({share:.0%})"
    speeds = (
        ("prefill", activity.prefill_tokens_per_second),
        ("decode", activity.decode_tokens_per_second),
    )
    known = [f"{name} {speed:,.0f} tokens/s" for name, speed in speeds if speed is not None]
    if known:
        yield "Speed", ", ".join(known)


def _memory(memory: MemoryUse) -> str:
    parts = ((memory.pinned_bytes, "pinned"), (memory.cached_bytes, "cached"), (memory.free_bytes, "free"))
    return f"{', '.join(f'{show_size(size)} {name}' for size, name in parts)} of {show_size(memory.budget_bytes)}"


def _disk(disk: DiskUse) -> str:
    if not disk.budget_bytes:
        return "nothing is kept on disk"
    return f"{show_size(disk.used_bytes)} of {show_size(disk.budget_bytes)}"

"""A progress bar for pulling and importing models, and the same for programs that draw their own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from pinfill_service.commands.console import err, format_bytes

_TITLES = {
    "download": "Downloading",
    "unpack": "Unpacking",
    "check": "Checking",
    "layers": "Converting layers",
    "copy": "Copying",
    "waiting": "Waiting for another process that works on this model",
}
_IN_BYTES = frozenset({"download", "unpack", "check", "copy"})
_TELL_SECONDS = 0.1


@contextmanager
def model_progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """Gives the callback that ModelLibrary reports to; a bar for each stage, on stderr."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[amount]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err()) as bars:
        stages: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int | None) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(_TITLES.get(stage, stage), total=total, amount="")
            bars.update(stages[stage], completed=done, total=total, amount=_amount(stage, done, total))

        yield report


@contextmanager
def progress_lines() -> Iterator[Callable[[str, int, int | None], None]]:
    """The same callback; it prints `{"stage": ..., "done": ..., "total": ...}`, a few times a second, on stderr."""
    told, stage_told = 0.0, ""

    def report(stage: str, done: int, total: int | None) -> None:
        nonlocal told, stage_told
        now = time.monotonic()
        if stage != stage_told or done == total or now - told >= _TELL_SECONDS:
            told, stage_told = now, stage
            typer.echo(json.dumps({"stage": stage, "done": done, "total": total}), err=True)

    yield report


def _amount(stage: str, done: int, total: int | None) -> str:
    if stage == "waiting":
        return ""
    show = format_bytes if stage in _IN_BYTES else str
    return show(done) if total is None else f"{show(done)} of {show(total)}"

"""pinfill selftest"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import err, out

if TYPE_CHECKING:
    from pinfill_service.selftest.report import NpuFacts, Report


def selftest(
    model: Annotated[str | None, typer.Option(metavar="NAME_OR_FOLDER", help="The model to try.")] = None,
    no_model: Annotated[bool, typer.Option("--no-model", help="Only look at the machine.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at the machine, load the model, and ask it the same thing from nothing and from the cache.

    What it prints is fit for a bug report: no keys, no prompts, no user names in paths. Exit code 1 when no answer
    came, or another one from the cache.
    """
    from pinfill_service.selftest.run import self_test
    from pinfill_service.settings import Settings

    console = err()
    with console.status("Starting") as status:
        report = self_test(Settings.from_flags(model=model), status.update, with_model=not no_model)
    if json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        _print(report)
    if not (no_model or report.passed):
        raise typer.Exit(1)


def _print(report: Report) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for title, value in _lines(report):
        table.add_row(title, Text(value))
    out().print(table)


def _lines(report: Report) -> Iterator[tuple[str, str]]:
    facts = report.machine
    yield "Pinfill", f"{facts['pinfill']}, Python {facts['python']}, {facts['system']}"
    memory = f"{facts['memory_mib']:,} MiB" if isinstance(facts["memory_mib"], int) else "unknown"
    yield "Machine", f"{facts['cpu']}, {facts['cores']} cores, {memory} of memory"
    if (runtime := report.onnxruntime) is not None:
        yield "onnxruntime", f"{runtime.version} ({runtime.distribution or 'wheel unknown'})"
        yield "Providers", ", ".join(runtime.providers)
        yield "Devices", ", ".join(runtime.devices) or "none listed"
    for npu in report.npus:
        yield "NPU", _about(npu)
    if not report.npus:
        yield "NPU", f"none found; /dev/accel: {', '.join(report.accel_nodes) or 'nothing there'}"
    if (library := report.ryzenai) is not None:
        found = "found" if library.found else "not there" if library.named else "not named (RYZENAI_EP_PATH)"
        yield "RyzenAI", library.error or found
    if (model := report.model) is not None:
        yield "Model", f"{model.name}, {model.context_length:,} tokens of context"
        yield "Runs on", f"{model.provider} ({model.note})"
    if (run := report.request) is not None:
        yield "First word", f"{run.cold_seconds:.2f} s from nothing, {run.warm_seconds:.2f} s from the cache"
        yield "Cached", f"{run.cached_tokens:,} of {run.prompt_tokens:,} tokens"
        yield "Answers", "equal" if run.equal else "DIFFERENT"
    for problem in report.problems:
        yield "Problem", problem.message


def _about(npu: NpuFacts) -> str:
    path = "can run language models, not yet verified on hardware" if npu.runs_llms else "has no path for them"
    driver = f"driver {npu.driver} {npu.driver_version or ''}".strip() if npu.driver else "no driver"
    return f"{npu.name} ({npu.pci_id}), {driver}; {path}"

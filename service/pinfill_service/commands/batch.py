"""pinfill batch"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError, err

if TYPE_CHECKING:
    from pinfill_service.commands.batch_files import OutputFile, Task
    from pinfill_service.commands.batch_run import Counts


def batch(
    source: Annotated[Path, typer.Argument(metavar="IN.jsonl", help="Requests, one a line.")],
    target: Annotated[Path, typer.Argument(metavar="OUT.jsonl", help="Where records are appended.")],
    url: Annotated[str | None, typer.Option(help="A service that runs already. Default: one of its own.")] = None,
    key: Annotated[str | None, typer.Option(envvar="PINFILL_API_KEY", help="The key of --url.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME_OR_FOLDER", help="What to serve, without --url.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Requests at once.")] = 4,
) -> None:
    """Answer a file of requests, in the format of OpenAI's batches.

    A line holds custom_id, method, url (/v1/chat/completions or /v1/completions) and body; a record holds id,
    custom_id, response (status_code, request_id, body) and error. Answers are never streamed.

    Requests that begin with the same text (first message, or prompt) are sent one after another, so that what they
    share is prefilled once; apart from that the order of the file is kept. Records are written as answers complete:
    match them by custom_id, not by position.

    The same command goes on where it was stopped: a custom_id that has a record is not sent again, and a last record
    that was written only in part is replaced. A line that is no request, or repeats a custom_id, gets an error record
    with its line number. A busy server (429, 503) is asked again, with growing pauses.
    """
    from pinfill_service.commands.batch_files import OutputFile, Task, neighbours, read_tasks

    if url is not None and model is not None:
        raise CommandError("--model is for a service of this command's own; the one at --url has its model already.")
    if target.exists() and source.exists() and target.samefile(source):
        raise CommandError("The two files are the same. Give another one for the output.")
    lines = list(read_tasks(source))
    with OutputFile(target) as output:
        missing = [line for line in lines if not output.holds(line)]
        tasks = [line for line in missing if isinstance(line, Task)]
        bad = [line for line in missing if not isinstance(line, Task)]
        for line in bad:
            output.append(line.record())
        counts = _answer(neighbours(tasks), output, url, key, model, concurrency) if tasks else None
    _tell(target, len(lines) - len(missing), len(bad), counts)


def _answer(
    tasks: list[Task], output: OutputFile, url: str | None, key: str | None, model: str | None, concurrency: int
) -> Counts:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from pinfill_service.commands.batch_run import BatchRunner

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with _service(url, key, model, concurrency) as (address, secret), Progress(*columns, console=err()) as bars:
        bar = bars.add_task("Answering", total=len(tasks))

        def take(record: Mapping[str, object]) -> None:
            output.append(record)
            bars.advance(bar)

        runner = BatchRunner(address, secret, concurrency, take)
        asyncio.run(runner.run(tasks))
        return runner.counts


@contextmanager
def _service(url: str | None, key: str | None, model: str | None, concurrency: int) -> Iterator[tuple[str, str | None]]:
    if url is not None:
        yield url, key
        return
    from pinfill_service.commands.local_service import local_service

    with local_service(model=model, slots=concurrency if concurrency > 8 else None) as service:
        yield service.url, service.key


def _tell(target: Path, there: int, bad: int, counts: Counts | None) -> None:
    parts = [f"{there} were there"] if there else []
    if counts is not None:
        parts.append(f"{counts.answered} answered")
        if counts.refused:
            parts.append(f"{counts.refused} refused by the service")
    if bad:
        parts.append("1 line that is no request" if bad == 1 else f"{bad} lines that are no requests")
    typer.echo(f"{target}: {', '.join(parts) or 'nothing to do'}.", err=True)
    if counts is not None and counts.prompt_tokens:
        share = f"{counts.cached_tokens / counts.prompt_tokens:.0%}"
        tokens = f"{counts.cached_tokens:,} of {counts.prompt_tokens:,}"
        typer.echo(f"{tokens} prompt tokens came from the cache ({share}).", err=True)

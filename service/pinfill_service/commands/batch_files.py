"""The two files of a batch: requests to read, records to append."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pinfill_service.commands.console import CommandError

_ID = "batch_req_"
ROUTES = ("/v1/chat/completions", "/v1/completions")


class BatchFileError(CommandError):
    """One of the files is not what it has to be."""


@dataclass(frozen=True, slots=True)
class Task:
    """A request of the input. `line` counts from 1."""

    line: int
    custom_id: str
    url: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no request, and why."""

    line: int
    custom_id: str | None
    code: str
    reason: str

    def record(self) -> dict[str, object]:
        """The error record. `line` marks it as one about the line, not about the custom_id."""
        error = {"code": self.code, "message": f"line {self.line}: {self.reason}", "line": self.line}
        return {"id": record_id(), "custom_id": self.custom_id, "response": None, "error": error}


def record_id() -> str:
    """A new id for a record of the output."""
    return f"{_ID}{uuid.uuid4().hex}"


def read_tasks(path: Path) -> Iterator[Task | BadLine]:
    """Every line that is not empty. A custom_id that was there before makes a bad line. Raises OSError."""
    seen: set[str] = set()
    with path.open("rb") as file:
        for number, content in enumerate(file, 1):
            if not content.strip():
                continue
            task = _parse(number, content)
            if isinstance(task, Task) and task.custom_id in seen:
                task = BadLine(number, task.custom_id, "duplicate_custom_id", "this custom_id was there before")
            if isinstance(task, Task):
                seen.add(task.custom_id)
            yield task


def _parse(number: int, content: bytes) -> Task | BadLine:
    try:
        value = json.loads(content)
    except ValueError as error:  # a wrong encoding too
        return BadLine(number, None, "invalid_json", f"not JSON ({error})")
    if not isinstance(value, dict):
        return BadLine(number, None, "invalid_line", "not a JSON object")
    custom_id, url, body = value.get("custom_id"), value.get("url"), value.get("body")
    if not isinstance(custom_id, str) or not custom_id:
        return BadLine(number, None, "invalid_custom_id", "custom_id has to be a text")
    if value.get("method", "POST") != "POST":
        return BadLine(number, custom_id, "invalid_method", "method has to be POST")
    if url not in ROUTES:
        return BadLine(number, custom_id, "invalid_url", f"url has to be one of {', '.join(ROUTES)}")
    if not isinstance(body, dict):
        return BadLine(number, custom_id, "invalid_body", "body has to be a JSON object")
    return Task(number, custom_id, url, body)


def neighbours(tasks: Sequence[Task]) -> list[Task]:
    """The tasks in an order in which equal beginnings are neighbours; those that begin alike keep their order."""
    return sorted(tasks, key=_beginning)


def _beginning(task: Task) -> tuple[str, str]:
    """The route, and a conversation's first message or the prompt, as text."""
    messages = task.body.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else task.body.get("prompt")
    content = first.get("content") if isinstance(first, dict) else first
    return task.url, content if isinstance(content, str) else json.dumps(content)


class OutputFile:
    """The records so far. Opening repairs a last line that was written only in part; every record is one write.

    Raises OSError, or BatchFileError for a file that holds something else.
    """

    def __init__(self, path: Path) -> None:
        self.done_ids: set[str] = set()
        self.done_lines: set[int] = set()
        self._file = path.open("ab", buffering=0)
        try:
            self._read(path)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def holds(self, task: Task | BadLine) -> bool:
        """Whether the file has the task's record already."""
        return task.line in self.done_lines if isinstance(task, BadLine) else task.custom_id in self.done_ids

    def append(self, record: Mapping[str, object]) -> None:
        """Writes a record. Raises OSError."""
        self._file.write(json.dumps(record).encode() + b"\n")

    def _read(self, path: Path) -> None:
        """Remembers the records, and leaves the file at the end of a whole line."""
        whole, content = 0, b"\n"
        with path.open("rb") as file:
            for number, content in enumerate(file, 1):
                record = _record(content)
                if record is not None:
                    self._remember(record)
                elif _is_torn(content):
                    self._file.truncate(whole)
                    return
                elif content.strip():
                    raise BatchFileError(f"{path}, line {number}, is no batch record. Give another output file.")
                whole += len(content)
        if not content.endswith(b"\n"):
            self._file.write(b"\n")

    def _remember(self, record: Mapping[str, Any]) -> None:
        line = (record.get("error") or {}).get("line")
        if isinstance(line, int):
            self.done_lines.add(line)
        else:
            self.done_ids.add(str(record["custom_id"]))


def _record(content: bytes) -> dict[str, Any] | None:
    """A record, or None for anything else."""
    try:
        value = json.loads(content)
    except ValueError:
        return None
    is_record = isinstance(value, dict) and {"id", "custom_id", "response", "error"} <= value.keys()
    return value if is_record else None


def _is_torn(content: bytes) -> bool:
    """Whether this is the beginning of a record that was not written to its end, and not of somebody's own file."""
    beginning = f'{{"id": "{_ID}'.encode()
    return not content.endswith(b"\n") and (content.startswith(beginning) or beginning.startswith(content))

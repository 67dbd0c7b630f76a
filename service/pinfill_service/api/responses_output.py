"""Output items of the Responses API, and the events that tell of them while they grow."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from pinfill_service.api.json_text import sse_event
from pinfill_service.api.responses_tools import OfferedTools
from pinfill_service.prompt.reply import CallArguments, CallBegins, CallEnds, Part, Reasoning, Words

Status = Literal["completed", "incomplete"]


@dataclass(frozen=True, slots=True)
class _TextKind:
    """How an item with one part of text is written: names of its events, of its list of parts, of their index."""

    head: dict[str, Any]
    prefix: str
    part: dict[str, Any]
    text_event: str
    part_event: str
    parts: str
    index: str
    more: dict[str, Any] = field(default_factory=dict)  # what deltas of this kind must carry


_MESSAGE = _TextKind(
    {"type": "message", "role": "assistant", "content": []},
    "msg",
    {"type": "output_text", "annotations": [], "logprobs": []},
    "response.output_text",
    "response.content_part",
    "content",
    "content_index",
    {"logprobs": []},
)
_REASONING = _TextKind(
    {"type": "reasoning", "summary": [], "content": []},
    "rs",
    {"type": "reasoning_text"},
    "response.reasoning_text",
    "response.content_part",
    "content",
    "content_index",
)
_SUMMARY = _TextKind(
    {"type": "reasoning", "summary": []},
    "rs",
    {"type": "summary_text"},
    "response.reasoning_summary_text",
    "response.reasoning_summary_part",
    "summary",
    "summary_index",
)


@dataclass(slots=True)
class _Open:
    """An item under way: its place among the items, its text or arguments so far."""

    index: int
    item: dict[str, Any]
    pieces: list[str] = field(default_factory=list)
    kind: _TextKind | None = None  # None: a call

    @property
    def place(self) -> dict[str, Any]:
        return {"item_id": self.item["id"], "output_index": self.index}


class OutputWriter:
    """Parts of an answer in, events out; `items` are what the events tell, when all is closed.

    Reasoning goes out as it is, or as the summary when the client asked for one: these models are asked to think, not
    to sum it up. Invariants: sequence numbers count all events from 0; at most one item with text is open.
    """

    def __init__(self, tools: OfferedTools, *, summary: bool) -> None:
        self.items: list[dict[str, Any]] = []
        self._tools = tools
        self._reasoning = _SUMMARY if summary else _REASONING
        self._sequence = 0
        self._text: _Open | None = None
        self._calls: dict[int, _Open] = {}

    def event(self, kind: str, **fields: Any) -> bytes:
        """One event, numbered."""
        numbered = {"type": kind, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return sse_event(kind, numbered)

    def write(self, parts: Iterable[Part]) -> bytes:
        """The events that tell of these parts."""
        return b"".join(self._part(part) for part in parts)

    def close(self, status: Status) -> bytes:
        """Ends what is open; the last of it, when `incomplete`, was cut short. An answer without a word is an empty
        message: clients look for one.
        """
        written = b""
        if not self.items:
            written += self._begin(_MESSAGE)
        written += self._end_text(status)
        for call in list(self._calls):
            written += self._end_call(call, "incomplete")
        return written

    def _part(self, part: Part) -> bytes:
        match part:
            case Words(text):
                return self._write_text(_MESSAGE, text)
            case Reasoning(text):
                return self._write_text(self._reasoning, text)
            case CallBegins():
                return self._end_text("completed") + self._begin_call(part)
            case CallArguments(index, text):
                call = self._calls[index]
                call.pieces.append(text)
                return self.event("response.function_call_arguments.delta", **call.place, delta=text)
            case CallEnds(index):
                return self._end_call(index, "completed")

    def _write_text(self, kind: _TextKind, text: str) -> bytes:
        written = b""
        if self._text is None or self._text.kind is not kind:
            written = self._end_text("completed") + self._begin(kind)
        opened = self._text
        assert opened is not None
        opened.pieces.append(text)
        place = {**opened.place, kind.index: 0}
        return written + self.event(f"{kind.text_event}.delta", **place, delta=text, **kind.more)

    def _begin(self, kind: _TextKind) -> bytes:
        self._text = self._add(kind.prefix, dict(kind.head), kind)
        place = {**self._text.place, kind.index: 0}
        return self._added(self._text) + self.event(f"{kind.part_event}.added", **place, part={**kind.part, "text": ""})

    def _end_text(self, status: Status) -> bytes:
        opened, self._text = self._text, None
        if opened is None or opened.kind is None:
            return b""
        kind, text = opened.kind, "".join(opened.pieces)
        part = {**kind.part, "text": text}
        opened.item |= {kind.parts: [part], "status": status}
        place = {**opened.place, kind.index: 0}
        written = self.event(f"{kind.text_event}.done", **place, text=text, **kind.more)
        return written + self.event(f"{kind.part_event}.done", **place, part=part) + self._done(opened)

    def _begin_call(self, call: CallBegins) -> bytes:
        known = self._tools.client_name(call.name)
        item = {"type": "function_call", "call_id": call.id, "name": known.name, "arguments": ""}
        if known.namespace is not None:
            item["namespace"] = known.namespace
        self._calls[call.index] = self._add("fc", item)
        return self._added(self._calls[call.index])

    def _end_call(self, index: int, status: Status) -> bytes:
        opened = self._calls.pop(index)
        arguments = "".join(opened.pieces)
        opened.item |= {"arguments": arguments, "status": status}
        about = {**opened.place, "name": opened.item["name"], "arguments": arguments}
        return self.event("response.function_call_arguments.done", **about) + self._done(opened)

    def _add(self, prefix: str, fields: dict[str, Any], kind: _TextKind | None = None) -> _Open:
        item = {"id": f"{prefix}_{uuid.uuid4().hex}", **fields, "status": "in_progress"}
        self.items.append(item)
        return _Open(len(self.items) - 1, item, kind=kind)

    def _added(self, opened: _Open) -> bytes:
        return self.event("response.output_item.added", output_index=opened.index, item=opened.item)

    def _done(self, opened: _Open) -> bytes:
        return self.event("response.output_item.done", output_index=opened.index, item=opened.item)

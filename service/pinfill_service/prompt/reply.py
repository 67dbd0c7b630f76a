"""What an answer is made of: reasoning, words and tool calls, told apart while the model writes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thinks before it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """What the user reads."""

    text: str


@dataclass(frozen=True, slots=True)
class CallBegins:
    """A tool call; `index` counts the calls of one answer from 0."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A piece of a call's arguments. All pieces of a call, joined, are one JSON object."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class CallEnds:
    """The arguments of a call are complete."""

    index: int


Part = Reasoning | Words | CallBegins | CallArguments | CallEnds


@dataclass(slots=True)
class ToolCall:
    """A tool call as far as it is known; `arguments` are JSON text, all of it when the call has `ended`."""

    id: str
    name: str
    arguments: str = ""
    ended: bool = False


@dataclass(slots=True)
class Reply:
    """The parts of one answer, in the order they came; neighbours of one kind are joined."""

    said: list[Reasoning | Words | ToolCall] = field(default_factory=list)

    @property
    def reasoning(self) -> str:
        return "".join(part.text for part in self.said if isinstance(part, Reasoning))

    @property
    def words(self) -> str:
        """All of them, also those behind a call."""
        return "".join(part.text for part in self.said if isinstance(part, Words))

    @property
    def calls(self) -> list[ToolCall]:
        return [part for part in self.said if isinstance(part, ToolCall)]

    def add(self, parts: Iterable[Part]) -> None:
        for part in parts:
            match part:
                case Reasoning() | Words():
                    self._add_text(part)
                case CallBegins(_, call_id, name):
                    self.said.append(ToolCall(call_id, name))
                case CallArguments(index, text):
                    self.calls[index].arguments += text
                case CallEnds(index):
                    self.calls[index].ended = True

    def _add_text(self, part: Reasoning | Words) -> None:
        last = self.said[-1] if self.said else None
        if type(last) is type(part):
            self.said[-1] = type(part)(last.text + part.text)
        else:
            self.said.append(part)


class ReplyReader(Protocol):
    """Reads one answer's text, piece by piece. A piece may hold back what could still become something else.

    `markers` are the special tokens it wants to see as text; all others stay out of the text.
    """

    @property
    def markers(self) -> Collection[str]: ...

    def push(self, text: str) -> Sequence[Part]: ...

    def flush(self) -> Sequence[Part]:
        """What was held back, when nothing more comes. A call that is not complete stays without `CallEnds`."""
        ...


class PlainReader:
    """Everything is words."""

    markers: Collection[str] = ()

    def push(self, text: str) -> Sequence[Part]:
        return (Words(text),) if text else ()

    def flush(self) -> Sequence[Part]:
        return ()

"""What a reply may be made to look like, before any tokenizer is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MAX_CALLS = 16


@dataclass(frozen=True, slots=True)
class JsonReply:
    """A reply that is one JSON text of the schema; None: any JSON object."""

    schema: Any = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that may be called, with the JSON schema of its arguments; None: any JSON object."""

    name: str
    parameters: Any = None


@dataclass(frozen=True, slots=True)
class CallWrapper:
    """How a model writes calls: `opening`, then calls with `separator` between them, then `closing`.

    A call is `begin`, the tool's name as it is, `middle`, its arguments as JSON, `end`. Contents of special tokens in
    these texts stand for those tokens.
    """

    begin: str
    middle: str
    end: str
    separator: str = "\n"
    opening: str = ""
    closing: str = ""


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """A reply of one to `max_calls` calls of these tools and nothing else. For a named tool, give only that one."""

    tools: tuple[Tool, ...]
    wrapper: CallWrapper
    max_calls: int = 1


GrammarSpec = JsonReply | ToolCalls

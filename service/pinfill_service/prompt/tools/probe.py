"""A tool, a call and a result that can be recognised in whatever a template makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pinfill_service.prompt.canonical import dump

NAME, KEY, VALUES = "probe_tool_name", "probe_key", ("probe_value_a", "probe_value_b")
_SHORT_IDS, _LONG_IDS = ("probeid0a", "probeid0b"), ("call_probe_a", "call_probe_b")
IDS = (*_SHORT_IDS, *_LONG_IDS)
ANSWER, RESULT = "probe_answer", "probe_result"
QUESTION = {"role": "user", "content": "probe_question"}
_PARAMETERS = {"type": "object", "properties": {KEY: {"type": "string"}}, "required": [KEY]}
TOOL = {"type": "function", "function": {"name": NAME, "description": "probe_description", "parameters": _PARAMETERS}}


class Told(Protocol):
    """How a template wants to be told about calls."""

    @property
    def arguments_as_text(self) -> bool: ...

    @property
    def no_content(self) -> str | None: ...

    @property
    def short_ids(self) -> bool: ...


def calling(values: Sequence[str], told: Told) -> dict[str, Any]:
    """An answer that calls the tool with each of the values."""
    calls = []
    for value in values:
        arguments = {KEY: value}
        function = {"name": NAME, "arguments": dump(arguments) if told.arguments_as_text else arguments}
        calls.append({"id": _id(value, told), "type": "function", "function": function})
    return {"role": "assistant", "content": told.no_content, "tool_calls": calls}


def result(value: str, told: Told) -> dict[str, Any]:
    """The result of the call with this value."""
    return {"role": "tool", "tool_call_id": _id(value, told), "name": NAME, "content": RESULT}


def _id(value: str, told: Told) -> str:
    return (_SHORT_IDS if told.short_ids else _LONG_IDS)[VALUES.index(value)]

"""Tools for models whose chat template knows none: a block of plain words in the system prompt.

The block names every tool in one line of JSON and asks for calls between `<tool_call>` tags, as Hermes and Qwen models
write them; results come back between `<tool_response>` tags in the user's name. So a small model that was never trained
on tools has one form to copy, and calls in the history look like the ones it is asked for:

    You can call these tools:
    {"name": "read", "description": "Reads a file.", "parameters": {...}}

    To call a tool, write its name and arguments as JSON between these tags, and nothing after it:
    <tool_call>
    {"name": "...", "arguments": {...}}
    </tool_call>
    The result will be given to you between <tool_response> tags. When no tool is needed, answer in plain words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pinfill_service.prompt.canonical import dump
from pinfill_service.prompt.chat import BEHIND, Message
from pinfill_service.prompt.tools.going_on import on_a_line

_BEGINNING = "You can call these tools:\n"
_END = """

To call a tool, write its name and arguments as JSON between these tags, and nothing after it:
<tool_call>
{"name": "...", "arguments": {...}}
</tool_call>
The result will be given to you between <tool_response> tags. When no tool is needed, answer in plain words."""
_RESULTS = ("tool", "function")


class Accepts(Protocol):
    """What a template takes."""

    @property
    def system_messages(self) -> bool: ...


def in_plain_words(
    template: Accepts, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]
) -> Sequence[Message]:
    """The conversation with tools, calls and results as text. Calls are in the form `history` gives them."""
    told: list[Message] = []
    after_result = False
    for message in messages:
        is_result = message.get("role") in _RESULTS
        text = _as_text(message)
        if after_result and (is_result or message.get("role") == "user"):  # many templates want turns to alternate
            told[-1] = {**told[-1], "content": told[-1]["content"] + ("\n" if is_result else "\n\n") + text}
        elif is_result:
            told.append({"role": "user", "content": text})
        elif message.get("tool_calls"):
            told.append({"role": "assistant", "content": text})
        else:
            told.append(message)
        after_result = is_result
    return _with_block(told, _block(tools), template.system_messages) if tools else told


def _as_text(message: Message) -> str:
    content = str(message.get("content") or "")
    if message.get("role") in _RESULTS:
        return f"<tool_response>\n{content}\n</tool_response>"
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    return "\n".join([content, *calls] if content else calls)


def _call(call: Mapping[str, Any]) -> str:
    words = call.get(BEHIND)
    return f"<tool_call>\n{dump(call['function'])}\n</tool_call>{on_a_line(words) if words else ''}"


def _block(tools: Sequence[Mapping[str, Any]]) -> str:
    return _BEGINNING + "\n".join(dump(tool.get("function", tool)) for tool in tools) + _END


def _with_block(messages: list[Message], block: str, system_messages: bool) -> Sequence[Message]:
    """The block behind the system prompt or, where there can be none, in front of the user's first words."""
    role = "system" if system_messages else "user"
    at = next((at for at, message in enumerate(messages) if message.get("role") == role), None)
    if at is None or (system_messages and at > 0):
        return [{"role": role, "content": block}, *messages]
    content = str(messages[at].get("content") or "")
    parts = [content, block] if system_messages else [block, content]
    joined = {**messages[at], "content": "\n\n".join(part for part in parts if part)}
    return [*messages[:at], joined, *messages[at + 1 :]]

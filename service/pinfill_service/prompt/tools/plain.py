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
from typing import Any

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


def in_plain_words(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Sequence[Message]:
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
    return _with_block(told, _block(tools)) if tools else told


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


def _with_block(messages: list[Message], block: str) -> Sequence[Message]:
    """The block behind the system prompt, or as one."""
    first = messages[0] if messages else {}
    if first.get("role") != "system":
        return [{"role": "system", "content": block}, *messages]
    content = str(first.get("content") or "")
    return [{**first, "content": "\n\n".join(part for part in (content, block) if part)}, *messages[1:]]

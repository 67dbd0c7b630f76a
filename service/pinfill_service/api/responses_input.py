"""Input items of the Responses API as the messages of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pinfill_service.api.errors import ApiError, invalid_value
from pinfill_service.api.json_text import is_shallow, read_object
from pinfill_service.api.responses_tools import MAX_LEVELS, OfferedTools, ToolName
from pinfill_service.prompt.chat import BEHIND

Item = Mapping[str, Any]

_ROLES = ("user", "assistant", "system", "developer")
_TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
_NOT_SUPPORTED = {
    "input_image": "Images are",
    "image_url": "Images are",
    "computer_screenshot": "Images are",
    "input_audio": "Audio is",
    "input_file": "Files are",
    "input_video": "Videos are",
}


def checked(items: Sequence[Item]) -> tuple[Item, ...]:
    """Items that can be kept and sent back. Raises ApiError."""
    for number, item in enumerate(items):
        if not is_shallow(item, MAX_LEVELS):
            raise invalid_value(f"input.{number}", f"it is nested more than {MAX_LEVELS} levels deep")
    return tuple(items)


def messages(history: Sequence[Item], items: Sequence[Item], tools: OfferedTools) -> list[dict[str, Any]]:
    """The conversation that `history` (accepted before) and `items` are. Raises ApiError, which names the item.

    What belongs to one answer (reasoning, words, calls) becomes one message. Items of other types come from tools that
    no model has here, or are notes of the client: they are left out.
    """
    builder = _Builder(tools)
    for number, item in enumerate([*history, *items]):
        builder.add(item, f"input.{number - len(history)}")
    return builder.messages


class _Builder:
    """Appends items to messages. `_answer` is the assistant's message under way, which has words or calls already when
    `_said` is set.
    """

    def __init__(self, tools: OfferedTools) -> None:
        self.messages: list[dict[str, Any]] = []
        self._tools = tools
        self._calls: set[str] = set()
        self._answer: dict[str, Any] | None = None
        self._said = False

    def add(self, item: Item, where: str) -> None:
        match item.get("type") or ("message" if "role" in item else None):
            case "message":
                self._message(item, where)
            case "reasoning":
                self._reasoning(item, where)
            case "function_call":
                self._call(item, where)
            case "function_call_output":
                self._output(item, where)
            case str():
                return
            case _:
                raise invalid_value(where, "an item needs a type")

    def _message(self, item: Item, where: str) -> None:
        role, content = item.get("role"), _text(item.get("content"), f"{where}.content")
        if role not in _ROLES:
            raise invalid_value(f"{where}.role", f"it is one of {', '.join(_ROLES)}")
        if role == "assistant" and self._answer is not None and (calls := self._answer.get("tool_calls")):
            before = calls[-1].get(BEHIND)
            calls[-1][BEHIND] = content if before is None else f"{before}\n{content}"
        elif role == "assistant":
            self._open()["content"] = content
            self._said = True
        else:
            self._append({"role": role, "content": content})

    def _reasoning(self, item: Item, where: str) -> None:
        text = _text(item.get("content") or item.get("summary"), where)
        if text:
            answer = self._open()
            before = answer.get("reasoning_content")
            answer["reasoning_content"] = text if before is None else f"{before}\n{text}"

    def _call(self, item: Item, where: str) -> None:
        name, arguments, call_id = (_string(item, key, where) for key in ("name", "arguments", "call_id"))
        namespace = item.get("namespace")
        known = ToolName(name, namespace if isinstance(namespace, str) else None)
        read = read_object(arguments)
        function = {"name": self._tools.model_name(known), "arguments": arguments if read is None else read}
        answer = self._open() if self._answer is None else self._answer
        answer.setdefault("tool_calls", []).append({"id": call_id, "type": "function", "function": function})
        self._calls.add(call_id)
        self._said = True

    def _output(self, item: Item, where: str) -> None:
        call_id = _string(item, "call_id", where)
        if call_id not in self._calls:
            raise invalid_value(f"{where}.call_id", f"no function_call before it has the call_id {call_id!r}")
        content = _text(item.get("output"), f"{where}.output")
        self._append({"role": "tool", "tool_call_id": call_id, "content": content})

    def _append(self, message: dict[str, Any]) -> None:
        self._answer = None
        self.messages.append(message)

    def _open(self) -> dict[str, Any]:
        """The assistant's message that words or reasoning can still begin."""
        if self._answer is None or self._said:
            self._answer, self._said = {"role": "assistant", "content": ""}, False
            self.messages.append(self._answer)
        return self._answer


def _text(content: Any, where: str) -> str:
    """Content as one text; a list of parts means the same as their texts, one a line."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise invalid_value(where, "content is a text or a list of parts")
    return "\n".join(_part(part, f"{where}.{number}") for number, part in enumerate(content))


def _part(part: Any, where: str) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(kind, str) and kind in _NOT_SUPPORTED:
        raise ApiError(
            400, f"{where}: {_NOT_SUPPORTED[kind]} not supported, only text.", code="unsupported_content", param=where
        )
    if kind not in _TEXTS and kind != "refusal":
        raise invalid_value(where, f"content of type {kind!r} is not supported, only text")
    return _string(part, "refusal" if kind == "refusal" else "text", where)


def _string(item: Item, key: str, where: str) -> str:
    value = item.get(key)
    if not isinstance(value, str):
        raise invalid_value(f"{where}.{key}", "it is missing or no text")
    return value

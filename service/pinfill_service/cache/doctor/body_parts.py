"""What of a request body becomes the prompt, in each dialect, in a form in which equal prompts are equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_TEXT_BLOCKS = ("text", "input_text", "output_text")
# Hints and numbers that no template writes.
_UNWRITTEN = ("cache_control", "annotations", "logprobs")
_SYSTEM = ("system", "developer")
# Options of requests that templates may write into the prompt.
OPTIONS = (
    "chat_template", "chat_template_kwargs", "documents", "format", "output_config", "raw", "reasoning",
    "reasoning_effort", "response_format", "suffix", "template", "text", "think", "thinking", "tool_choice",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Body:
    """The parts of a request body. `main` is the key of its messages (`messages`, or `input` of Responses) or of the
    text that is continued (`prompt`).
    """

    raw: Mapping[str, Any]
    main: str

    @property
    def system_key(self) -> str:
        return "instructions" if self.main == "input" else "system"

    @property
    def system(self) -> Any:
        return _content(self.raw.get(self.system_key))

    @property
    def tools(self) -> list[Any]:
        tools = self.raw.get("tools")
        return [_without(tool, _UNWRITTEN) for tool in tools] if isinstance(tools, list) else []

    @property
    def messages(self) -> list[Any]:
        messages = None if self.main == "prompt" else self.raw[self.main]
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        # Items of Responses have ids of their own, beside the ids of calls; they are not written.
        unwritten = (*_UNWRITTEN, "id", "status") if self.main == "input" else _UNWRITTEN
        return [_message(item, unwritten) for item in messages] if isinstance(messages, list) else []

    @property
    def prompt(self) -> Any:
        return self.raw["prompt"] if self.main == "prompt" else None


def read_body(raw: Any) -> Body | None:
    """Recognises a body by its keys: `messages` are OpenAI's, Anthropic's or Ollama's, `input` is OpenAI Responses',
    `prompt` is a text for OpenAI's completions or Ollama's generate. None for anything else.
    """
    if not isinstance(raw, Mapping):
        return None
    main = next((key for key in ("messages", "input", "prompt") if key in raw), None)
    return None if main is None else Body(raw, main)


def label_of(message: Any, index: int) -> str:
    """The label of a message, as in a rendered prompt."""
    role = message.get("role") if isinstance(message, Mapping) else None
    if role in _SYSTEM and index == 0:
        return "system"
    if role is None and isinstance(message, Mapping) and isinstance(message.get("type"), str):
        kind = message["type"]
        role = "tool" if kind.endswith("_output") else "assistant"
    results = _types(message.get("content")) if isinstance(message, Mapping) else []
    if role == "user" and results and all(kind == "tool_result" for kind in results):
        role = "tool"
    return f"message {index + 1} ({role if isinstance(role, str) else 'unknown'})"


def is_system(message: Any) -> bool:
    return isinstance(message, Mapping) and message.get("role") in _SYSTEM


def complete_path(keys: list[str | int], raw: Any) -> list[str | int]:
    """A path into a body in which one block of text counts as its text, as a path into the body as it was sent."""
    value = raw
    done: list[str | int] = []
    for key in keys:
        if isinstance(value, str):  # a text that counted as a message
            return done
        value = _step(value, key)
        done.append(key)
    return [*done, 0, "text"] if _single_text(value) is not None else done


def _step(value: Any, key: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(str(key))
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return value[key]
    return None


def _types(content: Any) -> list[Any]:
    return [block.get("type") for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


def _message(message: Any, unwritten: tuple[str, ...]) -> Any:
    kept = _without(message, unwritten)
    return {**kept, "content": _content(kept["content"])} if isinstance(kept, dict) and "content" in kept else kept


def _content(content: Any) -> Any:
    """One block of text is its text; other blocks lose what is not written, and so does what they hold."""
    text = _single_text(content)
    if text is not None:
        return text
    if not isinstance(content, list):
        return content
    blocks = [_without(block, _UNWRITTEN) for block in content]
    return [
        {**block, "content": _single_text(block["content"])}
        if isinstance(block, dict) and _single_text(block.get("content")) is not None
        else block
        for block in blocks
    ]


def _single_text(content: Any) -> str | None:
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        block = content[0]
        if block.get("type") in _TEXT_BLOCKS and isinstance(block.get("text"), str):
            return str(block["text"])
    return None


def _without(value: Any, keys: tuple[str, ...]) -> Any:
    return {key: item for key, item in value.items() if key not in keys} if isinstance(value, Mapping) else value

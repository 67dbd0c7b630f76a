"""How an answer is written in Anthropic's API: a message of blocks, whole or as events."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from pydantic_core import from_json

from pinfill_service.api.anthropic_thinking import sign
from pinfill_service.api.choice import ChoiceResult, Delta
from pinfill_service.api.errors import answer_for
from pinfill_service.api.json_text import SSE_MEDIA_TYPE, sse_event
from pinfill_service.prompt.reply import CallArguments, CallBegins, CallEnds, Part, Reasoning, Reply, ToolCall, Words


class MessagesDialect:
    """Writes one `message`. Thinking that is not `shown` goes out as its signature alone."""

    media_type = SSE_MEDIA_TYPE

    def __init__(self, model: str, prompt_tokens: int, request_id: str, *, shown: bool) -> None:
        self._id = f"msg_{uuid.uuid4().hex}"
        self._model = model
        self._prompt_tokens = prompt_tokens
        self._request_id = request_id
        self._shown = shown
        self._blocks = BlockWriter(shown=shown)

    def opening(self, results: Sequence[ChoiceResult]) -> bytes:
        return _event("message_start", message=self._message(results[0], []))

    def waiting(self, words: str) -> bytes:
        return _event("ping")

    def failed(self, error: Exception) -> bytes:
        return sse_event("error", answer_for(error).anthropic(self._request_id))

    def prompt_scored(self, index: int, result: ChoiceResult) -> bytes:
        return b""

    def delta(self, index: int, delta: Delta) -> bytes:
        return b"".join(self._blocks.write(part) for part in delta.parts)

    def finished(self, index: int, results: Sequence[ChoiceResult], *, last: bool) -> bytes:
        end = _event("message_delta", delta=_stop(results[0]), usage=self._usage(results[0]))
        return self._blocks.close() + end

    def closing(self, results: Sequence[ChoiceResult]) -> bytes:
        return _event("message_stop")

    def whole(self, results: Sequence[ChoiceResult]) -> dict[str, object]:
        return self._message(results[0], _content(results[0].reply, shown=self._shown))

    def _message(self, result: ChoiceResult, content: list[object]) -> dict[str, object]:
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": content,
            **_stop(result),
            "usage": self._usage(result),
        }

    def _usage(self, result: ChoiceResult) -> dict[str, int]:
        """Anthropic's three kinds of input tokens exclude each other. Nothing is known to be cached while the request
        waits; what is processed counts as input, whether or not it stays cached.
        """
        cached = result.started.cached_tokens if result.started else 0
        return {
            "input_tokens": self._prompt_tokens - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": result.generated,
        }


class BlockWriter:
    """Writes the parts of a reply as events of numbered blocks, one block after the other.

    A text begins with its first character that is not white space: clients may not send an empty one back.
    """

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._index = -1
        self._open: str | None = None  # type of the open block
        self._thinking: list[str] = []
        self._space = ""

    def write(self, part: Part) -> bytes:
        match part:
            case Reasoning(text):
                opened = self.close() if self._space else b""
                opened += self._begin({"type": "thinking", "thinking": "", "signature": ""})
                self._thinking.append(text)
                return opened + (self._delta("thinking_delta", thinking=text) if self._shown else b"")
            case Words(text):
                return self._words(text)
            case CallBegins(_, call_id, name):
                return self.close() + self._begin({"type": "tool_use", "id": call_id, "name": name, "input": {}})
            case CallArguments(_, text):
                return self._delta("input_json_delta", partial_json=text)
            case CallEnds():
                return self.close()

    def close(self) -> bytes:
        """Ends the open block, if there is one."""
        kind, self._open, self._space = self._open, None, ""
        if kind is None:
            return b""
        signature = b""
        if kind == "thinking":
            signature = self._delta("signature_delta", signature=sign("".join(self._thinking)))
            self._thinking = []
        return signature + _event("content_block_stop", index=self._index)

    def _words(self, text: str) -> bytes:
        if self._open != "text":
            text = self._space + text
            if not text.strip():
                self._space = text
                return b""
        return self._begin({"type": "text", "text": ""}) + self._delta("text_delta", text=text)

    def _begin(self, block: dict[str, object]) -> bytes:
        if self._open == block["type"]:
            return b""
        closed = self.close()
        self._index += 1
        self._open = str(block["type"])
        return closed + _event("content_block_start", index=self._index, content_block=block)

    def _delta(self, kind: str, **fields: str) -> bytes:
        return _event("content_block_delta", index=self._index, delta={"type": kind, **fields})


def _content(reply: Reply, *, shown: bool) -> list[object]:
    """A reply as blocks."""
    content: list[object] = []
    for part in reply.said:
        match part:
            case Reasoning(text):
                content.append({"type": "thinking", "thinking": text if shown else "", "signature": sign(text)})
            case Words(text):
                if text.strip():
                    content.append({"type": "text", "text": text})
            case ToolCall():
                content.append({"type": "tool_use", "id": part.id, "name": part.name, "input": _arguments(part)})
    return content


def _arguments(call: ToolCall) -> dict[str, object]:
    """The arguments as far as they came: an answer can end at its token limit, within a call."""
    try:
        value = from_json(call.arguments, allow_partial=True)
    except ValueError:  # not even the first brace
        return {}
    return value if isinstance(value, dict) else {}


def _stop(result: ChoiceResult) -> dict[str, str | None]:
    reason, sequence = None, None
    match result.finish_reason:
        case "length":
            reason = "max_tokens"
        case "tool_calls":
            reason = "tool_use"
        case "stop":
            reason, sequence = ("end_turn" if result.stop is None else "stop_sequence"), result.stop
    return {"stop_reason": reason, "stop_sequence": sequence}


def _event(kind: str, **fields: object) -> bytes:
    return sse_event(kind, {"type": kind, **fields})

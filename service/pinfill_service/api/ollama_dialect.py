"""How an answer is written in Ollama's API: lines of JSON, or one object."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from pinfill_service.api.choice import ChoiceResult, Delta
from pinfill_service.api.errors import answer_for
from pinfill_service.api.json_text import JSON_LINES_MEDIA_TYPE, json_line, read_object
from pinfill_service.prompt.reply import CallEnds, Reasoning, Reply, ToolCall, Words

Calls = Sequence[tuple[int, ToolCall]]  # with their numbers among the calls of the answer

SECOND = 1_000_000_000  # Ollama's durations are nanoseconds


class OllamaDialect:
    """What chat and generate have in common. Tool calls go out whole: Ollama has no pieces of them."""

    media_type = JSON_LINES_MEDIA_TYPE

    def __init__(self, model: str) -> None:
        self._model = model
        self._began = time.monotonic()
        self._reply = Reply()

    def content(self, words: str, reasoning: str, calls: Calls) -> dict[str, object]:
        """These pieces as fields of a line."""
        raise NotImplementedError

    def opening(self, results: Sequence[ChoiceResult]) -> bytes:
        return b""

    def waiting(self, words: str) -> bytes:
        return self._line(self.content("", "", ()))

    def failed(self, error: Exception) -> bytes:
        return json_line(answer_for(error).ollama())

    def prompt_scored(self, index: int, result: ChoiceResult) -> bytes:
        return b""

    def delta(self, index: int, delta: Delta) -> bytes:
        self._reply.add(delta.parts)
        words = "".join(part.text for part in delta.parts if isinstance(part, Words))
        reasoning = "".join(part.text for part in delta.parts if isinstance(part, Reasoning))
        ended = [part.index for part in delta.parts if isinstance(part, CallEnds)]
        calls = [(index, self._reply.calls[index]) for index in ended]
        if not (words or reasoning or calls):
            return b""
        return self._line(self.content(words, reasoning, calls))

    def finished(self, index: int, results: Sequence[ChoiceResult], *, last: bool) -> bytes:
        return b""

    def closing(self, results: Sequence[ChoiceResult]) -> bytes:
        return json_line(self._object(self.content("", "", ())) | self._end(results[0]))

    def whole(self, results: Sequence[ChoiceResult]) -> dict[str, object]:
        reply = results[0].reply
        calls = [(index, call) for index, call in enumerate(reply.calls) if call.ended]
        return self._object(self.content(reply.words, reply.reasoning, calls)) | self._end(results[0])

    def loaded(self) -> dict[str, object]:
        """The answer to a request that says nothing: clients send it to have a model loaded."""
        return self._object(self.content("", "", ())) | {"done": True, "done_reason": "load"}

    def _line(self, content: dict[str, object]) -> bytes:
        return json_line(self._object(content))

    def _object(self, content: dict[str, object]) -> dict[str, object]:
        return {"model": self._model, "created_at": timestamp(time.time()), **content, "done": False}

    def _end(self, result: ChoiceResult) -> dict[str, object]:
        """`prompt_cached_count` of the prompt's tokens were in the cache; Ollama has no field for it."""
        timings = result.timings
        return {
            "done": True,
            "done_reason": "length" if result.finish_reason == "length" else "stop",
            "total_duration": int((time.monotonic() - self._began) * SECOND),
            "load_duration": 0,
            "prompt_eval_count": timings.cached_tokens + timings.processed_tokens,
            "prompt_cached_count": timings.cached_tokens,
            "prompt_eval_duration": int(timings.prefill_seconds * SECOND),
            "eval_count": result.generated,
            "eval_duration": int(timings.decode_seconds * SECOND),
        }


class ChatLines(OllamaDialect):
    """/api/chat: a message in every line."""

    def content(self, words: str, reasoning: str, calls: Calls) -> dict[str, object]:
        message: dict[str, object] = {"role": "assistant", "content": words}
        if reasoning:
            message["thinking"] = reasoning
        if calls:
            message["tool_calls"] = [_tool_call(index, call) for index, call in calls]
        return {"message": message}


class GenerateLines(OllamaDialect):
    """/api/generate: a text in every line."""

    def content(self, words: str, reasoning: str, calls: Calls) -> dict[str, object]:
        content: dict[str, object] = {"response": words}
        return content | ({"thinking": reasoning} if reasoning else {})


def timestamp(seconds: float) -> str:
    """A Unix time as Ollama writes times."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _tool_call(index: int, call: ToolCall) -> dict[str, object]:
    """A call that has ended: its arguments are an object."""
    function = {"index": index, "name": call.name, "arguments": read_object(call.arguments) or {}}
    return {"id": call.id, "function": function}

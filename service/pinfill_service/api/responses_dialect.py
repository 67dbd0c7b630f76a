"""How an answer is written in the Responses API."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pinfill_service.api.choice import ChoiceResult, Delta
from pinfill_service.api.errors import answer_for
from pinfill_service.api.json_text import SSE_MEDIA_TYPE, sse_comment
from pinfill_service.api.responses_output import OutputWriter
from pinfill_service.api.responses_tools import OfferedTools
from pinfill_service.api.schemas.responses import ResponsesRequest
from pinfill_service.prompt.reply import CallArguments, CallBegins, CallEnds, Part, Reply, ToolCall
from pinfill_service.prompt.tokenizer import TextTokenizer

Keep = Callable[[Mapping[str, Any]], None]


class ResponsesDialect:
    """Writes `response` objects and typed events. `keep` is given the answer when it is complete."""

    media_type = SSE_MEDIA_TYPE

    def __init__(
        self,
        body: ResponsesRequest,
        tools: OfferedTools,
        model: str,
        tokenizer: TextTokenizer,
        keep: Keep,
    ) -> None:
        self._head = response_head(body, tools, model)
        self._cached_for_others = body.cache_prompt is not False
        self._tokenizer = tokenizer
        self._keep = keep
        self._writer = OutputWriter(tools, summary=body.wants_summary)

    def opening(self, results: Sequence[ChoiceResult]) -> bytes:
        response = self._response("in_progress")
        return b"".join(
            self._writer.event(kind, response=response) for kind in ("response.created", "response.in_progress")
        )

    def waiting(self, words: str) -> bytes:
        return sse_comment(words)

    def failed(self, error: Exception) -> bytes:
        """The codes OpenAI has for it know nothing finer than `server_error`."""
        told = {"code": "server_error", "message": answer_for(error).message}
        return self._writer.event("response.failed", response=self._response("failed", error=told))

    def prompt_scored(self, index: int, result: ChoiceResult) -> bytes:
        return b""

    def delta(self, index: int, delta: Delta) -> bytes:
        return self._writer.write(delta.parts)

    def finished(self, index: int, results: Sequence[ChoiceResult], *, last: bool) -> bytes:
        return self._writer.close("incomplete" if results[index].finish_reason == "length" else "completed")

    def closing(self, results: Sequence[ChoiceResult]) -> bytes:
        response = self._complete(results[0])
        return self._writer.event(f"response.{response['status']}", response=response)

    def whole(self, results: Sequence[ChoiceResult]) -> dict[str, object]:
        self._writer.write(_parts(results[0].reply))
        self.finished(0, results, last=True)
        return self._complete(results[0])

    def _complete(self, result: ChoiceResult) -> dict[str, Any]:
        cut = result.finish_reason == "length"
        response = self._response(
            "incomplete" if cut else "completed",
            completed_at=None if cut else int(time.time()),
            incomplete_details={"reason": "max_output_tokens"} if cut else None,
            usage=self._usage(result),
        )
        self._keep(response)
        return response

    def _response(self, status: str, **fields: Any) -> dict[str, Any]:
        return {**self._head, "status": status, "output": list(self._writer.items), **fields}

    def _usage(self, result: ChoiceResult) -> dict[str, object]:
        """Tokens of reasoning are those the tokenizer makes of its text: the engine does not tell them apart."""
        timings = result.timings
        prompt, written = timings.cached_tokens + timings.processed_tokens, timings.processed_tokens
        reasoning = len(self._tokenizer.encode(result.reply.reasoning))
        return {
            "input_tokens": prompt,
            "input_tokens_details": {
                "cached_tokens": timings.cached_tokens,
                "cache_write_tokens": written if self._cached_for_others else 0,
            },
            "output_tokens": result.generated,
            "output_tokens_details": {"reasoning_tokens": min(reasoning, result.generated)},
            "total_tokens": prompt + result.generated,
        }


def response_head(body: ResponsesRequest, tools: OfferedTools, model: str) -> dict[str, Any]:
    """What of a `response` object is known before there is an answer. Null is what was left to the model."""
    options = body.text.model_dump(by_alias=True, exclude_none=True) if body.text is not None else {}
    reasoning = body.reasoning
    return {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": int(time.time()),
        "completed_at": None,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": body.instructions,
        "max_output_tokens": body.max_output_tokens,
        "max_tool_calls": None,
        "metadata": body.metadata or {},
        "model": model,
        "output": [],
        "parallel_tool_calls": body.parallel_tool_calls is not False,
        "previous_response_id": body.previous_response_id,
        "prompt_cache_key": body.prompt_cache_key,
        "reasoning": {
            "effort": reasoning.effort if reasoning is not None else None,
            "summary": (reasoning.summary or reasoning.generate_summary) if reasoning is not None else None,
        },
        "service_tier": "default",
        "store": body.store is not False,
        "temperature": 1.0 if body.temperature is None else body.temperature,
        "text": {"format": {"type": "text"}, **options},
        "tool_choice": "auto" if body.tool_choice is None else body.tool_choice,
        "tools": list(tools.sent),
        "top_logprobs": 0,
        "top_p": 1.0 if body.top_p is None else body.top_p,
        "truncation": "disabled",
        "usage": None,
        "user": None,
    }


def _parts(reply: Reply) -> Iterator[Part]:
    """The parts a reply is made of, each in one piece."""
    index = 0
    for part in reply.said:
        if not isinstance(part, ToolCall):
            yield part
            continue
        yield CallBegins(index, part.id, part.name)
        if part.arguments:
            yield CallArguments(index, part.arguments)
        if part.ended:
            yield CallEnds(index)
        index += 1

"""POST /v1/chat/completions"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import Response

from pinfill_service.api.chat import prepare_chat
from pinfill_service.api.choice import ChoiceResult, Delta
from pinfill_service.api.context import Service, ServiceDep
from pinfill_service.api.errors import ApiError, answer_for
from pinfill_service.api.json_text import SSE_DONE, SSE_MEDIA_TYPE, sse_comment, sse_data
from pinfill_service.api.logprobs import chat_logprobs
from pinfill_service.api.running import respond
from pinfill_service.api.schemas.openai import ChatCompletionRequest, Message
from pinfill_service.api.session_hint import session_hint
from pinfill_service.api.usage import timings, usage
from pinfill_service.prompt.chat import ChatRequest, Hints, normalise
from pinfill_service.prompt.reply import CallArguments, CallBegins, Part, Reasoning, Reply, Words
from pinfill_service.prompt.tools.definitions import without_marks

router = APIRouter()


@router.post("/v1/chat/completions", response_class=Response)
async def chat_completions(body: ChatCompletionRequest, request: Request, service: ServiceDep) -> Response:
    """Continues a conversation."""
    chat = chat_request(body, Hints(session_hint(request.headers, body.prompt_cache_key)))
    prepared = await prepare_chat(service, chat, body.model)
    dialect = ChatDialect(service, body, len(prepared.prompt.ids))
    return await respond(service, request, prepared.plan, dialect, stream=bool(body.stream))


def chat_request(body: ChatCompletionRequest, hints: Hints) -> ChatRequest:
    """The request in the internal form. Tools of other types than functions, which only servers can run, are left out.

    Raises ApiError for a result of a call that nobody made.
    """
    _check_results(body.messages)
    return ChatRequest(
        messages=normalise([message.for_template() for message in body.messages]),
        tools=tuple(without_marks(tool) for tool in body.tools or () if tool.get("type", "function") == "function"),
        tool_choice=replace(body.tool_choice, parallel=body.parallel_tool_calls is not False),
        format=body.response_format,
        hints=hints,
        template_options=body.chat_template_kwargs or {},
        continue_final_message=bool(body.continue_final_message),
        options=body.generation_options(),
    )


def _check_results(messages: Sequence[Message]) -> None:
    called: set[str] = set()
    for number, message in enumerate(messages):
        called |= {call.id for call in message.tool_calls or ()}
        if message.role == "tool" and message.tool_call_id is not None and message.tool_call_id not in called:
            raise ApiError(
                400,
                f"No message before this one calls a tool with the id {message.tool_call_id!r}.",
                code="invalid_value",
                param=f"messages.{number}.tool_call_id",
            )


class ChatDialect:
    """Writes `chat.completion` objects and `chat.completion.chunk` events."""

    media_type = SSE_MEDIA_TYPE

    def __init__(self, service: Service, body: ChatCompletionRequest, prompt_tokens: int) -> None:
        self._tokenizer = service.text.tokenizer
        self._choices = body.n or 1
        self._logprobs = bool(body.logprobs)
        self._include_usage = bool(body.stream) and body.include_usage
        self._prompt_lengths = (prompt_tokens,)
        self._head: dict[str, object] = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": service.engine.model.name,
        }

    def opening(self, results: Sequence[ChoiceResult]) -> bytes:
        delta = {"role": "assistant", "content": ""}
        return b"".join(self._chunk(index, delta) for index in range(self._choices))

    def waiting(self, words: str) -> bytes:
        """A comment says what goes on, and an event without words that something does: there are clients that give up
        when they got none for minutes, and their parsers skip comments.
        """
        return sse_comment(words) + self._chunk(0, {"content": ""})

    def failed(self, error: Exception) -> bytes:
        return sse_data(answer_for(error).openai())

    def prompt_scored(self, index: int, result: ChoiceResult) -> bytes:
        return b""

    def delta(self, index: int, delta: Delta) -> bytes:
        """One event for each part; log probabilities come with the first, or by themselves while text is held back."""
        logprobs = chat_logprobs(self._tokenizer, delta.scores) if self._logprobs else None
        fields = [field for part in delta.parts if (field := _delta_field(part)) is not None]
        if not fields:
            return self._chunk(index, {"content": ""}, logprobs=logprobs) if delta.scores else b""
        first = self._chunk(index, fields[0], logprobs=logprobs)
        return first + b"".join(self._chunk(index, field) for field in fields[1:])

    def finished(self, index: int, results: Sequence[ChoiceResult], *, last: bool) -> bytes:
        extra: dict[str, object] = {}
        if last and not self._include_usage:
            extra["timings"] = timings(self._prompt_lengths, results)
        return self._chunk(index, {}, finish_reason=results[index].finish_reason, extra=extra)

    def closing(self, results: Sequence[ChoiceResult]) -> bytes:
        if not self._include_usage:
            return SSE_DONE
        return sse_data(self._envelope("chat.completion.chunk", []) | self._cost(results)) + SSE_DONE

    def whole(self, results: Sequence[ChoiceResult]) -> dict[str, object]:
        choices: list[object] = [
            {
                "index": index,
                "message": _message(result.reply),
                "logprobs": chat_logprobs(self._tokenizer, result.scores) if self._logprobs else None,
                "finish_reason": result.finish_reason,
            }
            for index, result in enumerate(results)
        ]
        return self._envelope("chat.completion", choices) | self._cost(results)

    def _chunk(
        self,
        index: int,
        delta: Mapping[str, object],
        *,
        logprobs: dict[str, object] | None = None,
        finish_reason: str | None = None,
        extra: dict[str, object] | None = None,
    ) -> bytes:
        choice = {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
        chunk = self._envelope("chat.completion.chunk", [choice]) | (extra or {})
        if self._include_usage:
            chunk["usage"] = None
        return sse_data(chunk)

    def _envelope(self, kind: str, choices: list[object]) -> dict[str, object]:
        return {**self._head, "object": kind, "choices": choices}

    def _cost(self, results: Sequence[ChoiceResult]) -> dict[str, object]:
        return {"usage": usage(self._prompt_lengths, results), "timings": timings(self._prompt_lengths, results)}


def _delta_field(part: Part) -> Mapping[str, object] | None:
    """What a part adds to the message; None for nothing."""
    match part:
        case Words(text):
            return {"content": text}
        case Reasoning(text):
            return {"reasoning_content": text}
        case CallBegins(index, call_id, name):
            return _call_delta(index, {"name": name, "arguments": ""}, {"id": call_id, "type": "function"})
        case CallArguments(index, text):
            return _call_delta(index, {"arguments": text}, {})
    return None


def _call_delta(index: int, function: Mapping[str, str], identity: Mapping[str, str]) -> Mapping[str, object]:
    return {"tool_calls": [{"index": index, **identity, "function": function}]}


def _message(reply: Reply) -> Mapping[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": reply.words}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["content"] = reply.words or None
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.calls
        ]
    return message

"""Ollama's /api/chat and /api/generate"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from pinfill_service.api.chat import OFF_LOOP_CHARACTERS, prepare_chat, thinking
from pinfill_service.api.context import Service, ServiceDep
from pinfill_service.api.errors import ERROR_STATUSES, ApiError, invalid_value
from pinfill_service.api.json_text import JSON_LINES_MEDIA_TYPE, is_shallow, json_line
from pinfill_service.api.ollama_dialect import ChatLines, GenerateLines, OllamaDialect
from pinfill_service.api.recording import Origin
from pinfill_service.api.running import Plan, respond
from pinfill_service.api.schemas.ollama import (
    OllamaChatRequest,
    OllamaError,
    OllamaGenerateRequest,
    OllamaMessage,
    OllamaRequest,
    OllamaTool,
    OllamaToolCall,
)
from pinfill_service.api.session_hint import session_hint
from pinfill_service.prompt.chat import ChatRequest, Hints, JsonFormat, Message, normalise

ERRORS: dict[int | str, dict[str, Any]] = {status: {"model": OllamaError} for status in ERROR_STATUSES}

router = APIRouter(prefix="/api", tags=["ollama"], responses=ERRORS)

MAX_LEVELS = 64  # of a schema: real ones have ten
TAG = ":latest"  # what Ollama puts behind names that have no tag


@router.post("/chat", response_class=Response)
async def chat(body: OllamaChatRequest, request: Request, service: ServiceDep) -> Response:
    """Continues a conversation."""
    dialect = ChatLines(service.engine.model.name)
    if not body.messages:
        return _loaded(service, body, dialect)
    hints = Hints(session_hint(request.headers))
    prepared = await prepare_chat(service, chat_request(body, body.messages, hints), plain_name(body.model))
    return await respond(service, request, prepared.plan, dialect, stream=body.streams)


@router.post("/generate", response_class=Response)
async def generate(body: OllamaGenerateRequest, request: Request, service: ServiceDep) -> Response:
    """Answers a prompt, or continues it as it is when `raw`."""
    for name in ("suffix", "template"):
        if getattr(body, name):
            raise ApiError(400, f"{name} is not supported.", code="unsupported_value", param=name)
    _refuse_images(body.images, "images")
    dialect = GenerateLines(service.engine.model.name)
    if not body.prompt:
        return _loaded(service, body, dialect)
    if body.raw:
        plan = await _raw_plan(service, body, body.prompt)
    else:
        plan = (await prepare_chat(service, prompt_request(body, body.prompt), plain_name(body.model))).plan
    return await respond(service, request, plan, dialect, stream=body.streams)


def chat_request(body: OllamaChatRequest, messages: Sequence[OllamaMessage], hints: Hints) -> ChatRequest:
    """The request in the internal form. Raises ApiError."""
    builder = _Messages()
    for number, message in enumerate(messages):
        builder.add(message, f"messages.{number}")
    return ChatRequest(
        messages=normalise(builder.messages),
        tools=tuple(_tool(tool, f"tools.{number}") for number, tool in enumerate(body.tools or ())),
        format=_format(body.format),
        hints=hints,
        template_options=thinking(body.think),
        options=body.generation_options(),
    )


def prompt_request(body: OllamaGenerateRequest, prompt: str) -> ChatRequest:
    """A prompt as the conversation it begins. Raises ApiError."""
    system = [{"role": "system", "content": body.system}] if body.system else []
    return ChatRequest(
        messages=normalise([*system, {"role": "user", "content": prompt}]),
        format=_format(body.format),
        template_options=thinking(body.think),
        options=body.generation_options(),
    )


def plain_name(model: str | None) -> str | None:
    """A model's name without the tag that clients put behind it."""
    return model.removesuffix(TAG) if model is not None else None


async def _raw_plan(service: Service, body: OllamaGenerateRequest, prompt: str) -> Plan:
    for name in ("system", "format"):
        if getattr(body, name):
            message = f"raw and {name} do not go together: leave one of them out."
            raise ApiError(400, message, code="unsupported_value", param=name)
    tokenizer, pin = service.text.tokenizer, service.virtual_model(plain_name(body.model))
    long = len(prompt) + pin.characters > OFF_LOOP_CHARACTERS
    ids, text = await asyncio.to_thread(pin.text, prompt, tokenizer) if long else pin.text(prompt, tokenizer)
    return Plan([ids], body.generation_options(), origin=Origin(text))


def _loaded(service: Service, body: OllamaRequest, dialect: OllamaDialect) -> Response:
    service.virtual_model(plain_name(body.model))  # says when there is no such pin
    media_type = JSON_LINES_MEDIA_TYPE if body.streams else "application/json"
    return Response(json_line(dialect.loaded()), media_type=media_type)


class _Messages:
    """Ollama's messages as templates expect them. Its calls may have no ids: results then belong to calls in order."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._unanswered: OrderedDict[str, None] = OrderedDict()
        self._calls = 0

    def add(self, message: OllamaMessage, where: str) -> None:
        """Raises ApiError."""
        _refuse_images(message.images, f"{where}.images")
        fields: dict[str, Any] = {"role": message.role, "content": message.content or ""}
        if message.thinking:
            fields["reasoning_content"] = message.thinking
        if message.tool_calls:
            fields["tool_calls"] = [self._call(call, f"{where}.tool_calls") for call in message.tool_calls]
        if message.role == "tool":
            fields["tool_call_id"] = self._answered(message.tool_call_id, where)
            if message.tool_name:
                fields["name"] = message.tool_name
        self.messages.append(fields)

    def _call(self, call: OllamaToolCall, where: str) -> dict[str, Any]:
        if not is_shallow(call.function.arguments, MAX_LEVELS):
            raise invalid_value(where, f"arguments are nested more than {MAX_LEVELS} levels deep")
        call_id = call.id or f"call_{self._calls}"
        self._calls += 1
        self._unanswered[call_id] = None
        return {"id": call_id, "type": "function", "function": call.function.model_dump()}

    def _answered(self, call_id: str | None, where: str) -> str:
        """The id of the call that a result answers: the one it names, or the first that has no result."""
        found = call_id or next(iter(self._unanswered), None)
        if found is None or found not in self._unanswered:
            raise invalid_value(where, "it is a result, and no call before it waits for one")
        del self._unanswered[found]
        return found


def _tool(tool: OllamaTool, where: str) -> dict[str, Any]:
    function = tool.function.model_dump(exclude_none=True)
    if not is_shallow(function, MAX_LEVELS):
        raise invalid_value(where, f"it is nested more than {MAX_LEVELS} levels deep")
    function.setdefault("parameters", {"type": "object", "properties": {}})
    return {"type": "function", "function": function}


def _format(wanted: Any) -> JsonFormat | None:
    if not wanted:
        return None
    if wanted == "json":
        return JsonFormat()
    if not isinstance(wanted, dict):
        raise invalid_value("format", "it is json or a JSON schema")
    if not is_shallow(wanted, MAX_LEVELS):
        raise invalid_value("format", f"it is nested more than {MAX_LEVELS} levels deep")
    return JsonFormat(wanted)


def _refuse_images(images: Sequence[Any] | None, where: str) -> None:
    if images:
        raise ApiError(400, f"{where}: Images are not supported, only text.", code="unsupported_content", param=where)

"""/v1/responses"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from pinfill_service.api.chat import prepare_chat, thinking
from pinfill_service.api.context import ApplicationDep, ServiceDep
from pinfill_service.api.errors import ApiError, invalid_value
from pinfill_service.api.json_text import dump_bytes, is_shallow
from pinfill_service.api.responses_dialect import ResponsesDialect
from pinfill_service.api.responses_input import Item, checked, messages
from pinfill_service.api.responses_store import ResponseStore, StoredResponse
from pinfill_service.api.responses_tools import MAX_LEVELS, OfferedTools, choose_tools, offered_tools
from pinfill_service.api.running import respond
from pinfill_service.api.schemas.responses import ResponsesRequest
from pinfill_service.api.session_hint import session_hint
from pinfill_service.prompt.chat import ChatRequest, Hints, JsonFormat, normalise

router = APIRouter()

_NOT_SUPPORTED = ("background", "conversation", "prompt")


@router.post("/v1/responses", response_class=Response)
async def create(body: ResponsesRequest, request: Request, service: ServiceDep) -> Response:
    """Answers input items, alone or after those of an earlier answer."""
    for name in _NOT_SUPPORTED:
        if getattr(body, name):
            raise ApiError(400, f"{name} is not supported.", code="unsupported_value", param=name)
    store = service.app.responses
    found = read(body, store, Hints(session_hint(request.headers, body.prompt_cache_key)))
    prepared = await prepare_chat(service, found.chat, body.model)

    def keep(response: Mapping[str, Any]) -> None:
        if body.store is not False:
            store.add(response, found.before, (*found.items, *response["output"]))

    dialect = ResponsesDialect(body, found.tools, service.engine.model.name, service.text.tokenizer, keep)
    return await respond(service, request, prepared.plan, dialect, stream=bool(body.stream))


@router.get("/v1/responses/{response_id}", response_class=Response)
async def retrieve(response_id: str, application: ApplicationDep, stream: bool = False) -> Response:
    """An answer that was stored."""
    if stream:
        raise ApiError(400, "A stored response is not streamed again.", code="unsupported_value", param="stream")
    stored = application.responses.find(response_id)
    if stored is None:
        raise _unknown(response_id)
    return Response(dump_bytes(stored.response), media_type="application/json")


@router.delete("/v1/responses/{response_id}", response_class=Response)
async def delete(response_id: str, application: ApplicationDep) -> Response:
    """Forgets an answer. Those that went on from it stay."""
    if not application.responses.remove(response_id):
        raise _unknown(response_id)
    deleted = {"id": response_id, "object": "response", "deleted": True}
    return Response(dump_bytes(deleted), media_type="application/json")


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request with what it refers to: the answer it goes on from, its items, and the tools it offers."""

    before: StoredResponse | None
    items: tuple[Item, ...]
    tools: OfferedTools
    chat: ChatRequest


def read(body: ResponsesRequest, store: ResponseStore, hints: Hints) -> ReadRequest:
    """The request in the internal form. Raises ApiError."""
    before = _previous(store, body.previous_response_id)
    items = _resolved(store, checked(body.input or ()))
    tools = offered_tools(body.tools or ())
    chat = _chat_request(body, before.items if before is not None else (), items, tools, hints)
    return ReadRequest(before, items, tools, chat)


def _chat_request(
    body: ResponsesRequest, history: tuple[Item, ...], items: tuple[Item, ...], tools: OfferedTools, hints: Hints
) -> ChatRequest:
    choice = choose_tools(body.tool_choice, tools, parallel=body.parallel_tool_calls is not False)
    instructions = [{"role": "system", "content": body.instructions}] if body.instructions else []
    conversation = [*instructions, *messages(history, items, tools)]
    if not conversation:
        raise invalid_value("input", "there is nothing to answer")
    return ChatRequest(
        messages=normalise(conversation),
        tools=tools.tools,
        tool_choice=choice,
        format=_format(body),
        hints=hints,
        template_options=thinking(body.reasoning.effort if body.reasoning is not None else None),
        options=body.generation_options(),
    )


def _format(body: ResponsesRequest) -> JsonFormat | None:
    wanted = body.text.format if body.text is not None else None
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return JsonFormat()
    if wanted.json_schema is None:
        raise invalid_value("text.format.schema", "json_schema needs a schema")
    if not is_shallow(wanted.json_schema, MAX_LEVELS):
        raise invalid_value("text.format.schema", f"it is nested more than {MAX_LEVELS} levels deep")
    return JsonFormat(wanted.json_schema)


def _previous(store: ResponseStore, response_id: str | None) -> StoredResponse | None:
    """The answer to go on from. The status and the code of its absence are OpenAI's."""
    if response_id is None:
        return None
    found = store.find(response_id)
    if found is None:
        message = f"Previous response with id {response_id[:100]!r} not found. Send the whole conversation as input."
        raise ApiError(400, message, code="previous_response_not_found", param="previous_response_id")
    return found


def _resolved(store: ResponseStore, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items with what references stand for in their place. Raises ApiError."""
    if all(item.get("type") != "item_reference" for item in items):
        return items
    kept = store.items()
    return tuple(
        _referenced(kept, item, f"input.{number}") if item.get("type") == "item_reference" else item
        for number, item in enumerate(items)
    )


def _referenced(kept: Mapping[str, Item], item: Item, where: str) -> Item:
    item_id = item.get("id")
    if not isinstance(item_id, str):
        raise invalid_value(f"{where}.id", "it is missing or no text")
    if item_id not in kept:
        message = f"Item with id {item_id[:100]!r} not found. Send the item itself."
        raise ApiError(404, message, code="item_not_found", param=where)
    return kept[item_id]


def _unknown(response_id: str) -> ApiError:
    return ApiError(404, f"Response with id {response_id[:100]!r} not found.", code="response_not_found")

"""POST /v1/messages and /v1/messages/count_tokens, as Anthropic has them."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from pinfill_service.api.anthropic_dialect import MessagesDialect
from pinfill_service.api.anthropic_request import chat_request
from pinfill_service.api.chat import prepare_chat
from pinfill_service.api.context import ServiceDep
from pinfill_service.api.errors import ERROR_STATUSES, REQUEST_ID, ApiError
from pinfill_service.api.json_text import dump_bytes
from pinfill_service.api.running import respond
from pinfill_service.api.schemas.anthropic import AnthropicErrorEnvelope, CountTokensRequest, MessagesRequest
from pinfill_service.engine.errors import ContextLengthError

router = APIRouter(responses={status: {"model": AnthropicErrorEnvelope} for status in ERROR_STATUSES})


@router.post("/v1/messages", response_class=Response)
async def messages(body: MessagesRequest, request: Request, service: ServiceDep) -> Response:
    """Continues a conversation."""
    prepared = await prepare_chat(service, chat_request(body, request.headers), body.model)
    dialect = MessagesDialect(
        service.engine.model.name,
        len(prepared.prompt.ids),
        str(request.scope[REQUEST_ID]),
        shown=body.thinking is None or body.thinking.display != "omitted",
    )
    try:
        return await respond(service, request, prepared.plan, dialect, stream=bool(body.stream))
    except ContextLengthError as error:
        raise _too_long(error) from error


@router.post("/v1/messages/count_tokens", response_class=Response)
async def count_tokens(body: CountTokensRequest, request: Request, service: ServiceDep) -> Response:
    """The tokens of the prompt that the same request to /v1/messages would make."""
    prepared = await prepare_chat(service, chat_request(body, request.headers), body.model)
    return Response(dump_bytes({"input_tokens": len(prepared.prompt.ids)}), media_type="application/json")


def _too_long(error: ContextLengthError) -> ApiError:
    """In Anthropic's words, from which clients read both numbers. One token of the context is the answer's."""
    maximum = error.context_length - 1
    return ApiError(400, f"prompt is too long: {error.prompt_tokens} tokens > {maximum} maximum", code=error.code)

"""GET /v1/models, in Anthropic's form for its clients, and the tokenizer by itself as llama-server offers it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from pinfill_service.api.anthropic_models import model_info, page
from pinfill_service.api.context import Service, ServiceDep
from pinfill_service.api.errors import ERROR_STATUSES, ApiError
from pinfill_service.api.json_text import dump_bytes
from pinfill_service.api.schemas.anthropic import AnthropicErrorEnvelope
from pinfill_service.api.schemas.openai import DetokenizeRequest, ErrorEnvelope, TokenizeRequest
from pinfill_service.pins.pin import PinStatus

router = APIRouter()

AnthropicVersion = Annotated[str | None, Header(description="Its presence asks for Anthropic's form.")]
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorEnvelope | AnthropicErrorEnvelope} for status in ERROR_STATUSES
}


@router.get("/v1/models", response_class=Response, responses=_ERRORS)
async def models(
    service: ServiceDep,
    anthropic_version: AnthropicVersion = None,
    limit: Annotated[int | None, Query(ge=1, le=1000)] = None,
    after_id: str | None = None,
    before_id: str | None = None,
) -> Response:
    """The loaded model, by itself and with each pin in front. Pages are Anthropic's: OpenAI's list is always whole."""
    pins = await asyncio.to_thread(_pins, service)
    found = [_model(service), *(_virtual(service, pin) for pin in pins)]
    if anthropic_version is not None:
        return _json(page(found, limit, after_id, before_id))
    return _json({"object": "list", "data": found})


@router.get("/v1/models/{name:path}", response_class=Response, responses=_ERRORS)
async def model(name: str, service: ServiceDep, anthropic_version: AnthropicVersion = None) -> Response:
    """The loaded model by its name, or as NAME@PIN."""
    found = await _named(name, service)
    return _json(found if anthropic_version is None else model_info(found))


@router.post("/tokenize", response_class=Response)
async def tokenize(body: TokenizeRequest, service: ServiceDep) -> Response:
    """Token ids of a text; `with_pieces` adds each token's text, or its bytes where they are no text."""
    tokenizer = service.text.tokenizer
    encode = tokenizer.encode_prompt if body.add_special else tokenizer.encode
    ids = await asyncio.to_thread(encode, body.content)
    if not body.with_pieces:
        return _json({"tokens": ids})
    return _json({"tokens": [{"id": token_id, "piece": _piece(service, token_id)} for token_id in ids]})


@router.post("/detokenize", response_class=Response)
async def detokenize(body: DetokenizeRequest, service: ServiceDep) -> Response:
    """The text of token ids."""
    return _json({"content": service.text.tokenizer.decode(body.tokens)})


async def _named(name: str, service: Service) -> dict[str, object]:
    loaded, _, pin = name.partition("@")
    if pin and loaded == service.engine.model.name:
        service.virtual_model(name)  # says which there are
        return _virtual(service, await asyncio.to_thread(service.app.pins.get, pin))
    if name != service.engine.model.name:
        raise ApiError(404, f"The model {name!r} is not loaded.", code="model_not_found", param="model")
    return _model(service)


def _piece(service: Service, token_id: int) -> str | list[int]:
    token = service.text.tokenizer.token_text(token_id)
    return token.text if token.text.encode() == token.data else list(token.data)


def _model(service: Service) -> dict[str, object]:
    info = service.engine.model
    return {
        "id": info.name,
        "object": "model",
        "created": service.started,
        "owned_by": "pinfill",
        "meta": {
            "n_ctx": info.context_length,
            "n_vocab": info.vocab_size,
            "kv_bytes_per_token": info.kv_bytes_per_token,
            "fingerprint": info.fingerprint,
            "provider": info.provider,
        },
    }


def _pins(service: Service) -> list[PinStatus]:
    return [] if service.app.kept is None else service.app.kept.pins.all(ask_engine=False)


def _virtual(service: Service, pin: PinStatus) -> dict[str, object]:
    """The model with a pin in front."""
    model = _model(service)
    about = {"pin": pin.name, "tokens": pin.tokens, "state": pin.state}
    meta = model["meta"]
    assert isinstance(meta, dict)
    return {**model, "id": f"{model['id']}@{pin.name}", "meta": meta | about}


def _json(value: object) -> Response:
    return Response(dump_bytes(value), media_type="application/json")

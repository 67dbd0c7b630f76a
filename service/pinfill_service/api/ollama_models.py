"""What else Ollama's clients ask: which models there are, what they can do, and how new the service is."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from pinfill_service.api.context import Service, ServiceDep
from pinfill_service.api.errors import ApiError
from pinfill_service.api.json_text import dump_bytes
from pinfill_service.api.ollama import ERRORS, TAG, plain_name
from pinfill_service.api.ollama_dialect import timestamp
from pinfill_service.api.schemas.ollama import OllamaShowRequest
from pinfill_service.models.catalog import ModelError

router = APIRouter(prefix="/api", tags=["ollama"], responses=ERRORS)

# Clients refuse what they take for an old Ollama: Codex below 0.13.4 (/v1/responses), VS Code below 0.6.4.
OLLAMA_VERSION = "0.14.2"
NEVER = "9999-12-31T00:00:00Z"  # when the model is unloaded by itself

_MANAGED = "Models are managed with pinfill models, in a terminal or in the app"
_REFUSED = {
    "/pull": ("POST", f"{_MANAGED}: pinfill models pull NAME."),
    "/push": ("POST", f"{_MANAGED}; nothing is uploaded."),
    "/create": ("POST", f"{_MANAGED}: pinfill models import FILE."),
    "/copy": ("POST", f"{_MANAGED}."),
    "/delete": ("DELETE", f"{_MANAGED}: pinfill models remove NAME."),
    "/blobs/{digest}": ("POST", f"{_MANAGED}: pinfill models import FILE."),
    "/embed": ("POST", "This service makes no embeddings; ask another one for them."),
    "/embeddings": ("POST", "This service makes no embeddings; ask another one for them."),
}


@dataclass(frozen=True, slots=True)
class _Known:
    """What the library knows of the loaded model; a model from elsewhere is known by its name only."""

    size: int = 0
    modified: float = 0.0
    architecture: str = "unknown"
    quantisation: str = ""
    licence: str = ""


@router.get("/version", response_class=Response)
async def version() -> Response:
    """The version of Ollama whose API this is."""
    return _json({"version": OLLAMA_VERSION})


@router.get("/tags", response_class=Response)
async def tags(service: ServiceDep) -> Response:
    """The loaded model, by itself and with each pin in front."""
    names, known = await asyncio.to_thread(_names, service), await asyncio.to_thread(_known, service)
    return _json({"models": [_entry(service, name, known) for name in names]})


@router.get("/ps", response_class=Response)
async def running(service: ServiceDep) -> Response:
    """The loaded model."""
    known = await asyncio.to_thread(_known, service)
    entry = _entry(service, service.engine.model.name, known)
    del entry["modified_at"]
    length = service.engine.model.context_length
    return _json({"models": [entry | {"expires_at": NEVER, "size_vram": 0, "context_length": length}]})


@router.post("/show", response_class=Response)
async def show(body: OllamaShowRequest, service: ServiceDep) -> Response:
    """What the loaded model can do."""
    name = plain_name(body.model or body.name) or ""
    if name not in await asyncio.to_thread(_names, service):
        raise ApiError(404, f"model {name[:100]!r} not found: GET /api/tags lists the ones there are.")
    known, info = await asyncio.to_thread(_known, service), service.engine.model
    facts = {
        "general.architecture": known.architecture,
        f"{known.architecture}.context_length": info.context_length,
        f"{known.architecture}.vocab_size": info.vocab_size,
    }
    return _json(
        {
            "license": known.licence,
            "modelfile": "",
            "parameters": f"num_ctx {info.context_length}",
            "template": "",
            "details": _details(known),
            "model_info": facts,
            "capabilities": ["completion", "tools"],
            "modified_at": timestamp(known.modified),
        }
    )


def _refuse(path: str, method: str, words: str) -> None:
    async def refused() -> Response:
        raise ApiError(501, words, code="not_implemented")

    router.add_api_route(path, refused, methods=[method], include_in_schema=False)


for _path, (_method, _words) in _REFUSED.items():
    _refuse(_path, _method, _words)


def _names(service: Service) -> list[str]:
    """The names requests can ask for, without tags."""
    kept, name = service.app.kept, service.engine.model.name
    pins = kept.pins.all(ask_engine=False) if kept is not None else []
    return [name, *(f"{name}@{pin.name}" for pin in pins)]


def _known(service: Service) -> _Known:
    library, name = service.app.library, service.engine.model.name
    try:
        size, sidecar = library.describe(name).bytes_on_disk, library.sidecar(name)
    except ModelError:
        return _Known()
    if sidecar is None:
        return _Known(size)
    return _Known(
        size,
        sidecar.created.timestamp() if sidecar.created is not None else 0.0,
        sidecar.architecture or "unknown",
        sidecar.quantisation or "",
        sidecar.licence or "",
    )


def _entry(service: Service, name: str, known: _Known) -> dict[str, Any]:
    return {
        "name": name + TAG,
        "model": name + TAG,
        "modified_at": timestamp(known.modified),
        "size": known.size,
        "digest": service.engine.model.fingerprint,
        "details": _details(known),
    }


def _details(known: _Known) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "onnx",
        "family": known.architecture,
        "families": [known.architecture],
        "parameter_size": "",
        "quantization_level": known.quantisation,
    }


def _json(value: object) -> Response:
    return Response(dump_bytes(value), media_type="application/json")

"""Errors as HTTP answers, in the envelope of the API that was asked: OpenAI's on every route of no other one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from pinfill_service.api.json_text import dump_bytes
from pinfill_service.engine.errors import (
    ContextLengthError,
    EngineBusyError,
    EngineClosedError,
    EngineError,
    GrammarError,
)
from pinfill_service.pins.errors import (
    PinBudgetError,
    PinContentError,
    PinError,
    PinExistsError,
    PinStateError,
    PinTooLongError,
    UnknownPinError,
)
from pinfill_service.prompt.grammar import SchemaError
from pinfill_service.prompt.template import TemplateError

REQUEST_ID = "pinfill.request_id"  # where a request's scope keeps its name
ERROR_STATUSES = (400, 401, 403, 404, 405, 409, 413, 429, 500, 503, 507)  # of any route

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
}
_PIN_STATUSES: dict[type[PinError], int] = {
    UnknownPinError: 404,
    PinExistsError: 409,
    PinStateError: 409,
    PinContentError: 400,
    PinTooLongError: 400,
    PinBudgetError: 507,
}
_MAX_WORDS = 300  # of a sentence that quotes what was sent
_MAX_MESSAGES = 3  # of one validation failure: a wrong list can fail in every element


class ApiError(Exception):
    """An answer other than success. `param` names the field at fault as a path (`messages.0.content`)."""

    def __init__(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.headers: dict[str, str] = {}


def invalid_value(where: str, words: str) -> ApiError:
    """The answer to a field, named by its path, that is not what `words` say it has to be."""
    return ApiError(400, f"{where}: {words[:_MAX_WORDS]}.", code="invalid_value", param=where)


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """An error, to be written in one of the envelopes."""

    status: int
    message: str
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def openai(self) -> dict[str, object]:
        """`{"error": {message, type, param, code}}`"""
        kind = "server_error" if self.status >= 500 else _TYPES.get(self.status, "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    def anthropic(self, request_id: str) -> dict[str, object]:
        """`{"type": "error", "error": {type, message}, "request_id"}`"""
        kind = _ANTHROPIC_TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "api_error")
        return {"type": "error", "error": {"type": kind, "message": self.message}, "request_id": request_id}

    def ollama(self) -> dict[str, object]:
        """`{"error": message}`"""
        return {"error": self.message}

    def response(self, scope: Scope) -> Response:
        """The answer to a request."""
        path = scope["path"]
        if _is_anthropic(path, Headers(scope=scope)):
            body = self.anthropic(scope[REQUEST_ID])
        elif path.startswith("/api/"):
            body = self.ollama()
        else:
            body = self.openai()
        return Response(dump_bytes(body), self.status, dict(self.headers), "application/json")


def answer_for(error: Exception) -> ErrorAnswer:
    """The answer for any exception. Nothing about unexpected ones is told: they may quote prompts or paths."""
    match error:
        case ApiError():
            return ErrorAnswer(error.status, error.message, code=error.code, param=error.param, headers=error.headers)
        case RequestValidationError():
            return _validation_answer(error)
        case HTTPException():
            return ErrorAnswer(error.status_code, _http_message(error), headers=error.headers or {})
        case TemplateError():
            return ErrorAnswer(400, str(error), code="template_error", param="messages")
        case SchemaError():
            return ErrorAnswer(400, str(error), code=error.code, param=error.path or None)
        case PinError():
            return ErrorAnswer(_PIN_STATUSES.get(type(error), 400), str(error), code=error.code)
        case ContextLengthError() | GrammarError():
            return ErrorAnswer(400, str(error), code=error.code)
        case EngineBusyError():
            return ErrorAnswer(429, str(error) or "The queue is full.", code=error.code, headers={"Retry-After": "1"})
        case EngineClosedError():
            return ErrorAnswer(503, str(error) or "The service is shutting down.", code=error.code)
        case EngineError():
            return ErrorAnswer(500, str(error) or "The engine failed.", code=error.code)
        case _:
            return ErrorAnswer(500, "Internal error.", code="internal_error")


def add_error_handlers(app: FastAPI) -> None:
    """Makes every error of the routes, and of routing itself, an envelope."""

    async def handle(request: Request, error: Exception) -> Response:
        return answer_for(error).response(request.scope)

    ours = (ApiError, TemplateError, SchemaError, PinError, EngineError)
    for kind in (RequestValidationError, HTTPException, *ours):
        app.add_exception_handler(kind, handle)


def _is_anthropic(path: str, headers: Headers) -> bool:
    if path == "/v1/models" or path.startswith("/v1/models/"):
        return "anthropic-version" in headers
    return path == "/v1/messages" or path.startswith("/v1/messages/")


def _http_message(error: HTTPException) -> str:
    if error.detail and error.detail != HTTPStatus(error.status_code).phrase:
        return str(error.detail)
    if error.status_code == 404:
        return "There is nothing at this address."
    if error.status_code == 405:
        return "This address does not take that method."
    return f"{HTTPStatus(error.status_code).phrase}."


def _validation_answer(error: RequestValidationError) -> ErrorAnswer:
    found = error.errors()
    if any(item["type"] == "json_invalid" for item in found):
        return ErrorAnswer(400, "The body is not valid JSON.", code="invalid_json")
    if isinstance(error.body, bytes):
        return ErrorAnswer(
            400, "Send JSON, with the header Content-Type: application/json.", code="invalid_content_type"
        )
    texts = []
    for item in found[:_MAX_MESSAGES]:
        path = _path(item["loc"])
        texts.append(f"{path}: {item['msg']}" if path else str(item["msg"]))
    param = _path(found[0]["loc"]) if found else None
    return ErrorAnswer(400, "; ".join(texts) or "The request is not valid.", code="invalid_value", param=param or None)


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location[1:])

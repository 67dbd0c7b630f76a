"""One small real request, as an agent would send it: does an answer come, and how much of it was cached?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError
from PySide6.QtCore import QObject, QUrl
from PySide6.QtNetwork import QNetworkReply, QNetworkRequest
from shiboken6 import isValid

from pinfill_app.client import not_understood, refusal
from pinfill_app.failure import Failure
from pinfill_app.network import HTTP_STATUS, content_of, direct_manager, request_to, too_late, unreachable
from pinfill_service.agents.agent import Endpoint

SECONDS = 600.0  # without a word: a long pin may have to be prefilled first
MOST_TOKENS = 16
QUESTION = "Say hello in one short sentence."


@dataclass(frozen=True, slots=True)
class TrialAnswer:
    """What came back. `seconds` is until the whole answer was there."""

    seconds: float
    cached_tokens: int
    processed_tokens: int
    answer: str


class _Details(BaseModel):
    cached_tokens: int


class _Usage(BaseModel):
    prompt_tokens: int
    prompt_tokens_details: _Details


class _Message(BaseModel):
    content: str | None


class _Choice(BaseModel):
    message: _Message


class _Completion(BaseModel):
    choices: list[_Choice]
    usage: _Usage


class TrialRequests(QObject):
    """Sends such requests. `done` is called once for each; not for a method of a QObject that is gone by then."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._manager = direct_manager(self)

    def send(self, endpoint: Endpoint, done: Callable[[TrialAnswer | Failure], None]) -> None:
        """Asks the endpoint's model something."""
        request = request_to(QUrl(f"{endpoint.v1}/chat/completions"), endpoint.key, SECONDS)
        request.setHeader(QNetworkRequest.KnownHeaders.ContentTypeHeader, "application/json")
        request.setHeader(QNetworkRequest.KnownHeaders.UserAgentHeader, "pinfill-test")
        messages = [{"role": "user", "content": QUESTION}]
        body = {"model": endpoint.model, "messages": messages, "max_tokens": MOST_TOKENS, "temperature": 0}
        began = time.monotonic()
        reply = self._manager.post(request, json.dumps(body).encode())
        reply.finished.connect(lambda: self._on_finished(reply, began, done))

    @staticmethod
    def _on_finished(reply: QNetworkReply, began: float, done: Callable[[TrialAnswer | Failure], None]) -> None:
        reply.deleteLater()
        receiver = getattr(done, "__self__", None)
        if not isinstance(receiver, QObject) or isValid(receiver):
            done(_outcome(reply, time.monotonic() - began))


def _outcome(reply: QNetworkReply, seconds: float) -> TrialAnswer | Failure:
    address, status, error = reply.url().authority(), reply.attribute(HTTP_STATUS), reply.error()
    content = content_of(reply)
    if status is not None and status >= 400:
        return refusal(address, status, content)
    if error in (QNetworkReply.NetworkError.TimeoutError, QNetworkReply.NetworkError.OperationCanceledError):
        return too_late(address)
    if error is not QNetworkReply.NetworkError.NoError:
        return unreachable(address)
    try:
        got = _Completion.model_validate_json(content)
    except ValidationError:
        return not_understood(address, status)
    cached = got.usage.prompt_tokens_details.cached_tokens
    answer = got.choices[0].message.content or "" if got.choices else ""
    return TrialAnswer(seconds, cached, got.usage.prompt_tokens - cached, answer.strip())

"""The management API of the service, asked without blocking. Answers and failures come to callbacks as values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError
from PySide6.QtCore import QCoreApplication, QObject, QUrl, QUrlQuery
from PySide6.QtNetwork import QNetworkReply, QNetworkRequest
from shiboken6 import isValid

from pinfill_app.failure import Failure, FailureKind
from pinfill_app.failure_words import refused
from pinfill_app.network import HTTP_STATUS, content_of, direct_manager, request_to, too_late, unreachable

T = TypeVar("T", bound=BaseModel)

API = "/pinfill/v1/"
SECONDS = 15.0  # for an answer, unless the caller knows better
MAX_ANSWER_BYTES = 64 << 20


class Client(QObject):
    """Asks one service. Paths are given in parts, below /pinfill/v1, each of them one segment whatever it holds.

    `done` is called once, from the event loop, with the parsed answer or with a Failure; it is not called for a method
    of a QObject that is gone by then, nor for a call that was aborted.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._manager = direct_manager(self)
        self._url = ""
        self._key: str | None = None
        self._calls: set[Call[Any]] = set()  # signals hold their receivers weakly

    @property
    def url(self) -> str:
        """`http://host:port` of the service; empty while there is none."""
        return self._url

    @property
    def key(self) -> str | None:
        """The key that is sent; None for a service that asks for none."""
        return self._key

    def connect_to(self, url: str, key: str | None) -> None:
        """Where the service is from now on; an empty `url` while there is none."""
        self._url, self._key = url, key

    def get(self, schema: type[T], *path: str, done: Callable[[T | Failure], None], **query: object) -> Call[T]:
        return self.ask("GET", schema, *path, done=done, query=query)

    def delete(self, schema: type[T], *path: str, done: Callable[[T | Failure], None]) -> Call[T]:
        return self.ask("DELETE", schema, *path, done=done)

    def post(
        self,
        schema: type[T],
        *path: str,
        done: Callable[[T | Failure], None],
        body: BaseModel | None = None,
        seconds: float | None = SECONDS,
    ) -> Call[T]:
        """`seconds`: how long nothing may be heard; None: as long as it takes."""
        return self.ask("POST", schema, *path, done=done, body=body, seconds=seconds)

    def patch(self, schema: type[T], *path: str, done: Callable[[T | Failure], None], body: BaseModel) -> Call[T]:
        return self.ask("PATCH", schema, *path, done=done, body=body)

    def ask(
        self,
        method: str,
        schema: type[T],
        *path: str,
        done: Callable[[T | Failure], None],
        query: Mapping[str, object] | None = None,
        body: BaseModel | None = None,
        seconds: float | None = SECONDS,
    ) -> Call[T]:
        """One request; fields of `body` that were not set are not sent."""
        request = request_to(self._address(path, query or {}), self._key, seconds)
        content = b""
        if body is not None:
            content = body.model_dump_json(exclude_unset=True).encode()
            request.setHeader(QNetworkRequest.KnownHeaders.ContentTypeHeader, "application/json")
        reply = self._manager.sendCustomRequest(request, method.encode(), content)
        call = Call(reply, schema, done, self._calls.discard)
        self._calls.add(call)
        return call

    def _address(self, path: tuple[str, ...], query: Mapping[str, object]) -> QUrl:
        url = QUrl(self._url + API + "/".join(quote(part, safe="") for part in path))
        parameters = QUrlQuery()
        for name, value in query.items():
            if value is not None:
                parameters.addQueryItem(name, quote(str(value), safe=""))
        url.setQuery(parameters)
        return url


class Call(Generic[T]):
    """A request under way."""

    def __init__(
        self,
        reply: QNetworkReply,
        schema: type[T],
        done: Callable[[T | Failure], None],
        forget: Callable[[Call[T]], None],
    ) -> None:
        self._reply, self._schema, self._done, self._forget = reply, schema, done, forget
        self._aborted = self._too_large = False
        reply.readyRead.connect(self._on_ready)
        reply.finished.connect(self._on_finished)

    def abort(self) -> None:
        """Nobody waits for the answer any more."""
        self._aborted = True
        if isValid(self._reply) and self._reply.isRunning():
            self._reply.abort()

    def _on_ready(self) -> None:
        if self._reply.bytesAvailable() > MAX_ANSWER_BYTES:
            self._too_large = True
            self._reply.abort()

    def _on_finished(self) -> None:
        self._forget(self)
        self._reply.deleteLater()
        receiver = getattr(self._done, "__self__", None)
        if self._aborted or (isinstance(receiver, QObject) and not isValid(receiver)):
            return
        self._done(self._outcome())

    def _outcome(self) -> T | Failure:
        address = self._reply.url().authority()
        status = self._reply.attribute(HTTP_STATUS)
        content = content_of(self._reply)
        error = self._reply.error()
        if status is not None and status >= 400:
            return refusal(address, status, content)
        if self._too_large:
            return not_understood(address, status)
        if error in (QNetworkReply.NetworkError.TimeoutError, QNetworkReply.NetworkError.OperationCanceledError):
            return too_late(address)  # Qt tells a transfer that took too long as one that was cancelled
        if error is not QNetworkReply.NetworkError.NoError:
            return unreachable(address)
        try:
            return self._schema.model_validate_json(content)
        except ValidationError:
            return not_understood(address, status)


def refusal(address: str, status: int, content: bytes) -> Failure:
    """What the service said instead of an answer."""
    tr = QCoreApplication.translate
    try:
        error = json.loads(content)["error"]
        message, code = str(error["message"]), error["code"]
    except (ValueError, KeyError, TypeError):
        return not_understood(address, status)
    if status == 401:
        words = tr("failures", "The service at {} wants another key than Pinfill has. Restart it from Pinfill's menu.")
        return Failure(FailureKind.KEY_REFUSED, words.format(address), status, code, message)
    if status == 404 and code is None:  # not the thing is missing, but the address
        return not_understood(address, status)
    return refused(message, code if isinstance(code, str) else None, status)


def not_understood(address: str, status: int | None) -> Failure:
    """An answer that this version does not know."""
    tr = QCoreApplication.translate
    words = tr("failures", "What answers at {} is not Pinfill, or another version of it. Restart the service.")
    return Failure(FailureKind.NOT_UNDERSTOOD, words.format(address), status)

"""What a request must pass before any route sees it. Pure ASGI, so that streams and disconnects pass through."""

from __future__ import annotations

import logging
import secrets
import uuid
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pinfill_service.api.errors import REQUEST_ID, ErrorAnswer, answer_for
from pinfill_service.keys import is_loopback

OPEN_PATHS = frozenset({("GET", "/livez"), ("HEAD", "/"), ("HEAD", "/api/hello")})

_log = logging.getLogger(__name__)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class RequestIds:
    """Outermost: names every request in `X-Request-Id` and, as Anthropic does, `Request-Id`, and turns an unexpected
    exception into a 500 that tells nothing; the details go to the log under the same id.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        request_id = scope[REQUEST_ID] = f"req_{uuid.uuid4().hex}"
        names = [(name, request_id.encode()) for name in (b"x-request-id", b"request-id")]
        started = False

        async def send_named(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": [*message["headers"], *names]}
            await send(message)

        try:
            await self._app(scope, receive, send_named)
        except Exception as error:
            _log.exception("%s %s failed (%s)", scope["method"], scope["path"], request_id)
            if started:
                raise
            await answer_for(error).response(scope)(scope, receive, send_named)


class Gatekeeper:
    """Refuses foreign hosts (DNS rebinding), foreign web pages and requests without the key, in this order.

    `key` None: no key is asked for. OPEN_PATHS need none.
    """

    def __init__(self, app: ASGIApp, *, key: str | None, allowed_hosts: Collection[str]) -> None:
        self._app = app
        self._key = key.encode() if key is not None else None
        self._allowed_hosts = frozenset(host.lower() for host in allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1008})
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            refused = self._check_host(headers) or self._check_origin(scope, headers) or self._check_key(scope, headers)
            if refused is not None:
                return await refused.response(scope)(scope, receive, send)
        await self._app(scope, receive, send)

    def _check_host(self, headers: Headers) -> ErrorAnswer | None:
        values = headers.getlist("host")
        name = _host_name(values[0]) if len(values) == 1 else None
        if name is not None and (is_loopback(name) or name in self._allowed_hosts):
            return None
        return ErrorAnswer(
            403, "This host name is not allowed; add it to allowed_hosts in the settings.", code="host_not_allowed"
        )

    def _check_origin(self, scope: Scope, headers: Headers) -> ErrorAnswer | None:
        host = headers["host"]
        for origin in headers.getlist("origin"):
            if not _same_origin(origin, host):
                return ErrorAnswer(403, "Requests from other web pages are refused.", code="origin_not_allowed")
        return None

    def _check_key(self, scope: Scope, headers: Headers) -> ErrorAnswer | None:
        if self._key is None or (scope["method"], scope["path"]) in OPEN_PATHS:
            return None
        sent = headers.get("x-api-key")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        offered = [value for value in (sent, token.strip() if scheme.lower() == "bearer" else None) if value]
        # Header values are Latin-1 on the wire; encoding them back gives the bytes the client sent.
        if any(secrets.compare_digest(value.encode("latin-1"), self._key) for value in offered):
            return None
        message = (
            "The API key is not the right one." if offered else "An API key is needed: Authorization: Bearer <key>."
        )
        return ErrorAnswer(401, message, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})


class BodyLimit:
    """Reads the body, at most `limit` bytes of it, before the routes run: they hold all of it anyway."""

    def __init__(self, app: ASGIApp, *, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        declared = Headers(scope=scope).get("content-length", "")
        too_large = declared.isdecimal() and (len(declared) > 18 or int(declared) > self._limit)
        body = None if too_large else await self._read(receive)
        if body is None:
            mib = self._limit >> 20
            refused = ErrorAnswer(
                413, f"The body is larger than {mib} MiB.", code="body_too_large", headers={"Connection": "close"}
            )
            return await refused.response(scope)(scope, receive, send)
        first: Message | None = body

        async def replay() -> Message:
            nonlocal first
            message, first = first, None
            return message if message is not None else await receive()

        await self._app(scope, replay, send)

    async def _read(self, receive: Receive) -> Message | None:
        """The whole body as one message, or the disconnect that came instead; None when it is too large."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return message
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limit:
                return None
            if not message.get("more_body", False):
                return {"type": "http.request", "body": b"".join(parts), "more_body": False}


def _host_name(value: str) -> str | None:
    """The name in a Host header, lower case, without the port; None when it is malformed."""
    try:
        parts = urlsplit(f"//{value}")
        port_is_valid = parts.port is None or parts.port >= 0
    except ValueError:
        return None
    plain = parts.netloc == value and parts.username is None and not (parts.path or parts.query or parts.fragment)
    return parts.hostname if plain and port_is_valid else None


def _same_origin(origin: str, host: str) -> bool:
    """Whether an Origin names the very host and port the request was sent to."""
    try:
        parts, target = urlsplit(origin), urlsplit(f"//{host}")
        default = _DEFAULT_PORTS.get(parts.scheme)
        return (
            default is not None
            and parts.hostname is not None
            and parts.hostname == target.hostname
            and (parts.port or default) == (target.port or default)
        )
    except ValueError:
        return False

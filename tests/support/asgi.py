"""Calling an ASGI application by hand, where a test must decide when the client goes away."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.types import ASGIApp, Message, Scope


class Exchange:
    """One request. The body is sent at once; `leave` is the client's disconnect; what comes back is collected."""

    def __init__(
        self, app: ASGIApp, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ):
        self._app = app
        raw = b"" if body is None else json.dumps(body).encode()
        sent = {"host": "127.0.0.1:7463", "content-type": "application/json"} | (headers or {})
        self._scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 7463),
        }
        self._bodies: list[Message] = [{"type": "http.request", "body": raw, "more_body": False}]
        self._left = asyncio.Event()
        self.messages: asyncio.Queue[Message] = asyncio.Queue()

    def chunked(self, parts: list[bytes]) -> Exchange:
        """Sends the body in parts, without saying how long it is."""
        self._bodies = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
        self._bodies.append({"type": "http.request", "body": b"", "more_body": False})
        return self

    def leave(self) -> None:
        self._left.set()

    async def run(self) -> None:
        """Until the application is done with the request."""
        async with asyncio.timeout(20):
            await self._app(self._scope, self._receive, self.messages.put)

    async def _receive(self) -> Message:
        if self._bodies:
            return self._bodies.pop(0)
        await self._left.wait()
        return {"type": "http.disconnect"}

    def received(self) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) so far."""
        messages: list[Any] = []
        while not self.messages.empty():
            messages.append(self.messages.get_nowait())
        start = messages[0]
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return start["status"], headers, b"".join(each.get("body", b"") for each in messages[1:])

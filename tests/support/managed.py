"""A whole service on a scripted engine, with a state folder of its own, asked over its management API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from pinfill_service.api.context import Application
from pinfill_service.api.events import EventHub
from pinfill_service.application import close, create_app
from pinfill_service.loaded_model import LoadedModel
from pinfill_service.models.library import ModelNotFoundError
from pinfill_service.settings import Settings
from tests.support.client import client_for, settings
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Reply
from tests.support.models import llama_text

V1 = "/pinfill/v1"


class FakeLoader:
    """Implements ModelLoader: the models it has are engines made beforehand."""

    def __init__(self, *engines: FakeEngine) -> None:
        self.engines = {engine.model.name: engine for engine in engines}
        self.error: Exception | None = None

    def fingerprint(self, name: str) -> str:
        if name not in self.engines:
            raise ModelNotFoundError(
                f"The model {name} is not on this machine. Get it with: pinfill models pull {name}"
            )
        return self.engines[name].model.fingerprint

    def load(self, name: str, settings: Settings) -> LoadedModel:
        if self.error is not None:
            raise self.error
        return LoadedModel(self.engines[name], llama_text())


class Stream:
    """Everything that is sent on the event stream, waited for. Belongs to the event loop."""

    def __init__(self, hub: EventHub) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self._arrived = asyncio.Condition()
        self._opened = asyncio.Event()
        self._task = asyncio.create_task(self._read(hub))

    async def opened(self) -> Stream:
        await self._opened.wait()
        return self

    async def wait(self, name: str, /, *, after: int = 0, **fields: Any) -> dict[str, Any]:
        """The first event of that name with these fields, from number `after` on."""

        def found() -> dict[str, Any] | None:
            matching = (
                data for n, data in self.seen[after:] if n == name and all(data[k] == v for k, v in fields.items())
            )
            return next(matching, None)

        try:
            async with asyncio.timeout(LIMIT_SECONDS), self._arrived:
                await self._arrived.wait_for(lambda: found() is not None)
        except TimeoutError:
            raise AssertionError(f"no {name} with {fields} among {self.seen[after:]}") from None
        event = found()
        assert event is not None
        return event

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self, hub: EventHub) -> None:
        async for block in hub.stream(f"{hub._run}-0"):  # what happened before it was opened, too
            self._opened.set()
            fields = dict(line.split(": ", 1) for line in block.decode().strip().split("\n"))
            if "event" in fields:
                async with self._arrived:
                    self.seen.append((fields["event"], json.loads(fields["data"])))
                    self._arrived.notify_all()


class Managed:
    """The service under test."""

    def __init__(self, app: FastAPI, engine: FakeEngine, http: httpx.AsyncClient, events: Stream) -> None:
        self.app, self.engine, self.http, self.events = app, engine, http, events

    @property
    def application(self) -> Application:
        application = self.app.state.application
        assert isinstance(application, Application)
        return application

    async def ask(self, method: str, path: str, status: int = 200, **body: Any) -> Any:
        """The JSON of an answer with this status."""
        address = path if path.startswith("/v1") else V1 + path
        response = await self.http.request(method, address, json=body or None)
        assert response.status_code == status, response.text
        return response.json()

    async def get(self, path: str, status: int = 200) -> Any:
        return await self.ask("GET", path, status)

    async def error(self, method: str, path: str, status: int, **body: Any) -> tuple[str, str]:
        """(code, message) of a refusal."""
        error = (await self.ask(method, path, status, **body))["error"]
        return error["code"], error["message"]

    async def pin(self, name: str, **content: Any) -> Any:
        """A pin, warm."""
        after = len(self.events.seen)
        await self.ask("POST", "/pins", 201, name=name, **content)
        await self.events.wait("pin.state", after=after, name=name, state="warm")
        return await self.get(f"/pins/{name}")

    async def chat(self, content: str = "hello", *, agent: str = "tests/1.0", **body: Any) -> httpx.Response:
        messages = body.pop("messages", [{"role": "user", "content": content}])
        return await self.http.post(
            "/v1/chat/completions", json={"messages": messages, **body}, headers={"User-Agent": agent}
        )


@asynccontextmanager
async def managed(
    home: Path, engine: FakeEngine | None = None, loader: FakeLoader | None = None, **flags: Any
) -> AsyncIterator[Managed]:
    """A service on `home`, closed in order at the end."""
    engine = engine or FakeEngine(Reply([5, 6, 7], cached=3))
    app = create_app(settings(**flags), engine, llama_text(), home=home, loader=loader)
    events = await Stream(app.state.application.hub).opened()
    try:
        async with client_for(app) as http:
            yield Managed(app, engine, http, events)
    finally:
        await asyncio.to_thread(close, app.state.application)
        await events.close()

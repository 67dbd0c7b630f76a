"""An application with a scripted engine, and a client for it that checks the shape of every error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from fastapi import FastAPI

from pinfill_service.application import create_app
from pinfill_service.prompt.text_model import TextModel
from pinfill_service.settings import Settings
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.models import ids, llama_text

KEY = "test-key"
AUTH = {"Authorization": f"Bearer {KEY}"}


def settings(**flags: Any) -> Settings:
    """Settings that no file and no environment of this machine changes."""
    return Settings(**{"api_key": KEY, "allowed_hosts": (), "no_key": False, "host": "127.0.0.1"} | flags)


@contextmanager
def saying_hi(context_length: int) -> Iterator[FakeEngine]:
    """An engine that has three tokens of every prompt cached and answers "Hi" with a sign of four bytes."""
    engine = FakeEngine(Reply(ids("Hi 🎉!"), cached=3), context_length=context_length)
    yield engine
    engine.close()


_apps: list[FastAPI] = []


def app_with(engine: FakeEngine, text: TextModel | None = None, **flags: Any) -> FastAPI:
    """One that is closed behind the test, but for its engine."""
    _apps.append(create_app(settings(**flags), engine, text or llama_text()))
    return _apps[-1]


def close_apps() -> None:
    while _apps:
        _apps.pop().state.application.recorder.close()


def client_for(app: FastAPI, **headers: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:7463", headers=AUTH | headers)


def assert_error(
    response: httpx.Response, status: int, *, code: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """Pins the error envelope: every error of every route has exactly these fields."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"].startswith("req_")
    return check_envelope(response.json(), code=code, param=param)


def check_envelope(body: Any, *, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    assert list(body) == ["error"] and set(body["error"]) == {"message", "type", "param", "code"}
    error: dict[str, Any] = body["error"]
    assert isinstance(error["message"], str) and error["message"] and isinstance(error["type"], str)
    assert (error["code"], error["param"]) == (code, param)
    return error


def assert_anthropic_error(response: httpx.Response, status: int, kind: str) -> str:
    """Pins Anthropic's envelope. Its message."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    message, request_id = check_anthropic_envelope(response.json(), kind)
    assert request_id == response.headers["request-id"] == response.headers["x-request-id"]
    return message


def check_anthropic_envelope(body: Any, kind: str | None = None) -> tuple[str, str]:
    """(message, request id) of an error of this kind."""
    assert set(body) == {"type", "error", "request_id"} and body["type"] == "error"
    assert set(body["error"]) == {"type", "message"}
    assert kind in (None, body["error"]["type"])
    message, request_id = body["error"]["message"], body["request_id"]
    assert isinstance(message, str) and message and request_id.startswith("req_")
    return message, request_id


def named_events(text: str) -> list[Any]:
    """The data of every event, whose name is the same as the `type` in it."""
    events = []
    for block in text.split("\n\n")[:-1]:
        name, data = block.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    return events


def sse_events(text: str) -> list[Any]:
    """The data of every event, "[DONE]" as a string; comments are left out."""
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    assert all(block.startswith("data: ") and "\n" not in block for block in blocks)
    data = [block.removeprefix("data: ") for block in blocks]
    return [item if item == "[DONE]" else json.loads(item) for item in data]

"""Generated requests, valid and not, against the description the service gives of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance
from starlette.types import Receive, Scope, Send

from pinfill_service.application import close, create_app
from tests.support.client import AUTH, check_anthropic_envelope, check_envelope, settings
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.models import llama_text

HEADERS = AUTH | {"Host": "127.0.0.1:7463"}
CHECKS = (not_a_server_error, content_type_conformance, response_schema_conformance)


# One never ends, the other fetches a model where the name is one of the catalogue's.
NOT_ASKED = {"/pinfill/v1/events", "/pinfill/v1/models/{name}/pull"}


class Lasting:
    """An application without a lifespan, which schemathesis may run around any of its requests."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            return await self._app(scope, receive, send)
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lasting]:
    engine = FakeEngine(Reply(llama_text().tokenizer.encode("Hi!")))
    app = create_app(settings(), engine, llama_text(), home=tmp_path_factory.mktemp("home"))
    yield Lasting(app)
    close(app.state.application)


def check_error(case: Case, body: Any) -> None:
    asks_anthropic = any(name.lower() == "anthropic-version" for name in case.headers)
    if case.path.startswith("/v1/messages") or (case.path.startswith("/v1/models") and asks_anthropic):
        check_anthropic_envelope(body)
    elif case.path.startswith("/api/"):
        assert list(body) == ["error"] and isinstance(body["error"], str) and body["error"]
    else:
        check_envelope(body, code=body["error"]["code"], param=body["error"]["param"])


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_no_request_breaks_a_route(app: Lasting, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=HEADERS)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert {operation.path for operation in operations} >= {
        "/v1/chat/completions",
        "/v1/messages",
        "/v1/responses",
        "/api/chat",
        "/tokenize",
        "/pinfill/v1/pins",
    }
    for operation in operations:
        if operation.path in NOT_ASKED:
            continue
        if mode is GenerationMode.NEGATIVE and not list(operation.body):
            continue  # nothing in them can be wrong

        @examples(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
        @given(operation.as_strategy(generation_mode=mode))
        def check(case: Case) -> None:
            response = case.call_and_validate(headers=HEADERS, checks=CHECKS)
            if response.status_code >= 400:
                check_error(case, response.json())

        check()

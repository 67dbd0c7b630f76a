"""Generated requests, valid and not, against the description the service gives of itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from tests.support.client import AUTH, app_with, check_envelope
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.models import llama_text

HEADERS = AUTH | {"Host": "127.0.0.1:7463"}
CHECKS = (not_a_server_error, content_type_conformance, response_schema_conformance)


class LastingEngine(FakeEngine):
    """Outlives the application's lifespan, which schemathesis may run around any of its requests."""

    def close(self) -> None:
        """Nothing: `end` is for this test."""

    def end(self) -> None:
        super().close()


@pytest.fixture(scope="module")
def app() -> Iterator[FastAPI]:
    engine = LastingEngine(Reply(llama_text().tokenizer.encode("Hi!")))
    yield app_with(engine)
    engine.end()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_no_request_breaks_a_route(app: FastAPI, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=HEADERS)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert {operation.path for operation in operations} >= {"/v1/chat/completions", "/v1/completions", "/tokenize"}
    for operation in operations:
        if mode is GenerationMode.NEGATIVE and operation.method.upper() != "POST":
            continue  # nothing in them can be wrong

        @examples(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
        @given(operation.as_strategy(generation_mode=mode))
        def check(case: Case) -> None:
            response = case.call_and_validate(headers=HEADERS, checks=CHECKS)
            if response.status_code >= 400:
                body = response.json()
                check_envelope(body, code=body["error"]["code"], param=body["error"]["param"])

        check()

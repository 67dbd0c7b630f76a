"""The official client against a real server on a loopback port: each understands the other."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import openai
import pytest

from pinfill_service.application import listen
from pinfill_service.engine.errors import EngineBusyError, EngineError
from tests.support.client import KEY, settings
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply
from tests.support.models import llama_text
from tests.support.server import serving

TOKENIZER = llama_text().tokenizer
REPLY = TOKENIZER.encode("Hi 🎉!")


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(Reply(REPLY, cached=2))


@pytest.fixture
def base_url(engine: FakeEngine) -> Iterator[str]:
    with serving(engine) as address:
        yield f"{address}/v1"


@pytest.fixture
def client(base_url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
        yield client


USER = [{"role": "user", "content": "hello"}]


def test_small_answers_are_sent_at_once() -> None:
    with listen(settings(port=0)) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert connection.proto == socket.IPPROTO_TCP


def test_a_port_in_use_is_an_error() -> None:
    with listen(settings(port=0)) as listener, pytest.raises(OSError):
        listen(settings(port=listener.getsockname()[1]))


def test_chat(client: openai.OpenAI) -> None:
    raw = client.chat.completions.with_raw_response.create(model="any", messages=USER, logprobs=True, top_logprobs=1)
    assert "server" not in raw.headers and raw.headers["x-request-id"].startswith("req_")
    answer = raw.parse()
    assert answer.choices[0].message.content == "Hi 🎉!" and answer.choices[0].finish_reason == "stop"
    assert answer.model == "fake-model" and answer.usage.prompt_tokens_details.cached_tokens == 2
    assert [entry.logprob for entry in answer.choices[0].logprobs.content] == [-token / 1000 for token in REPLY]


def test_chat_stream(client: openai.OpenAI) -> None:
    options = {"include_usage": True}
    chunks = list(client.chat.completions.create(model="any", messages=USER, stream=True, stream_options=options))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == "Hi 🎉!"
    assert chunks[-1].usage.prompt_tokens_details.cached_tokens == 2 and chunks[-2].choices[0].finish_reason == "stop"
    with client.chat.completions.stream(model="any", messages=USER) as stream:
        assert stream.get_final_completion().choices[0].message.content == "Hi 🎉!"


def test_completions(client: openai.OpenAI) -> None:
    answer = client.completions.create(model="any", prompt=["a", "b"], n=2, logprobs=1, echo=True)
    assert [choice.text for choice in answer.choices] == ["aHi 🎉!"] * 2 + ["bHi 🎉!"] * 2
    assert answer.choices[0].logprobs.token_logprobs[0] is None
    chunks = list(client.completions.create(model="any", prompt="a", stream=True))
    assert "".join(chunk.choices[0].text for chunk in chunks) == "Hi 🎉!"


def test_models(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["fake-model"]
    assert client.models.retrieve("fake-model").meta["n_ctx"] == 512
    with pytest.raises(openai.NotFoundError) as missing:
        client.models.retrieve("other")
    assert missing.value.code == "model_not_found"


def test_errors_are_the_client_s_own_classes(client: openai.OpenAI, engine: FakeEngine) -> None:
    create = client.chat.completions.create
    with pytest.raises(openai.BadRequestError) as long:
        create(model="any", messages=[{"role": "user", "content": "word " * 2000}], stream=True)
    assert long.value.code == "context_length_exceeded"
    with pytest.raises(openai.BadRequestError) as bad:
        create(model="any", messages=USER, temperature=-1)
    assert bad.value.param == "temperature"
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="wrong").models.list()
    with pytest.raises(openai.PermissionDeniedError):
        client.with_options(default_headers={"Origin": "https://evil.example"}).models.list()
    engine.refuse = EngineBusyError("full")
    with pytest.raises(openai.RateLimitError):
        create(model="any", messages=USER)
    engine.refuse = EngineError("lost")
    with pytest.raises(openai.InternalServerError):
        create(model="any", messages=USER)


def test_failure_in_the_stream_is_raised(client: openai.OpenAI, engine: FakeEngine) -> None:
    engine.script = Reply(REPLY, error=EngineError("lost"))
    stream = client.chat.completions.create(model="any", messages=USER, stream=True)
    with pytest.raises(openai.APIError, match="lost"):
        list(stream)


@pytest.mark.parametrize("where", ["prefill", "decode"])
def test_closing_the_stream_stops_the_engine(client: openai.OpenAI, engine: FakeEngine, where: str) -> None:
    gate = Gate()
    engine.script = Reply(REPLY, chunk=4, prefill_gate=gate) if where == "prefill" else Reply(REPLY, at=((2, gate),))
    stream = client.chat.completions.create(model="any", messages=USER, stream=True)
    assert next(stream).choices[0].delta.role == "assistant"  # before the prompt is through
    assert gate.reached.wait(LIMIT_SECONDS)
    stream.close()
    assert engine.wait_idle() and engine.cancelled == [1]


def test_a_connection_that_is_dropped_stops_the_engine(base_url: str, engine: FakeEngine) -> None:
    gate = Gate()
    engine.script = Reply(REPLY, at=((1, gate),))
    body = json.dumps({"messages": USER}).encode()
    address = urlsplit(base_url)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\nx-api-key: {KEY}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(head.encode() + body)
        assert gate.reached.wait(LIMIT_SECONDS)
        assert not engine.cancelled
    assert engine.wait_idle() and engine.cancelled == [1]

"""Ollama's official client against a real server on a loopback port: each understands the other."""

from __future__ import annotations

from collections.abc import Iterator

import ollama
import pytest

from pinfill_service.api import ollama as routes
from pinfill_service.engine.errors import EngineError
from tests.support.client import AUTH
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply
from tests.support.models import ids, llama_text
from tests.support.scripted_reader import use_scripted_reader
from tests.support.server import serving

TOKENIZER = llama_text().tokenizer
USER = [{"role": "user", "content": "hello"}]


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(Reply(ids("Hi 🎉!"), cached=2), context_length=2048)


@pytest.fixture
def client(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[ollama.Client]:
    use_scripted_reader(monkeypatch, routes)
    with serving(engine) as url, ollama.Client(url, headers=AUTH) as client:
        yield client


def test_chat(client: ollama.Client, engine: FakeEngine) -> None:
    answer = client.chat("fake-model", USER)
    assert answer.message.content == "Hi 🎉!" and answer.done_reason == "stop" and answer.prompt_eval_count is not None
    assert answer.prompt_eval_count == len(engine.requests[0].prompt)
    parts = list(client.chat("fake-model:latest", USER, stream=True))
    assert "".join(part.message.content or "" for part in parts) == "Hi 🎉!"
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]


def test_a_tool_turn(client: ollama.Client, engine: FakeEngine) -> None:
    def read(path: str) -> str:
        """Reads a file.

        Args:
          path: where it is
        """
        return path

    engine.script = Reply(ids('<think>hm<say>Well.<call read>{"path": "a"}<end>'))
    for answer in (client.chat("m", USER, tools=[read], think=True), _joined(client, tools=[read])):
        assert answer.message.content == "Well." and answer.message.thinking == "hm"
        (call,) = answer.message.tool_calls or ()
        assert read(**call.function.arguments) == "a"
    engine.script = Reply(ids("Done."))
    said = [*USER, answer.message, {"role": "tool", "tool_name": "read", "content": "text"}]
    assert client.chat("m", said, tools=[read]).message.content == "Done."


def _joined(client: ollama.Client, **more: object) -> ollama.ChatResponse:
    """A streamed answer as one, put together as the client's documentation says."""
    parts = list(client.chat("m", USER, stream=True, **more))  # type: ignore[call-overload]
    whole = parts[-1]
    whole.message.content = "".join(part.message.content or "" for part in parts)
    whole.message.thinking = "".join(part.message.thinking or "" for part in parts)
    whole.message.tool_calls = [call for part in parts for call in part.message.tool_calls or ()]
    assert isinstance(whole, ollama.ChatResponse)
    return whole


def test_generate(client: ollama.Client, engine: FakeEngine) -> None:
    assert client.generate("fake-model", "hello", options={"num_predict": 3}).done_reason == "length"
    parts = client.generate("fake-model", "hello", stream=True, raw=True)
    assert "".join(part.response or "" for part in parts) == "Hi 🎉!"
    assert TOKENIZER.decode(engine.requests[1].prompt) == "hello"
    assert client.generate("fake-model").done_reason == "load"


def test_models(client: ollama.Client) -> None:
    (model,) = client.list().models
    assert model.model == "fake-model:latest"
    shown = client.show(model.model)
    assert shown.modelinfo is not None and shown.modelinfo["unknown.context_length"] == 2048
    assert shown.capabilities is not None and "tools" in shown.capabilities
    (running,) = client.ps().models
    assert running.name == model.model and running.context_length == 2048


def test_errors_are_the_client_s_own(client: ollama.Client, engine: FakeEngine) -> None:
    with pytest.raises(ollama.ResponseError, match="temperature") as bad:
        client.chat("fake-model", USER, options={"temperature": -1})
    assert bad.value.status_code == 400
    with pytest.raises(ollama.ResponseError, match="context") as long:
        list(client.generate("fake-model", "word " * 9000, stream=True))
    assert long.value.status_code == 400
    for ask in (lambda: client.pull("x"), lambda: client.embed("x", "y")):
        with pytest.raises(ollama.ResponseError) as missing:
            ask()
        assert missing.value.status_code == 501
    engine.script = Reply(ids("Hi"), error=EngineError("lost"))
    with pytest.raises(ollama.ResponseError, match="lost"):
        list(client.chat("fake-model", USER, stream=True))


def test_closing_the_stream_stops_the_engine(client: ollama.Client, engine: FakeEngine) -> None:
    gate = Gate()
    engine.script = Reply(ids("Hi"), at=((1, gate),))
    stream = client.chat("fake-model", USER, stream=True)
    assert next(iter(stream)).message.content == "H"
    assert gate.reached.wait(LIMIT_SECONDS)
    stream.close()  # type: ignore[attr-defined]
    assert engine.wait_idle() and engine.cancelled == [1]

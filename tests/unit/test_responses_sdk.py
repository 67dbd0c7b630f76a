"""OpenAI's official client and the Responses API: each understands the other."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pydantic
import pytest

from pinfill_service.api import responses
from pinfill_service.engine.errors import EngineError
from tests.support.client import KEY
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply
from tests.support.models import ids, llama_text
from tests.support.scripted_reader import use_scripted_reader
from tests.support.server import serving

TOKENIZER = llama_text().tokenizer
READ = {"type": "function", "name": "read", "parameters": {"type": "object"}, "strict": False}


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(Reply(ids("Hi 🎉!"), cached=2), context_length=2048)


@pytest.fixture
def client(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[openai.OpenAI]:
    use_scripted_reader(monkeypatch, responses)
    with serving(engine) as url, openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        yield client


def test_a_conversation(client: openai.OpenAI) -> None:
    first = client.responses.create(model="any", input="hello", instructions="Be kind.")
    assert first.output_text == "Hi 🎉!" and first.usage.input_tokens_details.cached_tokens == 2
    second = client.responses.create(model="any", input="more", previous_response_id=first.id)
    assert second.usage.input_tokens > first.usage.input_tokens - len(ids("Be kind."))
    assert client.responses.retrieve(second.id).output_text == "Hi 🎉!"
    client.responses.delete(second.id)
    with pytest.raises(openai.NotFoundError) as gone:
        client.responses.retrieve(second.id)
    assert gone.value.code == "response_not_found"
    with pytest.raises(openai.BadRequestError) as unknown:
        client.responses.create(model="any", input="x", previous_response_id=second.id)
    assert unknown.value.code == "previous_response_not_found"


def test_the_client_s_own_accumulation(client: openai.OpenAI, engine: FakeEngine) -> None:
    script = '<think>hm<say>Let me look.<call read>{"path": "a"}<end><call read>{"path": "b"}<end>'
    engine.script = Reply(ids(script), cached=2)
    with client.responses.stream(model="any", input="hello", tools=[READ]) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    in_order = ["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"]
    assert kinds[:4] == in_order and kinds[-1] == "response.completed"
    assert [item.type for item in final.output] == ["reasoning", "message", "function_call", "function_call"]
    assert final.output_text == "Let me look."
    assert [item.arguments for item in final.output[2:]] == ['{"path": "a"}', '{"path": "b"}']
    outputs = [{"type": "function_call_output", "call_id": call.call_id, "output": "x"} for call in final.output[2:]]
    engine.script = Reply(ids("Done."), cached=2)
    echoed = [{"role": "user", "content": "hello"}, *(item.to_dict() for item in final.output), *outputs]
    assert client.responses.create(model="any", input=echoed, tools=[READ]).output_text == "Done."


def test_structured_answers(client: openai.OpenAI, engine: FakeEngine) -> None:
    class Point(pydantic.BaseModel):
        x: int

    engine.script = Reply(ids('{"x": 3}'))
    assert client.responses.parse(model="any", input="where", text_format=Point).output_parsed == Point(x=3)


def test_a_failure_in_the_stream_is_told(client: openai.OpenAI, engine: FakeEngine) -> None:
    engine.script = Reply(ids("Hi"), error=EngineError("lost"))
    *_, last = client.responses.create(model="any", input="hello", stream=True)
    assert last.type == "response.failed" and last.response.error.message == "lost"


def test_errors_are_the_client_s_own_classes(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as long:
        client.responses.create(model="any", input="word " * 9000, stream=True)
    assert long.value.code == "context_length_exceeded"
    image = [{"role": "user", "content": [{"type": "input_image", "image_url": "data:", "detail": "auto"}]}]
    with pytest.raises(openai.BadRequestError, match="Images are not supported"):
        client.responses.create(model="any", input=image)
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="wrong").responses.create(model="any", input="x")


def test_closing_the_stream_stops_the_engine(client: openai.OpenAI, engine: FakeEngine) -> None:
    gate = Gate()
    engine.script = Reply(ids("Hi"), chunk=4, prefill_gate=gate)
    stream = client.responses.create(model="any", input="hello", stream=True)
    assert next(iter(stream)).type == "response.created"  # before the prompt is through
    assert gate.reached.wait(LIMIT_SECONDS)
    stream.close()
    assert engine.wait_idle() and engine.cancelled == [1]

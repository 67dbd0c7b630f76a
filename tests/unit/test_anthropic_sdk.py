"""Anthropic's official client against a real server on a loopback port: each understands the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from pinfill_service.api import anthropic_messages
from pinfill_service.engine.errors import EngineBusyError, EngineClosedError, EngineError
from pinfill_service.prompt.reply import CallArguments, CallBegins, CallEnds, Reasoning, Words
from tests.support.client import KEY
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply
from tests.support.models import llama_text
from tests.support.replies import read_as
from tests.support.server import serving

TOKENIZER = llama_text().tokenizer
REPLY = TOKENIZER.encode("Hi 🎉!")
USER = [{"role": "user", "content": "hello"}]
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [{"name": "Read", "description": "Reads a file.", "input_schema": SCHEMA}, {"name": "Now", "input_schema": {}}]
ASK: dict[str, Any] = {"model": "any", "max_tokens": 100, "messages": USER}
TURN = [
    [Reasoning("Where "), Reasoning("is it?")],
    [Words("\n"), Words("I "), Words("look.")],
    [CallBegins(0, "call_1", "Read"), CallArguments(0, '{"path":'), CallArguments(0, ' "a.txt"}'), CallEnds(0)],
    [CallBegins(1, "call_2", "Now"), CallArguments(1, "{}"), CallEnds(1)],
]


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(Reply(REPLY, cached=2), context_length=2048)


@pytest.fixture
def client(engine: FakeEngine) -> Iterator[anthropic.Anthropic]:
    with serving(engine) as address, anthropic.Anthropic(base_url=address, api_key=KEY, max_retries=0) as client:
        yield client


def prompt_tokens(usage: Any) -> int:
    return usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens


def blocks(message: Any) -> list[dict[str, Any]]:
    return [block.to_dict() for block in message.content]


def test_message(client: anthropic.Anthropic, engine: FakeEngine) -> None:
    sampling = {"temperature": 0, "top_k": 5, "top_p": 0.5}
    raw = client.messages.with_raw_response.create(**ASK, extra_body=sampling)
    message = raw.parse()
    assert raw.headers["request-id"] == message._request_id and message.id.startswith("msg_")
    assert (message.type, message.role, message.model) == ("message", "assistant", "fake-model")
    assert blocks(message) == [{"type": "text", "text": "Hi 🎉!"}]
    assert (message.stop_reason, message.stop_sequence) == ("end_turn", None)
    (request,) = engine.requests
    assert (request.sampling.temperature, request.sampling.top_k, request.sampling.top_p) == (0, 5, 0.5)
    assert request.max_tokens == 100
    assert message.usage.cache_read_input_tokens == 2 and message.usage.output_tokens == len(REPLY)
    assert prompt_tokens(message.usage) == len(request.prompt)


def test_events_come_in_the_order_of_the_api(client: anthropic.Anthropic, engine: FakeEngine) -> None:
    events = list(client.messages.create(**ASK, stream=True))
    kinds = [event.type for event in events]
    deltas = kinds.count("content_block_delta")
    assert deltas > 1 and kinds == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * deltas,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    start, end = events[0].message, events[-2]
    assert start.content == [] and start.stop_reason is None
    assert start.usage.cache_read_input_tokens == 2 and start.usage.cache_creation_input_tokens == 0
    assert prompt_tokens(start.usage) == prompt_tokens(end.usage) == len(engine.requests[0].prompt)
    assert (end.delta.stop_reason, end.usage.output_tokens) == ("end_turn", len(REPLY))


def test_thinking_words_and_calls(client: anthropic.Anthropic, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client puts the events together to what the answer without a stream says."""
    read_as(monkeypatch, anthropic_messages, TURN)
    with client.messages.stream(**ASK, tools=TOOLS) as stream:
        kinds = [event.type for event in stream]
        streamed = stream.get_final_message()
    whole = client.messages.create(**ASK, tools=TOOLS)
    thinking, text, read, now = whole.content
    assert (thinking.thinking, text.text) == ("Where is it?", "\nI look.")
    assert (read.id, read.name, read.input) == ("call_1", "Read", {"path": "a.txt"})
    assert (now.id, now.name, now.input) == ("call_2", "Now", {}) and whole.stop_reason == "tool_use"
    assert blocks(streamed) == blocks(whole)
    assert streamed.stop_reason == whole.stop_reason and streamed.usage == whole.usage
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 4


def test_tool_input_comes_in_pieces_and_never_at_the_start(
    client: anthropic.Anthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_as(monkeypatch, anthropic_messages, TURN[2:])
    events = list(client.messages.create(**ASK, tools=TOOLS, stream=True))
    starts = [event.content_block for event in events if event.type == "content_block_start"]
    assert [(start.id, start.name, start.input) for start in starts] == [("call_1", "Read", {}), ("call_2", "Now", {})]
    pieces = [(event.index, event.delta.partial_json) for event in events if event.type == "content_block_delta"]
    assert pieces == [(0, '{"path":'), (0, ' "a.txt"}'), (1, "{}")]


def test_an_answer_handed_back_is_what_was_generated(
    client: anthropic.Anthropic, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the thinking was left out: its signature brings it back."""
    read_as(monkeypatch, anthropic_messages, TURN)
    chats = []
    prepare = anthropic_messages.prepare_chat

    async def seen(service: Any, chat: Any, model: Any) -> Any:
        chats.append(chat)
        return await prepare(service, chat, model)

    monkeypatch.setattr(anthropic_messages, "prepare_chat", seen)
    for thinking in ({"type": "enabled", "budget_tokens": 1024}, {"type": "adaptive", "display": "omitted"}):
        with client.messages.stream(**ASK, tools=TOOLS, thinking=thinking) as stream:
            first = stream.get_final_message()
        whole = client.messages.create(**ASK, tools=TOOLS, thinking=thinking)
        assert blocks(first) == blocks(whole)
        assert first.content[0].thinking == ("" if "display" in thinking else "Where is it?")
        results = [{"type": "tool_result", "tool_use_id": f"call_{n}", "content": f"r{n}"} for n in (1, 2)]
        echoed = [*USER, first.to_param(), {"role": "user", "content": results}]
        client.messages.create(**ASK | {"messages": echoed}, tools=TOOLS, thinking=thinking)
        answer = chats[-1].messages[1]
        assert (answer["reasoning_content"], answer["content"]) == ("Where is it?", "\nI look.")
        assert [call["function"]["arguments"] for call in answer["tool_calls"]] == [{"path": "a.txt"}, {}]
        assert [(m["role"], m["tool_call_id"], m["name"], m["content"]) for m in chats[-1].messages[2:]] == [
            ("tool", "call_1", "Read", "r1"),
            ("tool", "call_2", "Now", "r2"),
        ]
    assert [chat.template_options for chat in chats[::3]] == [{"enable_thinking": True}, {}]


@pytest.mark.parametrize("stream", [False, True])
def test_why_an_answer_ends(client: anthropic.Anthropic, monkeypatch: pytest.MonkeyPatch, stream: bool) -> None:
    def ask(**options: Any) -> Any:
        if not stream:
            return client.messages.create(**ASK | options)
        with client.messages.stream(**ASK | options) as found:
            return found.get_final_message()

    stopped = ask(stop_sequences=["?", "🎉"])
    assert (stopped.stop_reason, stopped.stop_sequence, stopped.content[0].text) == ("stop_sequence", "🎉", "Hi ")
    cut = ask(max_tokens=1)
    assert (cut.stop_reason, cut.stop_sequence, cut.usage.output_tokens) == ("max_tokens", None, 1)
    read_as(monkeypatch, anthropic_messages, [[CallBegins(0, "call_1", "Read"), CallArguments(0, '{"path": "a')]])
    within_a_call = ask(max_tokens=1, tools=TOOLS)
    assert within_a_call.stop_reason == "max_tokens"
    (call,) = within_a_call.content
    assert call.name == "Read" and call.input == {}


def test_counts_are_those_of_the_request(client: anthropic.Anthropic, engine: FakeEngine) -> None:
    for extra in ({}, {"system": "Be brief."}, {"tools": TOOLS, "thinking": {"type": "disabled"}}):
        request = {"model": "any", "messages": USER, **extra}
        counted = client.messages.count_tokens(**request).input_tokens
        usage = client.messages.create(**request, max_tokens=1).usage
        assert counted == prompt_tokens(usage) == len(engine.requests[-1].prompt)
    assert len(engine.requests) == 3


def test_errors_are_the_client_s_own_classes(client: anthropic.Anthropic, engine: FakeEngine) -> None:
    create = client.messages.create
    too_long = ASK | {"messages": [{"role": "user", "content": "word " * 2000}]}
    counted = client.messages.count_tokens(model="any", messages=too_long["messages"]).input_tokens
    for stream in (False, True):
        with pytest.raises(anthropic.BadRequestError) as long:
            create(**too_long, stream=stream)
        assert long.value.body["error"]["message"] == f"prompt is too long: {counted} tokens > 2047 maximum"
        assert long.value.request_id == long.value.body["request_id"]
    with pytest.raises(anthropic.BadRequestError, match="temperature"):
        create(**ASK, extra_body={"temperature": -1})
    with pytest.raises(anthropic.AuthenticationError):
        client.with_options(api_key="wrong").messages.create(**ASK)
    with pytest.raises(anthropic.PermissionDeniedError):
        client.with_options(default_headers={"Origin": "https://evil.example"}).messages.create(**ASK)
    for refusal, expected in (
        (EngineBusyError("full"), anthropic.RateLimitError),
        (EngineClosedError("bye"), anthropic.InternalServerError),
        (EngineError("lost"), anthropic.InternalServerError),
    ):
        engine.refuse = refusal
        with pytest.raises(expected, match=str(refusal)):
            create(**ASK)


def test_failure_in_the_stream_is_raised(client: anthropic.Anthropic, engine: FakeEngine) -> None:
    engine.script = Reply(REPLY, error=EngineError("lost"))
    with pytest.raises(anthropic.APIStatusError, match="lost") as failure:
        list(client.messages.create(**ASK, stream=True))
    assert failure.value.body["error"]["type"] == "api_error"
    assert failure.value.body["request_id"] == failure.value.response.headers["request-id"]


def test_closing_the_stream_stops_the_engine(client: anthropic.Anthropic, engine: FakeEngine) -> None:
    gate = Gate()
    engine.script = Reply(REPLY, chunk=4, prefill_gate=gate)
    stream = client.messages.create(**ASK, stream=True)
    assert next(iter(stream)).type == "message_start"  # before the prompt is through
    assert gate.reached.wait(LIMIT_SECONDS)
    stream.close()
    assert engine.wait_idle() and engine.cancelled == [1]


def test_models(client: anthropic.Anthropic) -> None:
    (model,) = client.models.list(limit=1000)
    assert (model.id, model.type, model.max_input_tokens) == ("fake-model", "model", 2048)
    assert client.models.retrieve("fake-model") == model and model.created_at.tzinfo is not None
    with pytest.raises(anthropic.NotFoundError) as missing:
        client.models.retrieve("other")
    assert missing.value.body["error"]["type"] == "not_found_error"

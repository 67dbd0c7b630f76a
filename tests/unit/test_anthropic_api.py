"""Anthropic's routes: what they make of a conversation, how they answer, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import anthropic.types
import httpx
import pytest
from anthropic.lib.streaming._messages import accumulate_event
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from pinfill_service.api import running
from pinfill_service.api.anthropic_dialect import MessagesDialect
from pinfill_service.api.anthropic_request import chat_request
from pinfill_service.api.anthropic_thinking import sign, signed
from pinfill_service.api.choice import ChoiceResult, Delta
from pinfill_service.api.schemas.anthropic import MessagesRequest
from pinfill_service.engine.events import Started
from pinfill_service.prompt.chat import ChatRequest, Hints, JsonFormat, ToolChoice
from pinfill_service.prompt.reply import CallArguments, CallBegins, CallEnds, Part, Reasoning, Words
from tests.support.client import app_with, assert_anthropic_error, assert_error, client_for, named_events
from tests.support.fake_engine import FakeEngine, Gate, Reply
from tests.support.managed import managed
from tests.support.models import llama_text

TOKENIZER = llama_text().tokenizer
FIXTURES = Path(__file__).parents[1] / "fixtures" / "agents"
MESSAGES, COUNT = "/v1/messages", "/v1/messages/count_tokens"
USER = {"role": "user", "content": "hello"}
MARK = {"cache_control": {"type": "ephemeral"}}
VERSION = {"anthropic-version": "2023-06-01"}


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    engine = FakeEngine(Reply(TOKENIZER.encode("Hi!"), cached=3))
    yield engine
    engine.close()


@pytest.fixture
def app(engine: FakeEngine) -> FastAPI:
    return app_with(engine)


async def post(app: FastAPI, path: str = MESSAGES, **body: Any) -> httpx.Response:
    async with client_for(app) as client:
        return await client.post(path, json={"messages": [USER]} | body)


def parsed(headers: dict[str, str] | None = None, /, **body: Any) -> ChatRequest:
    return chat_request(MessagesRequest.model_validate({"messages": [USER]} | body), headers or {})


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def call(name: str = "Read", call_id: str = "t1", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(content: Any = "", call_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def asked(*content: Any) -> list[dict[str, Any]]:
    """A conversation in which one tool was called and the last message holds `content`."""
    return [USER, {"role": "assistant", "content": [call()]}, {"role": "user", "content": list(content)}]


# -- conversations --------------------------------------------------------------------------------------------------


def test_a_text_is_one_block_of_text() -> None:
    short = parsed(system="Be brief.", messages=[USER, {"role": "assistant", "content": "Hi"}, USER])
    blocks = [{**message, "content": [text(message["content"])]} for message in ({**USER}, {**USER})]
    answer = {"role": "assistant", "content": [text("Hi")]}
    assert short == parsed(system=[text("Be brief.")], messages=[blocks[0], answer, blocks[1]])
    assert [message["role"] for message in short.messages] == ["system", "user", "assistant", "user"]


def test_system_messages_come_first_until_the_first_answer() -> None:
    late = {"role": "system", "content": "late"}
    chat = parsed(
        system=[text("one"), text("two")],
        messages=[USER, {"role": "system", "content": "three"}, {"role": "assistant", "content": "Hi"}, late, USER],
    )
    assert chat.messages[0] == {"role": "system", "content": "one\n\ntwo\n\nthree"}
    assert [message["role"] for message in chat.messages[1:]] == ["user", "assistant", "system", "user"]
    assert chat.messages[3] == late


def test_results_are_messages_of_their_own() -> None:
    chat = parsed(
        messages=asked(result([text("a"), text("b")]), result("no", is_error=True), text("and"), text("now?"))
    )
    assert [dict(message) for message in chat.messages[2:]] == [
        {"role": "tool", "tool_call_id": "t1", "name": "Read", "content": "a\nb"},
        {"role": "tool", "tool_call_id": "t1", "name": "Read", "content": "Error: no"},
        {"role": "user", "content": "and\nnow?"},
    ]
    answer = chat.messages[1]
    assert answer["content"] is None and answer["tool_calls"] == [
        {"id": "t1", "type": "function", "function": {"name": "Read", "arguments": {}}}
    ]


def test_documents_and_search_results_are_text() -> None:
    plain = {"type": "document", "title": "T", "context": "C", "source": {"type": "text", "data": "D"}}
    blocks = {"type": "document", "source": {"type": "content", "content": [text("E"), text("F")]}}
    found = {"type": "search_result", "title": "G", "source": "http://h", "content": [text("I")]}
    content = [plain, blocks, found, text("?")]
    expected = "T\nC\nD\nE\nF\nG\nhttp://h\nI"
    assert parsed(messages=[{"role": "user", "content": content}]).messages[0]["content"] == f"{expected}\n?"
    assert parsed(messages=asked(result(content[:3]))).messages[2]["content"] == expected


def test_thinking_is_handed_to_the_template() -> None:
    hidden = {"type": "thinking", "thinking": "", "signature": sign("deep")}
    foreign = {"type": "thinking", "thinking": "", "signature": "EqQBCkYI"}
    shown = {"type": "thinking", "thinking": "plain", "signature": sign("other")}
    redacted = {"type": "redacted_thinking", "data": "x"}
    for blocks, expected in (
        ([hidden], "deep"),
        ([foreign, redacted], None),
        ([shown], "plain"),
        ([hidden, shown], "deepplain"),
    ):
        answer = {"role": "assistant", "content": [*blocks, text("Hi")]}
        message = parsed(messages=[USER, answer, USER]).messages[1]
        assert message.get("reasoning_content") == expected and message["content"] == "Hi"


@given(st.text())
def test_signatures_carry_any_thinking(thinking: str) -> None:
    assert signed(sign(thinking)) == thinking


@pytest.mark.parametrize("signature", ["", "x", "pinfill.", "pinfill.*", "pinfill.é", "pinfill._w==", "pinfill.a"])
def test_damaged_signatures_carry_nothing(signature: str) -> None:
    assert signed(signature) == ""


def test_tools_keep_their_order_and_the_order_of_their_parameters() -> None:
    schema = {"type": "object", "properties": {"z": {"type": "string"}, "a": {}}, "required": ["z"]}
    tools = [
        {
            "name": "Write",
            "description": "Writes.",
            "input_schema": schema,
            "strict": True,
            "eager_input_streaming": True,
        },
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "of_the_future", "settings": [1]},
        {"type": "custom", "name": "Add", "input_schema": {"type": "object"}},
        {"name": "Later", "input_schema": {"type": "object"}, "defer_loading": True},
    ]
    found = parsed(tools=tools).tools
    assert json.dumps(found[0]) == json.dumps(
        {"type": "function", "function": {"name": "Write", "description": "Writes.", "parameters": schema}}
    )
    assert [tool["function"]["name"] for tool in found] == ["Write", "Add", "Later"]
    assert [tool.get("defer_loading") for tool in found] == [None, None, True]


def test_found_tools_are_named_where_they_were_found() -> None:
    references = [{"type": "tool_reference", "tool_name": name} for name in ("A", "B")]
    message = parsed(messages=asked(result([text("Found:"), *references]))).messages[2]
    assert (message["content"], message["tool_references"]) == ("Found:", ["A", "B"])


def test_a_tool_that_a_message_brings_in_is_listed() -> None:
    tools = [{"name": name, "input_schema": {}, "defer_loading": True} for name in ("A", "B")]
    change = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "B"}}
    chat = parsed(tools=tools, messages=[USER, {"role": "system", "content": [change]}])
    assert [tool.get("defer_loading") for tool in chat.tools] == [True, None]
    assert len(chat.messages) == 1


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, ToolChoice()),
        ({"type": "auto"}, ToolChoice()),
        ({"type": "auto", "disable_parallel_tool_use": True}, ToolChoice(parallel=False)),
        ({"type": "any"}, ToolChoice("required")),
        ({"type": "any", "disable_parallel_tool_use": True}, ToolChoice("required", parallel=False)),
        ({"type": "tool", "name": "Read"}, ToolChoice("required", "Read")),
        ({"type": "none"}, ToolChoice("none")),
    ],
)
def test_tool_choice(choice: Any, expected: ToolChoice) -> None:
    assert parsed(tools=[{"name": "Read", "input_schema": {}}], tool_choice=choice).tool_choice == expected


def test_the_form_of_the_answer() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    wanted = {"format": {"type": "json_schema", "schema": schema}, "effort": "high"}
    assert parsed(output_config=wanted).format == JsonFormat(schema)
    assert parsed(output_config={"effort": "low"}).format is None


def test_options() -> None:
    chat = parsed(max_tokens=7, stop_sequences=["a", "b"], temperature=0.5, top_p=0.9, top_k=-1)
    assert (chat.options.max_tokens, chat.options.stop) == (7, ("a", "b"))
    sampling = chat.options.sampling
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (0.5, 0.9, 0)
    assert parsed().options.max_tokens is None


@pytest.mark.parametrize(
    ("thinking", "options"),
    [
        (None, {}),
        ({"type": "enabled", "budget_tokens": 1024}, {"enable_thinking": True}),
        ({"type": "disabled"}, {"enable_thinking": False}),
        ({"type": "adaptive", "display": "omitted"}, {}),
    ],
)
def test_thinking_is_switched_where_the_client_decides(thinking: Any, options: dict[str, Any]) -> None:
    assert parsed(thinking=thinking).template_options == options


def test_marks_are_messages_in_their_final_order() -> None:
    system = [text("a", **MARK), text("b", **MARK)]
    early = {"role": "system", "content": [text("c", **MARK)]}
    answer = {"role": "assistant", "content": [text("Hi"), call()]}
    last = {"role": "user", "content": [result("r"), result("s", **MARK), text("t")]}
    tools = [{"name": "Read", "input_schema": {}, **MARK}]
    chat = parsed(system=system, messages=[USER, early, answer, last], tools=tools)
    assert chat.hints.marks == (-1, 0, 4) and chat.messages[4]["content"] == "s"
    assert parsed(messages=[USER, answer, last], cache_control={"type": "ephemeral"}).hints.marks == (3, 4)
    assert parsed().hints == Hints()


async def test_marks_move_behind_a_pin(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        pinned = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        await service.pin("talk", messages=pinned)
        marked = {"role": "user", "content": [text("c", **MARK)]}
        await service.ask("POST", MESSAGES, messages=[marked], model="fake-model@talk")
        recorder = service.application.recorder
        recorder.close()
        chat = recorder.recent.all()[-1].chat
        assert chat is not None and chat.hints.marks == (2,) and chat.messages[2]["content"] == "c"


@pytest.mark.parametrize(
    ("headers", "user", "session"),
    [
        ({}, None, ""),
        ({}, "somebody", "somebody"),
        ({}, '{"device_id": "d", "session_id": "s"}', "s"),
        ({}, '{"session_id": 5}', '{"session_id": 5}'),
        ({}, "[" * 100_000, "[" * 256),
        ({"x-claude-code-session-id": "h"}, '{"session_id": "s"}', "h"),
    ],
)
def test_the_session_is_named(headers: dict[str, str], user: str | None, session: str) -> None:
    assert parsed(headers, metadata={"user_id": user}).hints.session == session


def test_an_answer_that_was_begun_is_continued() -> None:
    begun = parsed(messages=[USER, {"role": "assistant", "content": "Hel"}])
    assert begun.continue_final_message and begun.messages[-1]["content"] == "Hel"
    for nothing in ("", [], [{"type": "thinking", "thinking": "x", "signature": ""}], [text("", **MARK)]):
        chat = parsed(messages=[USER, {"role": "assistant", "content": nothing}])
        assert not chat.continue_final_message and chat == parsed()


# -- answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file", ["claude-code-sessions.jsonl", "claude-code-tool-turn.jsonl", "claude-code-tool-search.jsonl"]
)
async def test_requests_of_claude_code(file: str) -> None:
    """Real ones, with their words replaced, sent as they were."""
    engine = FakeEngine(Reply([5, 6, 7], cached=1000), context_length=131_072)
    app = app_with(engine)
    requests = [json.loads(line) for line in (FIXTURES / file).read_text().splitlines()]
    assert len(requests) == 3
    async with client_for(app) as client:
        for sent in requests:
            headers = {name: value for name, value in sent["headers"].items() if name != "Host"}
            for path in (COUNT, sent["path"]):
                response = await client.request(sent["method"], path, headers=headers, json=sent["body"])
                assert response.status_code == 200, response.text
                if path == COUNT:
                    counted = response.json()["input_tokens"]
            events = named_events(response.text)
            assert counted == len(engine.requests[-1].prompt) > 5000
            assert engine.requests[-1].max_tokens == 32_000
            usage = events[0]["message"]["usage"]
            assert usage["input_tokens"] + usage["cache_read_input_tokens"] == counted
            assert events[-1] == {"type": "message_stop"}
    engine.close()


async def test_a_ping_is_the_sign_of_life(app: FastAPI, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "KEEPALIVE_SECONDS", 0.01)
    gate, pings, write = Gate(), [], MessagesDialect.waiting

    def waiting(dialect: MessagesDialect, words: str) -> bytes:
        pings.append(words)
        if len(pings) == 2:
            gate.open()
        return write(dialect, words)

    monkeypatch.setattr(MessagesDialect, "waiting", waiting)
    engine.script = Reply([5], chunk=4, prefill_gate=gate)
    events = named_events((await post(app, stream=True)).text)
    assert [event["type"] for event in events[:3]] == ["message_start", "ping", "ping"]
    assert events[1] == {"type": "ping"} and "prefilling" in pings[0]


async def test_a_request_that_waits_is_told_at_once_and_corrected(
    app: FastAPI, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is cached is not known yet; the sum is right all the same."""
    monkeypatch.setattr(running, "OPENING_SECONDS", 0.01)
    gate, write = Gate(), MessagesDialect.opening

    def opening(dialect: MessagesDialect, results: Sequence[ChoiceResult]) -> bytes:
        gate.open()
        return write(dialect, results)

    monkeypatch.setattr(MessagesDialect, "opening", opening)
    reply = Reply(TOKENIZER.encode("Hi!"), cached=3)
    engine.script = lambda request: chain([gate], reply(request))
    events = named_events((await post(app, stream=True)).text)
    first, last = events[0]["message"]["usage"], events[-2]["usage"]
    prompt = len(engine.requests[0].prompt)
    assert (first["input_tokens"], first["cache_read_input_tokens"]) == (prompt, 0)
    assert (last["input_tokens"], last["cache_read_input_tokens"]) == (prompt - 3, 3)


PART = st.one_of(
    st.builds(Reasoning, st.text(min_size=1)),
    st.builds(Words, st.text(min_size=1)),
    st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), max_size=3),
)


@given(st.lists(PART, max_size=8), st.lists(st.integers(0, 20)), st.integers(0, 50), st.integers(0, 50), st.booleans())
def test_any_reply_is_put_together_by_the_client(
    drawn: list[Any], cuts: list[int], cached: int, new: int, shown: bool
) -> None:
    """Blocks begin and end in order, nothing is lost, and the counts add up from the first event to the last."""
    parts = list(_parts(drawn, cuts))
    dialect = MessagesDialect("m", cached + new, "req_1", shown=shown)
    done = ChoiceResult(generated=len(parts), started=Started(cached, cached + new), finish_reason="stop")
    done.reply.add(parts)
    written = dialect.opening([ChoiceResult()])
    for part in parts:
        written += dialect.delta(0, Delta(parts=(part,)))
    written += dialect.finished(0, [done], last=True) + dialect.closing([done])
    events = named_events(written.decode())
    open_block = None
    message: Any = None
    buffers: dict[int, bytes] = {}
    stream = TypeAdapter(anthropic.types.RawMessageStreamEvent)
    for event in events:
        if event["type"] == "content_block_start":
            assert open_block is None and event["index"] == len(message.content)
            open_block = event["index"]
        elif event["type"].startswith("content_block"):
            assert event["index"] == open_block
            open_block = None if event["type"] == "content_block_stop" else open_block
        message = accumulate_event(event=stream.validate_python(event), current_snapshot=message, json_bufs=buffers)
        assert _sum(message.usage.to_dict()) == cached + new
    assert open_block is None and message.stop_reason == "end_turn"
    assert message.usage.cache_read_input_tokens == cached
    _compare(message.content, drawn, shown)
    whole = anthropic.types.Message.model_validate(dialect.whole([done]))
    told, streamed = ([block.model_dump(exclude_none=True) for block in each.content] for each in (whole, message))
    assert told == streamed, "unstreamed, it has the same blocks in the same order"


def test_white_space_between_blocks_is_in_none_and_calls_do_not_run_together() -> None:
    parts = [Words("\n"), CallBegins(0, "a", "A"), CallBegins(1, "b", "B"), CallEnds(1), Words(" "), Words("x")]
    dialect = MessagesDialect("m", 1, "req_1", shown=True)
    events = named_events(b"".join(dialect.delta(0, Delta(parts=(part,))) for part in parts).decode())
    starts = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    assert [start.get("name") for start in starts] == ["A", "B", None]
    assert [event["index"] for event in events if event["type"] == "content_block_stop"] == [0, 1]
    assert [event["delta"] for event in events if event["type"] == "content_block_delta"] == [
        {"type": "text_delta", "text": " x"}
    ]


def _parts(drawn: list[Any], cuts: list[int]) -> Iterator[Part]:
    calls = 0
    for item in drawn:
        if not isinstance(item, dict):
            yield item
            continue
        whole = json.dumps(item)
        places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
        yield CallBegins(calls, f"call_{calls}", "Tool")
        yield from (CallArguments(calls, whole[a:b]) for a, b in pairwise(places))
        yield CallEnds(calls)
        calls += 1


def _sum(usage: dict[str, int]) -> int:
    return usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]


def _compare(content: list[Any], drawn: list[Any], shown: bool) -> None:
    thoughts = "".join(item.text for item in drawn if isinstance(item, Reasoning))
    thinking = [block for block in content if block.type == "thinking"]
    assert "".join(signed(block.signature) for block in thinking) == thoughts
    assert "".join(block.thinking for block in thinking) == (thoughts if shown else "")
    said = "".join(block.text for block in content if block.type == "text")
    words = "".join(item.text for item in drawn if isinstance(item, Words))
    assert "".join(said.split()) == "".join(words.split())
    assert all(block.text.strip() for block in content if block.type == "text")
    assert [block.input for block in content if block.type == "tool_use"] == [i for i in drawn if isinstance(i, dict)]


# -- models ---------------------------------------------------------------------------------------------------------


async def test_models_in_pages(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        for name in ("a", "b", "c"):
            await service.pin(name, text=f"The rubric {name}.")
        names = ["fake-model", *(f"fake-model@{name}" for name in ("a", "b", "c"))]

        async def page(**query: Any) -> tuple[list[str], bool]:
            response = await service.http.get("/v1/models", params=query, headers=VERSION)
            assert response.status_code == 200, response.text
            body = response.json()
            ids = [model["id"] for model in body["data"]]
            assert set(body) == {"data", "has_more", "first_id", "last_id"}
            assert (body["first_id"], body["last_id"]) == ((ids[0], ids[-1]) if ids else (None, None))
            for model in body["data"]:
                anthropic.types.ModelInfo.model_validate(model)
                assert model["meta"]["n_ctx"] == 512
            return ids, body["has_more"]

        assert await page() == await page(limit=1000) == (names, False)
        assert await page(limit=3) == (names[:3], True)
        assert await page(limit=3, after_id=names[2]) == (names[3:], False)
        assert await page(after_id=names[3]) == ([], False)
        assert await page(limit=2, before_id=names[3]) == (names[1:3], True)
        assert await page(limit=2, before_id=names[1]) == (names[:1], False)
        for query, status, kind in (
            ({"limit": 0}, 400, "invalid_request_error"),
            ({"limit": "x"}, 400, "invalid_request_error"),
            ({"after_id": "x"}, 404, "not_found_error"),
        ):
            assert_anthropic_error(await service.http.get("/v1/models", params=query, headers=VERSION), status, kind)
        one = await service.http.get(f"/v1/models/{names[1]}", headers=VERSION)
        assert one.json()["id"] == names[1] and one.json()["type"] == "model"
        unknown = await service.http.get("/v1/models/x", headers=VERSION)
        assert_anthropic_error(unknown, 404, "not_found_error")
        assert_error(await service.http.get("/v1/models/x"), 404, code="model_not_found", param="model")


async def test_a_pin_stands_in_front(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text="The rubric.")
        body = {"messages": [USER], "system": "Be brief.", "model": "fake-model@rubric"}
        usage = (await service.ask("POST", MESSAGES, **body))["usage"]
        prompt = service.engine.requests[-1].prompt
        assert TOKENIZER.decode(prompt).startswith("<|im_start|>system\nThe rubric.\n\nBe brief.")
        assert _sum(usage) == len(prompt) == (await service.ask("POST", COUNT, **body))["input_tokens"]
        unknown = await service.http.post(MESSAGES, json={**body, "model": "fake-model@other"})
        assert "rubric" in assert_anthropic_error(unknown, 404, "not_found_error")


async def test_agents_say_hello_without_a_key(app: FastAPI) -> None:
    async with client_for(app) as client:
        del client.headers["authorization"]
        for path in ("/", "/api/hello"):
            assert (await client.head(path)).status_code == 200
        assert_anthropic_error(await client.post(MESSAGES, json={"messages": [USER]}), 401, "authentication_error")


# -- bad input ------------------------------------------------------------------------------------------------------

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": ""}}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"messages": []}, "messages"),
    ({"messages": None}, "messages"),
    ({"messages": {}}, "messages"),
    ({"messages": ["hi"]}, "messages.0"),
    ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role"),
    ({"messages": [{"role": "user"}]}, "messages.0.content"),
    ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content"),
    ({"messages": [{"role": "user", "content": [5]}]}, "messages.0.content.0"),
    ({"messages": [{"role": "user", "content": [{}]}]}, "messages.0.content.0"),
    ({"messages": [{"role": "user", "content": [{"type": ["text"]}]}]}, "messages.0.content.0"),
    ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages.0.content.0.text"),
    ({"messages": [{"role": "user", "content": [IMAGE]}]}, "'image' is not supported"),
    ({"messages": [{"role": "user", "content": [{"type": "audio"}]}]}, "'audio' is not supported"),
    ({"messages": [{"role": "user", "content": [PDF]}]}, "PDF and other files"),
    ({"messages": [{"role": "user", "content": [{"type": "x" * 10_000}]}]}, "is not supported"),
    ({"messages": asked(result([IMAGE]))}, "'image' is not supported"),
    ({"messages": asked(result([PDF]))}, "PDF and other files"),
    ({"messages": [{"role": "user", "content": [result()]}]}, "tool_use block"),
    ({"messages": asked(result(call_id="other"))}, "messages.2"),
    ({"messages": asked(call())}, "a message of the role user cannot hold a block of type tool_use"),
    ({"messages": [USER, {"role": "assistant", "content": [result()]}, USER]}, "role assistant"),
    ({"messages": [USER, {"role": "system", "content": [result()]}]}, "role system"),
    ({"messages": [USER, {"role": "assistant", "content": [call()]}]}, "the last message calls tools"),
    ({"messages": [{"role": "assistant", "content": ""}]}, "there is nothing to answer"),
    ({"system": [IMAGE]}, "'image' is not supported"),
    ({"system": 5}, "system"),
    ({"tools": {}}, "tools"),
    ({"tools": [{"input_schema": {}}]}, "tools.0: a tool needs a name"),
    ({"tools": [{"name": "", "input_schema": {}}]}, "tools.0: a tool needs a name"),
    ({"tools": [{"name": "A", "input_schema": "x"}]}, "tools.0.input_schema"),
    ({"tools": [{"name": "A", "input_schema": {}}] * 2}, "another tool of the name 'A'"),
    ({"tool_choice": "auto"}, "tool_choice"),
    ({"tool_choice": {"type": "any"}}, "no tools"),
    ({"tool_choice": {"type": "tool", "name": "A" * 10_000}}, "tool_choice.name"),
    ({"output_config": {"format": {"type": "xml"}}}, "output_config.format.type"),
    ({"max_tokens": -1}, "max_tokens"),
    ({"max_tokens": "many"}, "max_tokens"),
    ({"temperature": -1}, "temperature"),
    ({"stop_sequences": [5]}, "stop_sequences"),
    ({"stop_sequences": ["x"] * 17}, "stop_sequences"),
    ({"stream": "perhaps"}, "stream"),
    ({"thinking": {"type": 5}}, "thinking"),
]


@pytest.mark.parametrize(("body", "words"), BAD)
async def test_bad_requests_say_what_is_wrong(
    app: FastAPI, engine: FakeEngine, body: dict[str, Any], words: str
) -> None:
    message = assert_anthropic_error(await post(app, **body), 400, "invalid_request_error")
    assert words in message and len(message) < 1000
    assert not engine.requests


HOSTILE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"hi"',
    b"\xff\xfe",
    b'{"messages": ' + b"[" * 1000 + b"]" * 1000 + b"}",
    b'{"messages": ' + b"[" * 100_000,
    b'{"messages": [{"role": "user", "content": "x"}], "top_p": NaN}',
    b'{"messages": [{"role": "user", "content": "x"}], "stop_sequences": ["\\ud800"]}',
]


@pytest.mark.parametrize("path", [MESSAGES, COUNT])
@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_bodies_are_refused(app: FastAPI, path: str, body: bytes) -> None:
    async with client_for(app) as client:
        response = await client.post(path, content=body, headers={"content-type": "application/json"})
        if path == COUNT and b"user" in body:
            assert response.status_code == 200  # what is wrong is no field of this route
        else:
            assert_anthropic_error(response, 400, "invalid_request_error")
        plain = await client.post(path, content=b'{"messages": []}', headers={"content-type": "text/plain"})
        assert "Content-Type" in assert_anthropic_error(plain, 400, "invalid_request_error")
        assert_anthropic_error(await client.get(path), 405, "invalid_request_error")


@pytest.mark.parametrize("depth", [10, 1000, 100_000])
@pytest.mark.parametrize("where", ["tool_use", "input_schema", "unknown"])
async def test_deep_values_do_no_harm(app: FastAPI, depth: int, where: str) -> None:
    """They are answered or refused, and the next request is answered."""
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    used = b'{"type":"tool_use","id":"t1","name":"A","input":%s}' % (deep if where == "tool_use" else b"{}")
    body = b'{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[%s]},' % used
    body += b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}],'
    body += b'"tools":[{"name":"A","input_schema":%s}],' % (deep if where == "input_schema" else b"{}")
    body += b'"unknown":%s}' % (deep if where == "unknown" else b"{}")
    async with client_for(app) as client:
        response = await client.post(MESSAGES, content=body, headers={"content-type": "application/json"})
        if response.status_code != 200:
            assert_anthropic_error(response, 400, "invalid_request_error")
        assert response.status_code == 200 or depth > 10
    assert (await post(app)).status_code == 200


@pytest.mark.parametrize("stream", [False, True])
async def test_odd_characters_reach_the_model(app: FastAPI, engine: FakeEngine, stream: bool) -> None:
    """NUL is text; a lone surrogate, which JSON can spell, counts as U+FFFD."""
    body = (
        b'{"stream": %s, "model": "\\ud800", "system": "a\\u0000b", "metadata": {"user_id": "\\ud800"},'
        b'"messages": [{"role": "user", "content": "c\\ud800"}],'
        b'"tools": [{"name": "A", "input_schema": {"\\ud800": "\\udc00"}}]}'
    ) % (b"true" if stream else b"false")
    async with client_for(app) as client:
        response = await client.post(MESSAGES, content=body, headers={"content-type": "application/json"})
    assert response.status_code == 200, response.text
    prompt = TOKENIZER.decode(engine.requests[0].prompt)
    assert "a\0b" in prompt and "c\ufffd" in prompt


async def test_many_small_blocks_take_no_time(app: FastAPI, engine: FakeEngine) -> None:
    """Joining them is linear."""
    content = [text("")] * 50_000
    answer = {"role": "assistant", "content": content}
    response = await post(app, messages=[{"role": "user", "content": content}, answer, USER], system=content)
    assert_anthropic_error(response, 400, "invalid_request_error")


async def test_a_body_over_the_limit(engine: FakeEngine) -> None:
    large = {"messages": [{"role": "user", "content": "x" * (1 << 20)}]}
    response = await post(app_with(engine, max_body_mib=1), **large)
    assert_anthropic_error(response, 413, "request_too_large")


async def test_an_unexpected_failure_tells_nothing(
    app: FastAPI, engine: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.crash = RuntimeError("secret")
    assert assert_anthropic_error(await post(app), 500, "api_error") == "Internal error."
    assert "RuntimeError" in caplog.text

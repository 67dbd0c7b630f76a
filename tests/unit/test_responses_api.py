"""OpenAI's Responses API: what it takes, what it answers, what it keeps, and how it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from pinfill_service.api import responses, running
from pinfill_service.api.json_text import dump_bytes
from pinfill_service.api.responses_store import ResponseStore
from pinfill_service.engine.errors import EngineBusyError, EngineError
from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.template import compile_template
from tests.support.asgi import Exchange
from tests.support.client import AUTH, app_with, assert_error, client_for, saying_hi
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply
from tests.support.models import ids, llama_text
from tests.support.responses_events import check_events, check_response, named_events
from tests.support.scripted_reader import use_scripted_reader

TOKENIZER = llama_text().tokenizer
PATH = "/v1/responses"
CODEX = Path(__file__).parents[1] / "fixtures" / "agents" / "codex-tool-turn.jsonl"
READ = {"type": "function", "name": "read", "parameters": {"type": "object"}, "strict": False}
WRITE = {"type": "function", "name": "write"}
ANSWER = '<think>hm<say>Well.<call read>{"path": "a"}<end><call read>{"path":"b"}<end>'
# Shows all a template can see.
SHOWING = (
    "{% for m in messages %}{{ m.role }}/{{ m.content }}/{{ m.reasoning_content }}/{{ m.tool_call_id }}/"
    "{{ (m.tool_calls or []) | tojson }}\n{% endfor %}{{ tools | tojson }}"
)


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    with saying_hi(4096) as engine:
        yield engine


@pytest.fixture
def app(engine: FakeEngine) -> FastAPI:
    return app_with(engine)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[ChatRequest]:
    """Every conversation that is prepared; answers are read by the scripted reader."""
    return use_scripted_reader(monkeypatch, responses)


async def post(app: FastAPI, **body: Any) -> httpx.Response:
    async with client_for(app) as client:
        return await client.post(PATH, json={"input": "hello"} | body)


async def create(app: FastAPI, **body: Any) -> dict[str, Any]:
    response = await post(app, **body)
    assert response.status_code == 200, response.text
    return check_response(response.json())


async def stream(app: FastAPI, **body: Any) -> dict[str, Any]:
    """The answer that a stream, which is checked, ends with."""
    response = await post(app, stream=True, **body)
    assert response.status_code == 200 and response.headers["content-type"].startswith("text/event-stream")
    return check_events(named_events(response.text))


def message(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


def text_of(answer: dict[str, Any]) -> str:
    return "".join(item["content"][0]["text"] for item in answer["output"] if item["type"] == "message")


def anonymous(value: Any) -> Any:
    """JSON without ids and times, which no two answers share."""
    if isinstance(value, dict):
        return {
            name: anonymous(item) for name, item in value.items() if name not in ("id", "created_at", "completed_at")
        }
    return [anonymous(item) for item in value] if isinstance(value, list) else value


async def test_an_answer(app: FastAPI, engine: FakeEngine) -> None:
    answer = await create(app, model="anything", instructions="Be kind.", max_output_tokens=9, temperature=0, top_p=0.5)
    assert answer["status"] == "completed" and answer["model"] == "fake-model" and text_of(answer) == "Hi 🎉!"
    (request,) = engine.requests
    prompt = "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"
    assert TOKENIZER.decode(request.prompt) == prompt
    assert (request.max_tokens, request.sampling.temperature, request.sampling.top_p) == (9, 0, 0.5)
    usage = answer["usage"]
    assert usage["input_tokens"] == len(request.prompt) and usage["input_tokens_details"]["cached_tokens"] == 3
    assert usage["output_tokens"] == len(ids("Hi 🎉!"))


async def test_a_prompt_that_is_not_to_be_cached_is_not_written(app: FastAPI, engine: FakeEngine) -> None:
    engine.script = Reply(ids("Hi"))
    response = await post(app, cache_prompt=False, cache_salt="s")
    usage = response.json()["usage"]
    assert usage["input_tokens_details"] == {"cached_tokens": 0, "cache_write_tokens": 0}
    assert not engine.requests[0].use_cache and engine.requests[0].salt == "s"


async def test_a_stream_tells_what_an_answer_at_once_is(
    app: FastAPI, engine: FakeEngine, seen: list[ChatRequest]
) -> None:
    in_between = 'One.<call read>{"path": "a"}<end><say>Two.<call read>{}<end><say>Three.'
    for script in (ANSWER, in_between, "Hi 🎉!", "<think>only thoughts", "", '<call read>{"a'):
        engine.script = Reply(ids(script), cached=2)
        for more in ({}, {"reasoning": {"summary": "auto"}}, {"max_output_tokens": max(len(ids(script)) - 3, 1)}):
            one, other = await create(app, tools=[READ], **more), await stream(app, tools=[READ], **more)
            assert anonymous(one) == anonymous(other)


async def test_parts_become_items(app: FastAPI, engine: FakeEngine, seen: list[ChatRequest]) -> None:
    engine.script = Reply(ids(ANSWER))
    answer = await stream(app, tools=[READ])
    thought, said, *calls = answer["output"]
    assert answer["usage"]["output_tokens_details"] == {"reasoning_tokens": len(ids("hm"))}
    assert thought["content"] == [{"type": "reasoning_text", "text": "hm"}] and thought["summary"] == []
    assert said["content"] == [{"type": "output_text", "annotations": [], "logprobs": [], "text": "Well."}]
    assert [call["arguments"] for call in calls] == ['{"path": "a"}', '{"path":"b"}']  # byte for byte
    assert [(call["call_id"], call["status"]) for call in calls] == [("call_0", "completed"), ("call_1", "completed")]
    summed = (await stream(app, tools=[READ], reasoning={"summary": "auto", "effort": "low"}))["output"][0]
    assert summed["summary"] == [{"type": "summary_text", "text": "hm"}] and "content" not in summed
    assert seen[-1].template_options == {"enable_thinking": True, "reasoning_effort": "low"}


async def test_an_answer_that_is_cut_short(app: FastAPI, engine: FakeEngine, seen: list[ChatRequest]) -> None:
    engine.script = Reply(ids('Well.<call read>{"pa'), reason="length")
    for answer in (await create(app), await stream(app)):
        assert answer["status"] == "incomplete" and answer["incomplete_details"] == {"reason": "max_output_tokens"}
        assert [item["status"] for item in answer["output"]] == ["completed", "incomplete"]
        assert answer["output"][1]["arguments"] == '{"pa'


async def test_the_prompt_is_that_of_chat_completions(engine: FakeEngine) -> None:
    """The same conversation means the same tokens, whichever API it comes by."""
    text = replace(llama_text(), template=compile_template(SHOWING, {}))
    app = app_with(engine, text)
    function = {"name": "read", "description": "Reads.", "parameters": {"type": "object", "properties": {}}}
    arguments = '{"path": "a"}'
    call = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": arguments}}
    chat = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "assistant", "content": "Well.", "reasoning_content": "hm", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "text"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": ""},
        {"role": "user", "content": "go on"},
    ]
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]},
        message("assistant", [{"type": "output_text", "text": "Well.", "annotations": []}]),
        {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": arguments},
        {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "text"}]},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": arguments},
        {"type": "function_call_output", "call_id": "call_1", "output": ""},
        message("user", "go on"),
    ]
    async with client_for(app) as client:
        body = {"messages": chat, "tools": [{"type": "function", "function": function}]}
        assert (await client.post("/v1/chat/completions", json=body)).status_code == 200
    await create(app, instructions="Be kind.", input=items, tools=[{"type": "function", **function, "strict": False}])
    theirs, ours = (TOKENIZER.decode(each.prompt) for each in engine.requests)
    assert ours == theirs and all(each in ours for each in ("Be kind.", "path", "go on"))


async def test_several_thoughts_and_words_in_a_row(app: FastAPI, seen: list[ChatRequest]) -> None:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}]}
    await create(
        app, input=[message("user", "x"), thought, thought, message("assistant", "b"), message("assistant", "c")]
    )
    assert [dict(each) for each in seen[0].messages[1:]] == [
        {"role": "assistant", "content": "b", "reasoning_content": "a\na"},
        {"role": "assistant", "content": "c"},
    ]


async def test_tools_of_all_types(app: FastAPI, engine: FakeEngine, seen: list[ChatRequest]) -> None:
    others = [{"type": kind} for kind in ("web_search", "local_shell", "custom", "mcp", "image_generation", "new")]
    inner = [READ, {"type": "function", "name": "write", "strict": True}, {"type": "custom", "name": "c"}]
    tools = [*others, READ, {"type": "namespace", "name": "disk", "description": "d", "tools": inner}]
    engine.script = Reply(ids("<call disk__read>{}<end><call write>{}<end><call read>{}<end><call odd>{}<end>"))
    answer = await stream(app, tools=tools)
    functions = [tool["function"] for tool in seen[0].tools]
    assert [function["name"] for function in functions] == ["read", "disk__read", "write"]
    assert functions[2] == {"name": "write", "parameters": {"type": "object", "properties": {}}, "strict": True}
    assert [(item["name"], item.get("namespace")) for item in answer["output"]] == [
        ("read", "disk"),
        ("write", "disk"),
        ("read", None),
        ("odd", None),
    ]
    assert answer["tools"] == tools[len(others) :]
    await create(app, tools=tools, input=[message("user", "x"), *answer["output"]])
    names = [call["function"]["name"] for call in seen[1].messages[1]["tool_calls"]]
    assert names == ["disk__read", "write", "read", "odd"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, ("auto", None, ["read", "write"])),
        ("auto", ("auto", None, ["read", "write"])),
        ("none", ("none", None, [])),
        ("required", ("required", None, ["read", "write"])),
        ({"type": "function", "name": "read"}, ("required", "read", ["read"])),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "write"}]},
            ("auto", None, ["write"]),
        ),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "write"}]},
            ("required", None, ["write"]),
        ),
    ],
)
async def test_tool_choice(app: FastAPI, seen: list[ChatRequest], choice: Any, expected: tuple[Any, ...]) -> None:
    answer = await create(app, tools=[READ, WRITE], tool_choice=choice, parallel_tool_calls=False)
    (chat,) = seen
    left = [tool["function"]["name"] for tool in chat.callable_tools]
    assert (chat.tool_choice.mode, chat.tool_choice.name, left) == expected
    assert not chat.tool_choice.parallel and answer["parallel_tool_calls"] is False


async def test_no_choice_of_tools_changes_the_prompt(app: FastAPI, engine: FakeEngine) -> None:
    """Allowed tools are for cases in which the whole list is to stay cached."""
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "write"}]}
    for choice in ("auto", "none", "required", {"type": "function", "name": "read"}, allowed):
        await create(app, tools=[READ, WRITE], tool_choice=choice)
    assert len({tuple(request.prompt) for request in engine.requests}) == 1


async def test_formats_and_hints(app: FastAPI, seen: list[ChatRequest]) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    format = {"type": "json_schema", "name": "n", "schema": schema, "strict": True}
    answer = await create(app, text={"format": format, "verbosity": "low"}, prompt_cache_key="thread-1")
    assert answer["text"] == {"format": format, "verbosity": "low"} and answer["prompt_cache_key"] == "thread-1"
    await create(app, text={"format": {"type": "json_object"}}, reasoning={"effort": "none"})
    await create(app, text={"format": {"type": "text"}}, reasoning={})
    first, second, third = seen
    assert first.format is not None and first.format.schema == schema and first.hints.session == "thread-1"
    assert second.format is not None and second.format.schema is None
    assert second.template_options == {"enable_thinking": False}
    assert third.format is None and third.hints.session == "" and third.template_options == {}


async def test_a_conversation_goes_on_from_what_is_stored(
    app: FastAPI, engine: FakeEngine, seen: list[ChatRequest]
) -> None:
    engine.script = Reply(ids("<say>Well.<call read>{}<end>"))
    first = await stream(app, tools=[READ], instructions="old", metadata={"a": "b"})
    output = {"type": "function_call_output", "call_id": "call_0", "output": "42"}
    engine.script = Reply(ids("Done."))
    second = await create(app, previous_response_id=first["id"], input=[output], tools=[READ], instructions="new")
    third = await create(app, previous_response_id=second["id"], input="thanks")
    assert [(each["role"], each.get("content")) for each in seen[2].messages] == [
        ("user", "hello"),
        ("assistant", "Well."),
        ("tool", "42"),
        ("assistant", "Done."),
        ("user", "thanks"),
    ]
    assert seen[1].messages[0] == {"role": "system", "content": "new"}
    await create(app, input=[message("user", "x"), {"type": "item_reference", "id": first["output"][0]["id"]}])
    assert seen[3].messages[1]["content"] == "Well."
    async with client_for(app) as client:
        assert (await client.get(f"{PATH}/{first['id']}")).json() == first
        assert (await client.delete(f"{PATH}/{first['id']}")).json()["deleted"] is True
        for method in ("GET", "DELETE"):
            gone = await client.request(method, f"{PATH}/{first['id']}")
            assert_error(gone, 404, code="response_not_found")
        assert (await client.get(f"{PATH}/{third['id']}")).json() == third
        refused = await client.get(f"{PATH}/{third['id']}?stream=true")
        assert_error(refused, 400, code="unsupported_value", param="stream")
    again = await create(app, previous_response_id=second["id"], input="and?")  # its beginning is its own
    assert again["previous_response_id"] == second["id"] and len(seen[4].messages) == 5


async def test_what_is_not_to_be_stored_is_not(app: FastAPI, engine: FakeEngine) -> None:
    hidden = await create(app, store=False)
    assert hidden["store"] is False
    engine.script = Reply(ids("Hi"), error=EngineError("lost"))
    await post(app, stream=True)
    assert len(app.state.application.responses) == 0
    gone = await post(app, previous_response_id=hidden["id"])
    assert_error(gone, 400, code="previous_response_not_found", param="previous_response_id")
    lost = await post(app, input=[{"type": "item_reference", "id": hidden["output"][0]["id"]}])
    assert_error(lost, 404, code="item_not_found", param="input.0")


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 40), st.integers(-1, 7)), max_size=40))
def test_the_store_stays_within_its_limits(steps: list[tuple[int, int, int]]) -> None:
    store = ResponseStore(max_responses=3, max_bytes=300)
    for number, length, before in steps:
        item = {"id": f"item{number}", "text": "x" * length}
        previous = store.find(f"r{before}")
        store.add({"id": f"r{number}"}, previous, [item])
        kept = [each for each in map(store.find, (f"r{n}" for n in range(8))) if each is not None]
        assert len(kept) == len(store) <= 3
        assert sum(each.size for each in kept) == store.bytes <= 300
        assert all(each.size >= len(dump_bytes([each.response, each.items])) - 2 * len(each.items) for each in kept)
        found = store.find(f"r{number}")
        if found is not None:
            assert found.items[-1] == item and store.items()[item["id"]] in [i for each in kept for i in each.items]
    for number in range(8):
        store.remove(f"r{number}")
    assert len(store) == store.bytes == 0


async def test_codex_two_requests_of_a_tool_turn(engine: FakeEngine) -> None:
    requests = [json.loads(line) for line in CODEX.read_text(encoding="utf-8").splitlines()]
    engine = FakeEngine(Reply(ids("Hi"), cached=100), context_length=1 << 17)
    app = app_with(engine)
    async with client_for(app) as client:
        for each in requests:
            response = await client.post(each["path"], json=each["body"], headers=each["headers"])
            assert response.status_code == 200, response.text
            answer = check_events(named_events(response.text))
            assert answer["usage"]["input_tokens_details"]["cached_tokens"] == 100
            assert [tool["type"] for tool in answer["tools"]].count("namespace") == 1
    first, second = (TOKENIZER.decode(request.prompt) for request in engine.requests)
    assert second.startswith(first) and "gudix rinag wemu" in second
    assert len(app.state.application.responses) == 0  # store: false
    engine.close()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"input": None}, "input"),
    ({"input": []}, "input"),
    ({"input": 5}, "input"),
    ({"input": ["x"]}, "input.0"),
    ({"input": [{}]}, "input.0"),
    ({"input": [{"type": 5, "role": "user"}]}, "input.0"),
    ({"input": [{"role": "robot", "content": "x"}]}, "input.0.role"),
    ({"input": [{"role": ["user"], "content": "x"}]}, "input.0.role"),
    ({"input": [message("user", 5)]}, "input.0.content"),
    ({"input": [message("user", ["x"])]}, "input.0.content.0"),
    ({"input": [message("user", [{"type": {}}])]}, "input.0.content.0"),
    ({"input": [message("user", [{"type": "input_text"}])]}, "input.0.content.0.text"),
    ({"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}]}, "input.0.arguments"),
    ({"input": [{"type": "function_call", "name": "f", "arguments": "{}"}]}, "input.0.call_id"),
    ({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, "input.0.call_id"),
    ({"input": [{"type": "reasoning", "summary": "x", "content": 5}]}, "input.0"),
    ({"input": [{"type": "item_reference"}]}, "input.0.id"),
    ({"tools": [{"type": "function"}]}, "tools.0.name"),
    ({"tools": [{"type": "function", "name": ""}]}, "tools.0.name"),
    ({"tools": [READ, READ]}, "tools"),
    ({"tools": [READ | {"parameters": []}]}, "tools.0.parameters"),
    ({"tools": [{"type": "namespace", "name": "n"}]}, "tools.0"),
    ({"tools": ["read"]}, "tools.0"),
    ({"tools": [READ], "tool_choice": "sometimes"}, "tool_choice"),
    ({"tools": [READ], "tool_choice": ["auto"]}, "tool_choice"),
    ({"tools": [READ], "tool_choice": {"type": "function", "name": "write"}}, "tool_choice"),
    ({"tools": [READ], "tool_choice": {"type": "web_search"}}, "tool_choice.type"),
    ({"tools": [READ], "tool_choice": {"type": "allowed_tools", "tools": {}}}, "tool_choice"),
    ({"tools": [{"type": "web_search"}], "tool_choice": "required"}, "tool_choice"),
    ({"text": {"format": {"type": "json_schema"}}}, "text.format.schema"),
    ({"text": {"format": {"type": "xml"}}}, "text.format.type"),
    ({"max_output_tokens": 0}, "max_output_tokens"),
    ({"temperature": "hot"}, "temperature"),
    ({"metadata": {"a": 1}}, "metadata.a"),
    ({"prompt_cache_key": "x" * 513}, "prompt_cache_key"),
    ({"instructions": ["x"]}, "instructions"),
]


@pytest.mark.parametrize(("body", "param"), BAD)
async def test_bad_values_are_named(app: FastAPI, engine: FakeEngine, body: dict[str, Any], param: str) -> None:
    for streamed in (False, True):
        assert_error(await post(app, stream=streamed, **body), 400, code="invalid_value", param=param)
    assert not engine.requests


@pytest.mark.parametrize(
    ("kind", "words"), [("input_image", "Images"), ("input_audio", "Audio"), ("input_file", "Files")]
)
async def test_what_is_no_text_is_refused_by_its_name(app: FastAPI, kind: str, words: str) -> None:
    response = await post(app, input=[message("user", [{"type": "input_text", "text": "see"}, {"type": kind}])])
    error = assert_error(response, 400, code="unsupported_content", param="input.0.content.1")
    assert words in error["message"]


@pytest.mark.parametrize("field", ["background", "conversation", "prompt"])
async def test_what_is_not_there_is_said(app: FastAPI, field: str) -> None:
    assert_error(await post(app, **{field: True}), 400, code="unsupported_value", param=field)


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"[]",
        b'{"input": "\xff"}',
        b'{"input": [{"role": "user", "content": "x"}], "temperature": NaN}',
        b'{"input": "x", "tools": [{"type": "function", "name": "f", "parameters": %s}]}' % nested(1000).encode(),
        b'{"input": "x", "tools": [{"type": "function", "name": "f", "other": %s}]}' % nested(300).encode(),
        b'{"input": "x", "tool_choice": %s}' % nested(300).encode(),
        b'{"input": [%s]}' % nested(300).encode(),
        b'{"input": "x", "text": {"format": {"type": "json_schema", "schema": %s}}}' % nested(300).encode(),
        b'{"input": "x", "previous_response_id": %s}' % nested(100_000).encode(),
    ],
)
async def test_broken_bodies_are_refused(app: FastAPI, engine: FakeEngine, body: bytes) -> None:
    async with client_for(app) as client:
        response = await client.post(PATH, content=body, headers={"Content-Type": "application/json"})
    error = response.json()["error"]
    assert_error(response, 400, code=error["code"], param=error["param"])
    assert len(error["message"]) < 1000 and not engine.requests


async def test_arguments_that_are_no_json_stay_what_they_are(app: FastAPI, seen: list[ChatRequest]) -> None:
    odd = ["{", "[1]", '{"a": NaN}']
    calls = [{"type": "function_call", "call_id": "c", "name": "f", "arguments": each} for each in odd]
    await create(app, input=[message("user", "x"), *calls])
    assert [call["function"]["arguments"] for call in seen[0].messages[1]["tool_calls"]] == odd


async def test_nested_arguments_do_no_harm(app: FastAPI) -> None:
    """Whether a template can show them or not."""
    for arguments in ("[" * 100_000, nested(100_000), nested(300)):
        call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments}
        assert (await post(app, input=[message("user", "x"), call])).status_code in (200, 400)
        await create(app)


async def test_odd_text_passes_through(app: FastAPI, engine: FakeEngine) -> None:
    odd = '"a\\ud800\\u0000\\u2028"'
    call = f'{{"type": "function_call", "call_id": {odd}, "name": {odd}, "arguments": {odd}, "id": {odd}}}'
    items = f'[{{"role": "user", "content": {odd}}}, {call}]'
    body = f'{{"input": {items}, "instructions": {odd}, "prompt_cache_key": "k", "metadata": {{"a": "b"}}}}'
    async with client_for(app) as client:
        response = await client.post(PATH, content=body.encode(), headers={"Content-Type": "application/json"})
        assert response.status_code == 200, response.text
        assert (await client.get(f"{PATH}/{response.json()['id']}")).status_code == 200
    assert "a\ufffd\0\u2028" in TOKENIZER.decode(engine.requests[0].prompt)


@pytest.mark.parametrize("streamed", [False, True])
async def test_too_long_is_an_error_before_any_header(app: FastAPI, engine: FakeEngine, streamed: bool) -> None:
    response = await post(app, input="word " * 9000, stream=streamed)
    assert_error(response, 400, code="context_length_exceeded")
    engine.refuse = EngineBusyError("full")
    assert_error(await post(app, stream=streamed), 429, code="engine_busy")


async def test_failure_of_the_engine(app: FastAPI, engine: FakeEngine) -> None:
    engine.script = Reply(ids("Hi"), error=EngineError("lost"))
    assert_error(await post(app), 500, code="engine_error")
    events = named_events((await post(app, stream=True)).text)
    assert events[-1]["type"] == "response.failed" and events[-1]["sequence_number"] == len(events) - 1
    failed = check_response(events[-1]["response"])
    assert failed["status"] == "failed" and failed["error"] == {"code": "server_error", "message": "lost"}


async def test_headers_and_comments_come_while_prefilling(
    app: FastAPI, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "KEEPALIVE_SECONDS", 0.01)
    gate = Gate()
    engine.script = Reply(ids("Hi"), cached=2, chunk=8, prefill_gate=gate)
    header = {"authorization": AUTH["Authorization"]}
    exchange = Exchange(app, "POST", PATH, {"input": "hello", "stream": True}, header)
    task = asyncio.create_task(exchange.run())
    seen = b""
    async with asyncio.timeout(LIMIT_SECONDS):
        assert (await exchange.messages.get())["status"] == 200
        while b": prefilling 10/" not in seen:
            seen += (await exchange.messages.get())["body"]
    gate.open()
    await task
    while not exchange.messages.empty():
        seen += exchange.messages.get_nowait()["body"]
    assert text_of(check_events(named_events(seen.decode()))) == "Hi"


async def test_disconnect_cancels(app: FastAPI, engine: FakeEngine) -> None:
    gate = Gate()
    engine.script = Reply(ids("Hi"), chunk=4, prefill_gate=gate)
    header = {"authorization": AUTH["Authorization"]}
    exchange = Exchange(app, "POST", PATH, {"input": "hello", "stream": True}, header)
    task = asyncio.create_task(exchange.run())
    assert await asyncio.to_thread(gate.reached.wait, LIMIT_SECONDS)
    exchange.leave()
    await task
    assert engine.cancelled == [1] and len(app.state.application.responses) == 0

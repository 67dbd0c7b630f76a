"""Ollama's API: what it takes, what it answers, and how it ends. Shapes are those of Ollama's own documentation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from pinfill_service.api import ollama, running
from pinfill_service.engine.errors import EngineBusyError, EngineError
from pinfill_service.models.sidecar import Sidecar
from pinfill_service.prompt.chat import ChatRequest
from tests.support.asgi import Exchange
from tests.support.client import AUTH, app_with, client_for, saying_hi
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply
from tests.support.managed import managed
from tests.support.models import ids, llama_text
from tests.support.scripted_reader import use_scripted_reader

TOKENIZER = llama_text().tokenizer
CHAT, GENERATE = "/api/chat", "/api/generate"
USER = [{"role": "user", "content": "hello"}]
READ = {"type": "function", "function": {"name": "read", "description": "d", "parameters": {"type": "object"}}}
COUNTS = {
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_cached_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
}


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
    return use_scripted_reader(monkeypatch, ollama)


async def send(app: FastAPI, method: str, path: str, body: object = None) -> httpx.Response:
    async with client_for(app) as client:
        return await client.request(method, path, json=body)


async def post(app: FastAPI, path: str, **body: Any) -> httpx.Response:
    said = {"messages": USER} if path == CHAT else {"prompt": "hello"}
    return await send(app, "POST", path, {"model": "fake-model:latest"} | said | body)


async def whole(app: FastAPI, path: str, **body: Any) -> dict[str, Any]:
    response = await post(app, path, stream=False, **body)
    assert response.status_code == 200 and response.headers["content-type"] == "application/json", response.text
    return check_last(response.json(), path)


async def lines(app: FastAPI, path: str, **body: Any) -> list[dict[str, Any]]:
    response = await post(app, path, **body)
    assert response.status_code == 200 and response.headers["content-type"] == "application/x-ndjson", response.text
    return check_lines(response.text, path)


def check_lines(text: str, path: str) -> list[dict[str, Any]]:
    """The lines of a complete stream: every one an object of Ollama's shape, the last one with the counts."""
    found = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
    for line in found[:-1]:
        assert set(line) == {"model", "created_at", "done", content_key(path)} and line["done"] is False
        check_content(line, path)
    check_last(found[-1], path)
    return found


def check_last(answer: dict[str, Any], path: str) -> dict[str, Any]:
    reasoning = {"thinking"} if path == GENERATE and "thinking" in answer else set()
    assert set(answer) - reasoning == {"model", "created_at", "done", "done_reason", content_key(path)} | COUNTS
    assert answer["done"] is True and answer["done_reason"] in ("stop", "length")
    assert all(type(answer[name]) is int and answer[name] >= 0 for name in COUNTS)
    assert answer["prompt_cached_count"] <= answer["prompt_eval_count"]
    check_content(answer, path)
    return answer


def check_content(line: dict[str, Any], path: str) -> None:
    assert line["model"] == "fake-model" and datetime.fromisoformat(line["created_at"]).tzinfo is not None
    if path == GENERATE:
        assert isinstance(line["response"], str) and line.get("thinking", "x")
        return
    message = line["message"]
    assert message["role"] == "assistant" and isinstance(message["content"], str)
    assert set(message) <= {"role", "content", "thinking", "tool_calls"}
    for call in message.get("tool_calls", ()):
        assert set(call) == {"id", "function"} and set(call["function"]) == {"index", "name", "arguments"}
        assert isinstance(call["function"]["arguments"], dict)


def content_key(path: str) -> str:
    return "message" if path == CHAT else "response"


def joined(found: list[dict[str, Any]], path: str) -> str:
    return "".join(line["message"]["content"] if path == CHAT else line["response"] for line in found)


def refused(response: httpx.Response, status: int) -> str:
    """The words of an error, which is all that Ollama's envelope holds."""
    assert response.status_code == status and list(response.json()) == ["error"], response.text
    words = response.json()["error"]
    assert isinstance(words, str) and 0 < len(words) < 1000
    return words


@pytest.mark.parametrize("path", [CHAT, GENERATE])
async def test_an_answer_streamed_and_not(app: FastAPI, engine: FakeEngine, path: str) -> None:
    found = await lines(app, path)
    assert joined(found, path) == "Hi 🎉!" and found[-1]["done_reason"] == "stop"
    answer = await whole(app, path)
    assert joined([answer], path) == "Hi 🎉!"
    for each in (found[-1], answer):
        assert each["prompt_eval_count"] == len(engine.requests[0].prompt) and each["prompt_cached_count"] == 3
        assert each["eval_count"] == len(ids("Hi 🎉!"))
        assert (each["prompt_eval_duration"], each["eval_duration"]) == (500_000_000, 250_000_000)
    prompt = "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"
    assert {TOKENIZER.decode(request.prompt) for request in engine.requests} == {prompt}


@examples(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 12), st.integers(1, 9), st.booleans())
async def test_cached_and_processed_are_the_prompt(
    app: FastAPI, engine: FakeEngine, cached: int, length: int, streamed: bool
) -> None:
    engine.script = Reply(ids("x" * length), cached=cached)
    found = await lines(app, CHAT) if streamed else [await whole(app, CHAT)]
    assert found[-1]["prompt_cached_count"] == cached
    assert found[-1]["prompt_eval_count"] == len(engine.requests[-1].prompt)
    assert found[-1]["eval_count"] == len(ids("x" * length))


async def test_options_reach_the_engine(app: FastAPI, engine: FakeEngine) -> None:
    sampling = {"temperature": 0.5, "top_k": 4, "top_p": 0.9, "min_p": 0.1, "seed": 7, "presence_penalty": 1}
    options = sampling | {"num_predict": 2, "repeat_penalty": 1.1, "stop": ["zz"], "num_ctx": 8, "mirostat": 1}
    answer = await whole(app, CHAT, options=options, keep_alive="5m")
    assert answer["done_reason"] == "length"
    (request,) = engine.requests
    assert {name: getattr(request.sampling, name) for name in sampling} == sampling
    assert request.sampling.repetition_penalty == 1.1 and request.max_tokens == 2
    await whole(app, GENERATE, options={"num_predict": -1, "num_ctx": 8}, keep_alive=0)
    assert engine.requests[1].max_tokens == 4096 - len(engine.requests[1].prompt)
    engine.script = Reply(ids("one two"))
    assert joined(await lines(app, GENERATE, options={"stop": "wo"}), GENERATE) == "one t"


async def test_thinking_and_tools(app: FastAPI, engine: FakeEngine, seen: list[ChatRequest]) -> None:
    engine.script = Reply(ids('<think>hm<say>Well.<call read>{"path": "a"}<end><call read>{"n": 1}<end><call read>{"a'))
    answer = await whole(app, CHAT, tools=[READ], think=True)
    found = await lines(app, CHAT, tools=[READ], think="high")
    assert answer["message"]["content"] == joined(found, CHAT) == "Well."
    assert answer["message"]["thinking"] == "".join(each["message"].get("thinking", "") for each in found) == "hm"
    streamed = [call for each in found for call in each["message"].get("tool_calls", ())]
    for calls in (answer["message"]["tool_calls"], streamed):  # the last one was cut short
        assert [call["function"]["arguments"] for call in calls] == [{"path": "a"}, {"n": 1}]
        assert [call["id"] for call in calls] == ["call_0", "call_1"]
    assert [call["function"]["index"] for call in streamed] == [0, 1]
    assert seen[0].template_options == {"enable_thinking": True} and seen[0].tools == (READ,)
    assert seen[1].template_options == {"enable_thinking": True, "reasoning_effort": "high"}
    engine.script = Reply(ids("<think>hm<say>Well."))
    assert (await whole(app, GENERATE, think=False))["thinking"] == "hm"
    assert seen[2].template_options == {"enable_thinking": False}


async def test_results_find_their_calls(app: FastAPI, seen: list[ChatRequest]) -> None:
    calls = [{"function": {"name": name, "arguments": {"a": 1}}} for name in ("one", "two")]
    said = [
        *USER,
        {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": calls},
        {"role": "tool", "content": "1", "tool_name": "one"},
        {"role": "tool", "content": "2"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "own", **calls[0]}]},
        {"role": "tool", "content": "3", "tool_call_id": "own"},
    ]
    await whole(app, CHAT, messages=said)
    messages = seen[0].messages
    assert [call["id"] for call in messages[1]["tool_calls"]] == ["call_0", "call_1"]
    assert messages[1]["tool_calls"][0]["function"] == {"name": "one", "arguments": {"a": 1}}
    assert "no call" in refused(await post(app, CHAT, messages=[*said, said[-1]]), 400)
    assert messages[1]["reasoning_content"] == "hm" and messages[2]["name"] == "one"
    assert [each.get("tool_call_id") for each in messages if each["role"] == "tool"] == ["call_0", "call_1", "own"]


async def test_formats(app: FastAPI, seen: list[ChatRequest]) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for format in ("json", schema, "", None):
        await whole(app, CHAT, format=format)
        await whole(app, GENERATE, format=format)
    formats = [each.format for each in seen]
    assert [each.schema if each else "none" for each in formats] == [None, None, schema, schema, *["none"] * 4]


async def test_generate_with_a_system_prompt_and_raw(app: FastAPI, engine: FakeEngine) -> None:
    await whole(app, GENERATE, system="Be kind.", context=[1, 2, 3], template="", suffix="")
    await whole(app, GENERATE, prompt="one two", raw=True)
    first, second = (TOKENIZER.decode(request.prompt) for request in engine.requests)
    assert first.startswith("<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nhello")
    assert second == "one two"
    for field, value in (("system", "x"), ("format", "json")):
        assert field in refused(await post(app, GENERATE, raw=True, **{field: value}), 400)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("path", "nothing"), [(CHAT, {"messages": []}), (GENERATE, {"prompt": ""})])
async def test_saying_nothing_loads(
    app: FastAPI, engine: FakeEngine, path: str, nothing: dict[str, Any], streamed: bool
) -> None:
    response = await post(app, path, stream=streamed, **nothing)
    answer = json.loads(response.text)
    assert response.status_code == 200 and answer["done"] is True and answer["done_reason"] == "load"
    assert joined([answer], path) == "" and not engine.requests


BAD: list[tuple[str, dict[str, Any], str]] = [
    (CHAT, {"messages": "x"}, "messages"),
    (CHAT, {"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role"),
    (CHAT, {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, "messages.0.content"),
    (CHAT, {"messages": [{"role": "user", "content": "x", "images": ["aGk="]}]}, "Images are not supported"),
    (
        CHAT,
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}]},
        "arg",
    ),
    (CHAT, {"tools": [{"type": "function"}]}, "tools.0.function"),
    (CHAT, {"tools": [{"type": "function", "function": {"name": ""}}]}, "tools.0.function.name"),
    (CHAT, {"tools": [{"type": "web", "function": {"name": "x"}}]}, "tools.0.type"),
    (CHAT, {"format": "xml"}, "format"),
    (CHAT, {"format": [1]}, "format"),
    (CHAT, {"options": {"temperature": -1}}, "options.temperature"),
    (CHAT, {"options": {"stop": [5]}}, "options.stop"),
    (CHAT, {"options": 5}, "options"),
    (GENERATE, {"prompt": 5}, "prompt"),
    (GENERATE, {"images": ["aGk="]}, "Images are not supported"),
    (GENERATE, {"suffix": "x"}, "suffix is not supported"),
    (GENERATE, {"template": "{{ .Prompt }}"}, "template is not supported"),
]


@pytest.mark.parametrize(("path", "body", "words"), BAD)
async def test_bad_values_are_named(
    app: FastAPI, engine: FakeEngine, path: str, body: dict[str, Any], words: str
) -> None:
    for streamed in (False, True):
        assert words in refused(await post(app, path, stream=streamed, **body), 400)
    assert not engine.requests


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"[]",
        b'{"messages": "\xff"}',
        b'{"messages": [{"role": "user", "content": "x"}], "options": {"temperature": NaN}}',
        b'{"messages": [{"role": "user", "content": "x"}], "format": %s}' % nested(300),
        b'{"messages": [{"role": "user", "content": "x"}], "format": %s}' % nested(100_000),
        b'{"messages": [{"role": "user", "content": "x"}], "tools": [{"function": {"name": "f", "parameters": %s}}]}'
        % nested(300),
        b'{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": %s}}]}]}'
        % nested(300),
    ],
)
async def test_broken_bodies_are_refused(app: FastAPI, engine: FakeEngine, body: bytes) -> None:
    async with client_for(app) as client:
        refused(await client.post(CHAT, content=body, headers={"Content-Type": "application/json"}), 400)
    assert not engine.requests


async def test_odd_text_passes_through(app: FastAPI, engine: FakeEngine) -> None:
    odd = '"a\\ud800\\u0000\\u2028"'
    call = f'{{"id": {odd}, "function": {{"name": "f", "arguments": {{{odd}: {odd}}}}}}}'
    messages = f'[{{"role": "user", "content": {odd}}}, {{"role": "assistant", "tool_calls": [{call}]}}]'
    engine.script = Reply(ids("a\u2028\x85\n"))
    async with client_for(app) as client:
        body = f'{{"model": {odd}, "messages": {messages}}}'
        response = await client.post(CHAT, content=body.encode(), headers={"Content-Type": "application/json"})
    assert joined(check_lines(response.text, CHAT), CHAT) == "a\u2028\x85\n"
    assert "a\ufffd\0\u2028" in TOKENIZER.decode(engine.requests[0].prompt)


@pytest.mark.parametrize("streamed", [False, True])
async def test_errors_before_any_header(app: FastAPI, engine: FakeEngine, streamed: bool) -> None:
    assert "4,096" in refused(await post(app, GENERATE, prompt="word " * 9000, stream=streamed), 400)
    engine.refuse = EngineBusyError("full")
    response = await post(app, CHAT, stream=streamed)
    assert refused(response, 429) == "full" and response.headers["retry-after"] == "1"


async def test_failure_of_the_engine(app: FastAPI, engine: FakeEngine) -> None:
    engine.script = Reply(ids("Hi"), error=EngineError("lost"))
    assert refused(await post(app, CHAT, stream=False), 500) == "lost"
    last = (await post(app, CHAT)).text.splitlines()[-1]
    assert json.loads(last) == {"error": "lost"}


async def test_errors_of_guards_and_routing(app: FastAPI) -> None:
    async with client_for(app) as client:
        refused(await client.get("/api/nothing"), 404)
        refused(await client.get(CHAT), 405)
        refused(await client.post(CHAT, json={}, headers={"Authorization": "Bearer wrong"}), 401)
        refused(await client.post(CHAT, json={}, headers={"Origin": "https://evil.example"}), 403)


@pytest.mark.parametrize("path", [CHAT, GENERATE])
async def test_a_sign_of_life_is_an_empty_piece(
    app: FastAPI, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(running, "KEEPALIVE_SECONDS", 0.01)
    gate = Gate()
    engine.script = Reply(ids("Hi"), chunk=8, prefill_gate=gate)
    header = {"authorization": AUTH["Authorization"]}
    exchange = Exchange(app, "POST", path, {"messages": USER, "prompt": "hello"}, header)
    task = asyncio.create_task(exchange.run())
    received = b""
    async with asyncio.timeout(LIMIT_SECONDS):
        assert (await exchange.messages.get())["status"] == 200
        while received.count(b"\n") < 3:
            received += (await exchange.messages.get())["body"]
    signs = received.count(b"\n")
    gate.open()
    await task
    while not exchange.messages.empty():
        received += exchange.messages.get_nowait()["body"]
    found = check_lines(received.decode(), path)
    assert joined(found[:signs], path) == "" and joined(found, path) == "Hi"


async def test_disconnect_cancels(app: FastAPI, engine: FakeEngine) -> None:
    gate = Gate()
    engine.script = Reply(ids("Hi"), at=((1, gate),))
    exchange = Exchange(app, "POST", CHAT, {"messages": USER}, {"authorization": AUTH["Authorization"]})
    task = asyncio.create_task(exchange.run())
    assert await asyncio.to_thread(gate.reached.wait, LIMIT_SECONDS)
    exchange.leave()
    await task
    assert engine.cancelled == [1]


async def test_what_there_is(app: FastAPI) -> None:
    (listed,) = (await send(app, "GET", "/api/tags")).json()["models"]
    assert listed["name"] == listed["model"] == "fake-model:latest" and listed["digest"] == "f" * 64
    (loaded,) = (await send(app, "GET", "/api/ps")).json()["models"]
    assert loaded["name"] == "fake-model:latest" and loaded["context_length"] == 4096
    for name in ("fake-model", "fake-model:latest"):
        shown = (await send(app, "POST", "/api/show", {"model": name})).json()
        architecture = shown["model_info"]["general.architecture"]
        assert shown["model_info"][f"{architecture}.context_length"] == 4096
        assert {"completion", "tools"} <= set(shown["capabilities"])
    assert "/api/tags" in refused(await send(app, "POST", "/api/show", {"model": "other"}), 404)
    version = (await send(app, "GET", "/api/version")).json()["version"]
    assert tuple(map(int, version.split("."))) >= (0, 13, 4)  # Codex asks for it


async def test_pins_are_models(tmp_path: Path) -> None:
    folder = tmp_path / "models" / "fake-model"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"weights")
    Sidecar(source="x", from_catalog=True, licence="MIT", architecture="llama", quantisation="Q8_0").write(folder)
    async with managed(tmp_path) as service:
        await service.pin("rubric", text="Be strict.")
        names = [each["name"] for each in (await send(service.app, "GET", "/api/tags")).json()["models"]]
        assert names == ["fake-model:latest", "fake-model@rubric:latest"]
        for name in names:
            shown = (await send(service.app, "POST", "/api/show", {"name": name})).json()
            assert (shown["license"], shown["model_info"]["llama.context_length"]) == ("MIT", 512)
            assert (shown["details"]["family"], shown["details"]["quantization_level"]) == ("llama", "Q8_0")
            await lines(service.app, CHAT, model=name)
            await lines(service.app, GENERATE, model=name)
        prompts = [TOKENIZER.decode(request.prompt) for request in service.engine.requests[-4:]]
        assert ["Be strict." in prompt for prompt in prompts] == [False, False, True, True]
        for body in ({}, {"messages": []}):
            assert "rubric" in refused(await post(service.app, CHAT, model="fake-model@none:latest", **body), 404)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/pull"),
        ("POST", "/api/push"),
        ("POST", "/api/create"),
        ("POST", "/api/copy"),
        ("DELETE", "/api/delete"),
        ("POST", "/api/blobs/sha256:00"),
        ("POST", "/api/embed"),
        ("POST", "/api/embeddings"),
    ],
)
async def test_what_there_is_not(app: FastAPI, method: str, path: str) -> None:
    assert len(refused(await send(app, method, path, {"model": "x"}), 501)) > 20

"""OpenAI's routes: what they take, what they answer, what it costs, and how they end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from pinfill_service.api import running
from pinfill_service.engine.errors import EngineBusyError, EngineClosedError, EngineError
from pinfill_service.engine.events import Token, TokenLogprob
from pinfill_service.prompt.template import compile_template
from tests.support import fake_engine
from tests.support.asgi import Exchange
from tests.support.client import (
    AUTH,
    app_with,
    assert_error,
    check_envelope,
    client_for,
    saying_hi,
    sse_events,
)
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply
from tests.support.models import ids, llama_text

TOKENIZER = llama_text().tokenizer
USER = [{"role": "user", "content": "hello"}]
PROMPT_TEXT = "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"
PROMPT = TOKENIZER.encode(PROMPT_TEXT)
JSON = {"Content-Type": "application/json"}
CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    with saying_hi(512) as engine:
        yield engine


@pytest.fixture
def app(engine: FakeEngine) -> FastAPI:
    return app_with(engine)


async def post(app: FastAPI, path: str, **body: Any) -> httpx.Response:
    async with client_for(app) as client:
        return await client.post(path, json=body)


async def chat(app: FastAPI, **body: Any) -> dict[str, Any]:
    response = await post(app, CHAT, **{"messages": USER} | body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def chat_events(app: FastAPI, **body: Any) -> list[Any]:
    response = await post(app, CHAT, **{"messages": USER, "stream": True} | body)
    assert response.status_code == 200 and response.headers["content-type"].startswith("text/event-stream")
    return sse_events(response.text)


async def complete(app: FastAPI, **body: Any) -> dict[str, Any]:
    response = await post(app, COMPLETIONS, **{"prompt": "hello"} | body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def check_cost(answer: dict[str, Any], prompt: int, cached: int, generated: int) -> None:
    """usage and timings, which every answer has."""
    assert answer["usage"] == {
        "prompt_tokens": prompt,
        "completion_tokens": generated,
        "total_tokens": prompt + generated,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    assert answer["timings"] == {
        "cache_n": cached,
        "cache_reason": f"left the cached prefix at token {cached}",
        "prompt_n": prompt - cached,
        "prompt_ms": 500.0,
        "prompt_per_token_ms": 500.0 / (prompt - cached),
        "prompt_per_second": pytest.approx(2 * (prompt - cached)),
        "predicted_n": generated,
        "predicted_ms": 250.0,
        "predicted_per_token_ms": 250.0 / generated,
        "predicted_per_second": pytest.approx(4 * generated),
    }


async def test_chat(app: FastAPI, engine: FakeEngine) -> None:
    answer = await chat(app, model="anything", unknown_field={"x": 1}, max_tokens=None, temperature=None)
    assert answer["object"] == "chat.completion" and answer["model"] == "fake-model"
    assert answer["id"].startswith("chatcmpl-") and isinstance(answer["created"], int)
    message = {"role": "assistant", "content": "Hi 🎉!"}
    assert answer["choices"] == [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]
    check_cost(answer, len(PROMPT), 3, len(ids("Hi 🎉!")))
    (request,) = engine.requests
    assert list(request.prompt) == PROMPT and request.stop_ids == llama_text().stop_ids == {0, 2}
    assert request.max_tokens == 512 - len(PROMPT)
    assert not engine.cancelled


async def test_chat_stream(app: FastAPI) -> None:
    events = await chat_events(app)
    assert events.pop() == "[DONE]"
    assert {(e["object"], e["id"], e["model"]) for e in events} == {
        ("chat.completion.chunk", events[0]["id"], "fake-model")
    }
    deltas = [event["choices"][0]["delta"] for event in events]
    assert deltas[0] == {"role": "assistant", "content": ""} and deltas[-1] == {}
    assert "".join(delta["content"] for delta in deltas[:-1]) == "Hi 🎉!"
    assert all("\ufffd" not in delta.get("content", "") for delta in deltas)
    assert [e["choices"][0]["finish_reason"] for e in events] == [None] * (len(events) - 1) + ["stop"]
    assert events[-1]["timings"]["cache_n"] == 3 and all("timings" not in event for event in events[:-1])


async def test_stream_with_usage_ends_with_it(app: FastAPI) -> None:
    events = await chat_events(app, stream_options={"include_usage": True})
    assert events.pop() == "[DONE]"
    last = events.pop()
    assert last["choices"] == []
    check_cost(last, len(PROMPT), 3, len(ids("Hi 🎉!")))
    assert all(event["usage"] is None and "timings" not in event for event in events)


async def test_cached_tokens_are_told_when_there_are_none(engine: FakeEngine, app: FastAPI) -> None:
    engine.script = Reply(ids("x"))
    assert (await chat(app))["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}
    assert (await complete(app))["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}
    assert (await chat_events(app))[-2]["timings"]["cache_n"] == 0


async def test_sampling_reaches_the_engine(app: FastAPI, engine: FakeEngine) -> None:
    sent = {"temperature": 0, "top_p": 0.9, "top_k": 40, "min_p": 0.1, "presence_penalty": 1, "frequency_penalty": -1}
    more = {
        "seed": 7,
        "logit_bias": {"5": -100, "6": 1.5},
        "cache_salt": "s",
        "cache_prompt": False,
        "ignore_eos": True,
    }
    await chat(app, **sent, **more, repetition_penalty=1.1, max_tokens=4)
    (request,) = engine.requests
    found = {name: getattr(request.sampling, name) for name in (*sent, "seed", "logit_bias", "repetition_penalty")}
    assert found == sent | {"seed": 7, "logit_bias": {5: -100.0, 6: 1.5}, "repetition_penalty": 1.1}
    assert (request.max_tokens, request.salt, request.use_cache, request.stop_ids) == (4, "s", False, frozenset())
    await chat(app, repeat_penalty=1.2, top_k=-1, seed=-1, max_completion_tokens=5, max_tokens=9)
    request = engine.requests[-1]
    assert (request.sampling.repetition_penalty, request.sampling.top_k, request.sampling.seed) == (1.2, 0, None)
    assert (request.max_tokens, request.salt, request.use_cache) == (5, "", True)


@pytest.mark.parametrize(
    ("sent", "expected"), [(None, 512 - len(PROMPT)), (-1, 512 - len(PROMPT)), (32000, 512 - len(PROMPT)), (3, 3)]
)
async def test_max_tokens_is_clamped_to_the_window(
    app: FastAPI, engine: FakeEngine, sent: int | None, expected: int
) -> None:
    answer = await chat(app, max_tokens=sent)
    assert engine.requests[0].max_tokens == expected
    assert answer["choices"][0]["finish_reason"] == ("length" if expected == 3 else "stop")


async def test_several_choices_count_the_prompt_once(app: FastAPI, engine: FakeEngine) -> None:
    answer = await chat(app, n=3, seed=(1 << 63) - 1)
    assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2]
    assert {choice["message"]["content"] for choice in answer["choices"]} == {"Hi 🎉!"}
    generated = 3 * len(ids("Hi 🎉!"))
    assert answer["usage"]["prompt_tokens"] == len(PROMPT) and answer["usage"]["completion_tokens"] == generated
    assert [request.sampling.seed for request in engine.requests] == [(1 << 63) - 1, 0, 1]
    events = await chat_events(app, n=2)
    finished = [e["choices"][0]["index"] for e in events[:-1] if e["choices"][0]["finish_reason"]]
    assert sorted(finished) == [0, 1] and [bool(e.get("timings")) for e in events[:-1]].count(True) == 1
    for index in (0, 1):
        mine = [e["choices"][0]["delta"] for e in events[:-1] if e["choices"][0]["index"] == index]
        assert mine[0]["role"] == "assistant"
        assert "".join(delta.get("content", "") for delta in mine) == "Hi 🎉!"


@pytest.mark.parametrize("stream", [False, True])
async def test_stop_string_across_tokens(app: FastAPI, engine: FakeEngine, stream: bool) -> None:
    gate = Gate()  # the engine would go on for ever
    tokens = ids("one two")
    engine.script = Reply([*tokens, 80], at=((len(tokens), gate),))
    if stream:
        events = await chat_events(app, stop=["wo", "never"], stream_options={"include_usage": True})
        text = "".join(e["choices"][0]["delta"].get("content", "") for e in events[:-2])
        assert events[-3]["choices"][0]["finish_reason"] == "stop"
        usage = events[-2]["usage"]
    else:
        answer = await chat(app, stop="wo")
        text, usage = answer["choices"][0]["message"]["content"], answer["usage"]
        assert answer["choices"][0]["finish_reason"] == "stop"
    assert text == "one t" and usage["completion_tokens"] == len(tokens)
    assert len(engine.cancelled) >= 1 and engine.wait_idle()


async def test_held_back_text_comes_at_the_end(app: FastAPI, engine: FakeEngine) -> None:
    engine.script = Reply(ids("abc"))
    assert (await chat(app, stop=["bcd"]))["choices"][0]["message"]["content"] == "abc"
    engine.script = Reply(ids("a🎉")[:-1], reason="length")
    choice = (await chat(app))["choices"][0]
    assert choice["finish_reason"] == "length" and choice["message"]["content"] == "a\ufffd"


async def test_chat_logprobs(app: FastAPI, engine: FakeEngine) -> None:
    tokens = ids("Hi 🎉!")
    answer = await chat(app, logprobs=True, top_logprobs=2)
    content = answer["choices"][0]["logprobs"]["content"]
    assert [entry["logprob"] for entry in content] == [-token / 1000 for token in tokens]
    assert [len(entry["top_logprobs"]) for entry in content] == [2] * len(tokens)
    assert bytes(byte for entry in content for byte in entry["bytes"]).decode() == "Hi 🎉!"
    assert set(content[0]) == {"token", "logprob", "bytes", "top_logprobs"}
    events = await chat_events(app, logprobs=True, top_logprobs=2)
    streamed = [e["choices"][0]["logprobs"]["content"] for e in events[:-1] if e["choices"][0]["logprobs"]]
    assert [entry for part in streamed for entry in part] == content
    assert engine.requests[0].sampling.logprobs == 2
    await chat(app, logprobs=True)
    assert engine.requests[-1].sampling.logprobs == 0


async def test_logprobs_end_where_the_text_ends(app: FastAPI, engine: FakeEngine) -> None:
    engine.script = Reply(ids("abcd"))
    answer = await chat(app, logprobs=True, stop=["cd"])
    assert [entry["token"] for entry in answer["choices"][0]["logprobs"]["content"]] == ["a", "b"]


async def test_content_parts_equal_their_text(app: FastAPI, engine: FakeEngine) -> None:
    await chat(app, messages=[{"role": "user", "content": [{"type": "text", "text": "hello"}]}])
    assert list(engine.requests[0].prompt) == PROMPT
    messages = [{"role": "developer", "content": "d"}, *USER, {"role": "assistant", "content": None}]
    await chat(app, messages=messages)
    assert TOKENIZER.decode(engine.requests[1].prompt).startswith("<|im_start|>system\nd<|im_end|>")
    await chat(app, messages=[*USER, {"role": "assistant", "content": "Well"}], continue_final_message=True)
    assert TOKENIZER.decode(engine.requests[2].prompt).endswith("assistant\nWell")


BAD_CHAT: list[tuple[dict[str, Any], str | None]] = [
    ({"messages": []}, "messages"),
    ({"messages": None}, "messages"),
    ({"messages": "hi"}, "messages"),
    ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role"),
    ({"messages": [{"content": "x"}]}, "messages.0.role"),
    ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content"),
    ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages.0.content"),
    (
        {"messages": [*USER, {"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
        "messages.1.content",
    ),
    ({"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "messages.0.content"),
    ({"temperature": -1}, "temperature"),
    ({"temperature": "hot"}, "temperature"),
    ({"top_p": 1.5}, "top_p"),
    ({"top_p": "NaN"}, "top_p"),
    ({"n": 0}, "n"),
    ({"n": 17}, "n"),
    ({"stop": ["x"] * 17}, "stop"),
    ({"stop": [1]}, "stop.0"),
    ({"stop": {}}, "stop"),
    ({"cache_salt": "x" * 513}, "cache_salt"),
    ({"logit_bias": {"x": 1}}, "logit_bias.x.[key]"),
    ({"logit_bias": {"1": 101}}, "logit_bias.1"),
    ({"top_logprobs": 21}, "top_logprobs"),
    ({"max_tokens": -2}, "max_tokens"),
    ({"seed": 1 << 64}, "seed"),
    ({"stream_options": 1}, "stream_options"),
]


@pytest.mark.parametrize(("body", "param"), BAD_CHAT)
async def test_bad_values_are_named(app: FastAPI, engine: FakeEngine, body: dict[str, Any], param: str) -> None:
    for stream in (False, True):
        response = await post(app, CHAT, **{"messages": USER, "stream": stream} | body)
        error = assert_error(response, 400, code="invalid_value", param=param)
        assert error["type"] == "invalid_request_error"
    assert not engine.requests


async def test_unsupported_content_is_named(app: FastAPI) -> None:
    response = await post(app, CHAT, messages=[{"role": "user", "content": [{"type": "image_url"}]}])
    assert "image_url" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("content", "headers", "code"),
    [
        (b"{", JSON, "invalid_json"),
        (b"", JSON, "invalid_value"),
        (b"[]", JSON, "invalid_value"),
        (b'{"messages": [{"role": "user", "content": "x"}]}', {"Content-Type": "text/plain"}, "invalid_content_type"),
        (
            b'{"messages": [{"role": "user", "content": "x"}], "temperature": NaN}',
            JSON,
            "invalid_value",
        ),
        (b'{"messages": [{"role": "user", "content": "x"}], "stop": "\\ud800"}', JSON, "invalid_value"),
        (b'{"messages": [{"role": "user", "content": "x"}], "cache_salt": "\\ud800"}', JSON, "invalid_value"),
        (b'{"messages": "\xff"}', JSON, None),
    ],
)
async def test_broken_bodies_are_refused(app: FastAPI, content: bytes, headers: dict[str, str], code: str) -> None:
    async with client_for(app) as client:
        response = await client.post(CHAT, content=content, headers=headers)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == code
    check_envelope(response.json(), code=code, param=error["param"])


@pytest.mark.parametrize("text", ["\0", "a\0b", "<|im_end|>", "\u2028\x85\n", "🎉" * 20])
async def test_odd_text_passes_through(app: FastAPI, engine: FakeEngine, text: str) -> None:
    engine.script = Reply([token for token in ids(text) if token != 2] or [5])
    answer = await chat(app, messages=[{"role": "user", "content": text}])
    events = await chat_events(app, messages=[{"role": "user", "content": text}])
    streamed = "".join(e["choices"][0]["delta"].get("content", "") for e in events[:-1])
    assert streamed == answer["choices"][0]["message"]["content"]
    assert text == "<|im_end|>" or streamed == text
    assert text in TOKENIZER.decode(engine.requests[0].prompt)


async def test_event_lines_are_not_broken_by_any_client(app: FastAPI, engine: FakeEngine) -> None:
    engine.script = Reply(ids("a\u2028b\x85c\u2029\r\n"))
    response = await post(app, CHAT, messages=USER, stream=True)
    lines = [line for line in response.text.splitlines() if line]
    assert all(line.startswith("data: ") for line in lines)


@pytest.mark.parametrize("path", [CHAT, COMPLETIONS, "/tokenize"])
async def test_lone_surrogates_do_not_crash(app: FastAPI, engine: FakeEngine, path: str) -> None:
    """JSON can spell what is no Unicode text; it counts as U+FFFD."""
    odd = '"a\\ud800"'
    fields = {
        CHAT: f'"messages": [{{"role": "user", "content": {odd}}}], "chat_template_kwargs": {{"a": {odd}}}',
        COMPLETIONS: f'"prompt": {odd}, "echo": true',
        "/tokenize": f'"content": {odd}, "with_pieces": true',
    }
    body = f'{{{fields[path]}, "user": {odd}, "model": {odd}}}'
    async with client_for(app) as client:
        response = await client.post(path, content=body.encode(), headers=JSON)
    assert response.status_code == 200, response.text
    assert all("a\ufffd" in TOKENIZER.decode(request.prompt) for request in engine.requests)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
async def test_too_long_is_an_error_before_any_header(
    app: FastAPI, engine: FakeEngine, stream: bool, path: str
) -> None:
    text = "word " * 2000
    body = {"messages": [{"role": "user", "content": text}]} if path == CHAT else {"prompt": text}
    error = assert_error(await post(app, path, stream=stream, **body), 400, code="context_length_exceeded")
    assert "512" in error["message"] and not engine.requests


@pytest.mark.parametrize(
    ("refusal", "status", "code"),
    [
        (EngineBusyError("full"), 429, "engine_busy"),
        (EngineClosedError("bye"), 503, "engine_closed"),
        (EngineError("x"), 500, "engine_error"),
    ],
)
async def test_refusals_of_the_engine(
    app: FastAPI, engine: FakeEngine, refusal: EngineError, status: int, code: str
) -> None:
    engine.refuse = refusal
    for stream in (False, True):
        response = await post(app, CHAT, messages=USER, stream=stream)
        assert_error(response, status, code=code)
        assert (response.headers.get("retry-after") == "1") is (status == 429)


async def test_a_refused_choice_takes_the_others_with_it(
    app: FastAPI, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.script = Reply(ids("x"), at=((0, Gate()),))
    submit = engine.submit

    def second_is_refused(*args: Any) -> int:
        if engine.requests:
            raise EngineBusyError("full")
        return submit(*args)

    monkeypatch.setattr(engine, "submit", second_is_refused)
    assert_error(await post(app, CHAT, messages=USER, n=2), 429, code="engine_busy")
    assert engine.wait_idle() and engine.cancelled == [1]


async def test_failure_of_the_engine(app: FastAPI, engine: FakeEngine) -> None:
    engine.script = Reply(ids("Hi"), error=EngineError("lost"))
    assert_error(await post(app, CHAT, messages=USER), 500, code="engine_error")
    events = await chat_events(app)
    assert events[1]["choices"][0]["delta"]["content"]
    assert check_envelope(events[-1], code="engine_error")["message"] == "lost"
    assert "[DONE]" not in events


async def test_unexpected_failure_in_the_stream_tells_nothing(
    app: FastAPI, engine: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.script = lambda request: iter([*list(Reply(ids("Hi"))(request))[:-1], Token("secret")])  # type: ignore[arg-type]
    events = await chat_events(app)
    assert check_envelope(events[-1], code="internal_error")["message"] == "Internal error."
    assert "stream" in caplog.text and "".join(e["choices"][0]["delta"]["content"] for e in events[:-1]) == "Hi"


async def test_a_template_that_refuses(engine: FakeEngine) -> None:
    text = replace(llama_text(), template=compile_template("{{ raise_exception('No tools') }}", {}))
    app = app_with(engine, text)
    error = assert_error(await post(app, CHAT, messages=USER), 400, code="template_error", param="messages")
    assert "No tools" in error["message"]


async def until(event: Any) -> None:
    """Waits for a threading.Event of the fake engine without blocking the loop."""
    assert await asyncio.to_thread(event.wait, LIMIT_SECONDS)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("where", ["prefill", "decode"])
async def test_disconnect_cancels(app: FastAPI, engine: FakeEngine, stream: bool, where: str) -> None:
    gate = Gate()
    tokens = ids("Hi")
    engine.script = Reply(tokens, chunk=4, prefill_gate=gate) if where == "prefill" else Reply(tokens, at=((1, gate),))
    exchange = Exchange(
        app, "POST", CHAT, {"messages": USER, "stream": stream}, {"authorization": AUTH["Authorization"]}
    )
    task = asyncio.create_task(exchange.run())
    await until(gate.reached)
    assert not engine.cancelled
    exchange.leave()
    await task
    assert engine.cancelled == [1] and await asyncio.to_thread(engine.wait_idle)


async def test_disconnect_in_the_queue_cancels(app: FastAPI, engine: FakeEngine) -> None:
    gate = Gate()
    engine.script = Reply(ids("Hi"), at=((0, gate),))
    header = {"authorization": AUTH["Authorization"]}
    first = Exchange(app, "POST", CHAT, {"messages": USER}, header)
    second = Exchange(app, "POST", CHAT, {"messages": USER, "stream": True}, header)
    running_first = asyncio.create_task(first.run())
    await until(gate.reached)
    running_second = asyncio.create_task(second.run())
    assert (await second.messages.get())["type"] == "http.response.start"
    second.leave()
    await running_second
    assert engine.cancelled == [2]
    gate.open()
    await running_first
    assert first.received()[0] == 200


async def test_a_send_that_fails_cancels(app: FastAPI, engine: FakeEngine) -> None:
    engine.script = Reply(ids("Hi"), at=((1, Gate()),))
    exchange = Exchange(app, "POST", CHAT, {"messages": USER, "stream": True}, {"authorization": AUTH["Authorization"]})

    async def broken(message: Any) -> None:
        if message["type"] == "http.response.body":
            raise OSError("gone")

    exchange.messages.put = broken  # type: ignore[method-assign]
    with pytest.raises(OSError, match="gone"):
        await exchange.run()
    assert engine.cancelled == [1]


async def test_headers_and_comments_come_while_prefilling(
    app: FastAPI, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "KEEPALIVE_SECONDS", 0.01)
    gate = Gate()
    engine.script = Reply(ids("Hi"), cached=2, chunk=8, prefill_gate=gate)
    exchange = Exchange(app, "POST", CHAT, {"messages": USER, "stream": True}, {"authorization": AUTH["Authorization"]})
    task = asyncio.create_task(exchange.run())
    seen = b""
    async with asyncio.timeout(LIMIT_SECONDS):
        assert (await exchange.messages.get())["status"] == 200
        assert b'"role":"assistant"' in (await exchange.messages.get())["body"]
        while f": prefilling 10/{len(PROMPT)}\n\n".encode() not in seen:
            seen += (await exchange.messages.get())["body"]
    gate.open()
    await task
    rest = b"".join(message["body"] for message in drain(exchange.messages))
    assert sse_events((seen + rest).decode())[-1] == "[DONE]"
    blocks = (seen + rest).decode().split("\n\n")
    behind = [after for block, after in pairwise(blocks) if block.startswith(":")]
    assert behind and all('"delta":{"content":""}' in block for block in behind), "parsers skip comments"


def drain(messages: asyncio.Queue[Any]) -> Iterator[Any]:
    while not messages.empty():
        yield messages.get_nowait()


async def test_concurrent_answers_are_their_own(app: FastAPI, engine: FakeEngine) -> None:
    engine.script = lambda request: Reply(list(request.prompt[-3:]))(request)
    prompts = [[n, n + 1, n + 2] for n in range(100, 140)]
    answers = await asyncio.gather(*(complete(app, prompt=prompt) for prompt in prompts))
    assert [a["choices"][0]["text"] for a in answers] == [TOKENIZER.decode(prompt) for prompt in prompts]


async def test_completion(app: FastAPI, engine: FakeEngine) -> None:
    answer = await complete(app, prompt="hello there")
    assert answer["object"] == "text_completion" and answer["id"].startswith("cmpl-")
    assert answer["choices"] == [{"index": 0, "text": "Hi 🎉!", "logprobs": None, "finish_reason": "stop"}]
    check_cost(answer, len(ids("hello there")), 3, len(ids("Hi 🎉!")))
    assert engine.requests[0].max_tokens == 16 and list(engine.requests[0].prompt) == ids("hello there")


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("ab", [ids("ab")]),
        (["ab", "cd"], [ids("ab"), ids("cd")]),
        ([65, 66], [[65, 66]]),
        ([[65, 66], [67]], [[65, 66], [67]]),
        (["ab", [67]], [ids("ab"), [67]]),
    ],
)
async def test_prompts_of_every_kind(app: FastAPI, engine: FakeEngine, prompt: Any, expected: list[list[int]]) -> None:
    answer = await complete(app, prompt=prompt, n=2, echo=True)
    assert [list(request.prompt) for request in engine.requests] == [each for each in expected for _ in range(2)]
    assert answer["usage"]["prompt_tokens"] == sum(map(len, expected))
    assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == 3 * len(expected)
    texts = [TOKENIZER.decode(each) + "Hi 🎉!" for each in expected for _ in range(2)]
    assert [choice["text"] for choice in answer["choices"]] == texts
    response = await post(app, COMPLETIONS, prompt=prompt, n=2, echo=True, stream=True)
    streamed = [""] * len(texts)
    for event in sse_events(response.text)[:-1]:
        streamed[event["choices"][0]["index"]] += event["choices"][0]["text"]
    assert streamed == texts


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"prompt": ""}, "prompt", "invalid_value"),
        ({"prompt": []}, "prompt", "invalid_value"),
        ({"prompt": [[]]}, "prompt", "invalid_value"),
        ({"prompt": None}, "prompt", "invalid_value"),
        ({"prompt": [1, "a"]}, "prompt", "invalid_value"),
        ({"prompt": [True]}, "prompt", "invalid_value"),
        ({"prompt": [512]}, "prompt", "invalid_value"),
        ({"prompt": [-1]}, "prompt", "invalid_value"),
        ({"prompt": ["a", [10**30]]}, "prompt.1", "invalid_value"),
        ({"prompt": ["a"] * 129}, "prompt", "invalid_value"),
        ({"prompt": ["a"] * 100, "n": 2}, "prompt", "invalid_value"),
        ({"suffix": "end"}, "suffix", "unsupported_value"),
        ({"best_of": 2}, "best_of", "unsupported_value"),
        ({"logprobs": 21}, "logprobs", "invalid_value"),
    ],
)
async def test_bad_completions_are_named(app: FastAPI, body: dict[str, Any], param: str, code: str) -> None:
    assert_error(await post(app, COMPLETIONS, **{"prompt": "a"} | body), 400, code=code, param=param)


async def test_harmless_completion_fields_pass(app: FastAPI) -> None:
    answer = await complete(app, suffix="", best_of=2, n=2, user="me", logit_bias=None, stop=None)
    assert len(answer["choices"]) == 2


async def test_legacy_logprobs(app: FastAPI, engine: FakeEngine) -> None:
    engine.script = Reply(ids("ab"))
    logprobs = (await complete(app, prompt="cd", logprobs=2))["choices"][0]["logprobs"]
    a, b = ids("ab")
    assert logprobs["tokens"] == ["a", "b"] and logprobs["text_offset"] == [0, 1]
    assert logprobs["token_logprobs"] == [-a / 1000, -b / 1000]
    assert [len(top) for top in logprobs["top_logprobs"]] == [2, 2] and "a" in logprobs["top_logprobs"][0]
    assert engine.requests[0].prompt_logprobs is None


@pytest.mark.parametrize("max_tokens", [0, 2])
async def test_echo_with_logprobs_scores_the_prompt(app: FastAPI, engine: FakeEngine, max_tokens: int) -> None:
    engine.script = Reply(ids("ab"))
    prompt = "c🎉d<|im_end|>e"
    body: dict[str, Any] = {"prompt": prompt, "echo": True, "logprobs": 1, "max_tokens": max_tokens}
    answer = await complete(app, **body)
    choice, count = answer["choices"][0], len(ids(prompt))
    logprobs = choice["logprobs"]
    assert choice["text"] == prompt + "ab"[:max_tokens]
    assert engine.requests[0].prompt_logprobs == 1 and engine.requests[0].max_tokens == max_tokens
    assert {name: len(values) for name, values in logprobs.items()} == dict.fromkeys(logprobs, count + max_tokens)
    assert logprobs["token_logprobs"][0] is None and logprobs["top_logprobs"][0] is None
    assert logprobs["token_logprobs"][1:count] == [-token / 1000 for token in ids(prompt)[1:]]
    for token, offset in zip(logprobs["tokens"], logprobs["text_offset"], strict=True):
        assert token.startswith("bytes:") or choice["text"][offset:].startswith(token)
    events = sse_events((await post(app, COMPLETIONS, stream=True, **body)).text)
    assert events.pop() == "[DONE]"
    assert "".join(event["choices"][0]["text"] for event in events) == choice["text"]
    parts = [event["choices"][0]["logprobs"] for event in events if event["choices"][0]["logprobs"]]
    assert {name: [value for part in parts for value in part[name]] for name in logprobs} == logprobs


async def test_infinite_logprobs_are_valid_json(
    app: FastAPI, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake_engine, "score", lambda token, k: TokenLogprob(token, float("-inf"), ((1, float("nan")),)))
    for answer in (await chat(app, logprobs=True, top_logprobs=1), await complete(app, logprobs=1)):
        assert "-9999.0" in json.dumps(answer)


async def test_models(app: FastAPI) -> None:
    async with client_for(app) as client:
        (model,) = (await client.get("/v1/models?limit=1000")).json()["data"]
        assert (model["id"], model["object"]) == ("fake-model", "model")
        assert model["meta"]["n_ctx"] == 512 and model["meta"]["n_vocab"] == 512
        assert (await client.get("/v1/models/fake-model")).json() == model
        assert_error(await client.get("/v1/models/org/other"), 404, code="model_not_found", param="model")


async def test_tokenize_and_back(app: FastAPI) -> None:
    text = "hello 🎉"
    plain = (await post(app, "/tokenize", content=text)).json()["tokens"]
    assert plain == ids(text)
    pieces = (await post(app, "/tokenize", content=text, with_pieces=True, add_special=True)).json()["tokens"]
    assert [piece["id"] for piece in pieces] == plain
    parts = [piece["piece"].encode() if isinstance(piece["piece"], str) else bytes(piece["piece"]) for piece in pieces]
    assert b"".join(parts).decode() == text and any(isinstance(piece["piece"], list) for piece in pieces)
    assert (await post(app, "/detokenize", tokens=plain)).json() == {"content": text}
    assert (await post(app, "/detokenize", tokens=[-1, 10**20])).json() == {"content": ""}
    assert_error(await post(app, "/tokenize"), 400, code="invalid_value", param="content")


async def test_metrics(app: FastAPI) -> None:
    async with client_for(app) as client:
        response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    lines = response.text.splitlines()
    assert "pinfill_prompt_tokens_cached_total 7.0" in lines and "pinfill_saved_seconds_total 1.5" in lines
    names = {line.split("{")[0].split()[0] for line in lines if not line.startswith("#")}
    assert "pinfill_unused_bytes" in names and len(names) == 19 and all(name.startswith("pinfill_") for name in names)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", CHAT, 405),
        ("POST", "/v1/models", 405),
        ("DELETE", "/livez", 405),
        ("GET", "/livez/", 404),
    ],
)
async def test_errors_of_routing_have_the_envelope(app: FastAPI, method: str, path: str, status: int) -> None:
    async with client_for(app) as client:
        response = await client.request(method, path)
    assert_error(response, status)
    assert ("allow" in response.headers) is (status == 405)

"""Replies that clients send back, through the whole service: their tokens are those that were generated."""

from __future__ import annotations

import asyncio
import random
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest
from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import RawMessageStreamEvent
from pydantic import TypeAdapter

from pinfill_service.pins.content import raw_text
from tests.support.client import sse_events
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.managed import Managed, managed
from tests.support.models import llama_text
from tests.support.responses_events import check_events, named_events

ANSWER = "it is therefore so, as ever"


def spelled(text: str, seed: int = 0) -> list[int]:
    """Another way to write a text in tokens than the one it is encoded in."""
    chance, ids = random.Random(seed), list[int]()
    while text:
        count = chance.randint(1, 3)
        ids, text = ids + llama_text().tokenizer.encode(text[:count]), text[count:]
    return ids


REPLY = spelled(ANSWER)


def engine(reply: list[int] = REPLY) -> FakeEngine:
    return FakeEngine(Reply(reply))


def last_prompt(service: Managed) -> list[int]:
    return list(service.engine.requests[-1].prompt)


async def second_turn(service: Managed, question: str, answer: str = ANSWER, **body: Any) -> list[int]:
    said = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    response = await service.chat(messages=[*said, {"role": "user", "content": "more"}], **body)
    assert response.status_code == 200
    return last_prompt(service)


async def test_an_echo_goes_on_where_the_reply_ended(tmp_path: Path) -> None:
    assert llama_text().tokenizer.encode(ANSWER) != REPLY
    async with managed(tmp_path, engine()) as service:
        for stream in (False, True):
            question = f"what is it, streamed: {stream}?"
            answered = await service.chat(question, stream=stream)
            if stream:
                deltas = [event["choices"][0]["delta"] for event in sse_events(answered.text)[:-1]]
                assert "".join(delta.get("content") or "" for delta in deltas) == ANSWER
            else:
                assert answered.json()["choices"][0]["message"]["content"] == ANSWER
            first = last_prompt(service)
            again = await second_turn(service, question)
            assert again[: len(first) + len(REPLY)] == [*first, *REPLY]


CALLING = 'Let me look.\n<tool_call>\n{"name": "read", "arguments": {"path": "a b"}}\n</tool_call>\nThat is all.'


@pytest.mark.parametrize("stream", [False, True])
async def test_a_message_that_goes_on_behind_a_call_comes_back_as_it_was_written(tmp_path: Path, stream: bool) -> None:
    reply, tools = spelled(CALLING), [{"name": "read", "input_schema": {"type": "object"}}]
    async with managed(tmp_path, engine(reply)) as service:

        async def messages(*turns: dict[str, Any]) -> httpx.Response:
            body = {"messages": list(turns), "tools": tools, "max_tokens": 500, "stream": stream}
            return await service.http.post("/v1/messages", json=body)

        question = {"role": "user", "content": "what is in it?"}
        answered = await messages(question)
        content = put_together(answered.text) if stream else answered.json()["content"]
        assert [block["type"] for block in content] == ["text", "tool_use", "text"]
        first = last_prompt(service)
        results = [{"type": "tool_result", "tool_use_id": content[1]["id"], "content": "nothing"}]
        again = await messages(
            question, {"role": "assistant", "content": content}, {"role": "user", "content": results}
        )
        assert again.status_code == 200
        assert last_prompt(service)[: len(first) + len(reply)] == [*first, *reply]


@pytest.mark.parametrize("stream", [False, True])
async def test_items_that_go_on_behind_a_call_come_back_as_they_were_written(tmp_path: Path, stream: bool) -> None:
    reply, tools = spelled(CALLING), [{"type": "function", "name": "read", "parameters": {"type": "object"}}]
    async with managed(tmp_path, engine(reply)) as service:

        async def respond(*items: dict[str, Any]) -> httpx.Response:
            return await service.http.post(
                "/v1/responses", json={"input": list(items), "tools": tools, "stream": stream}
            )

        question = {"role": "user", "content": "what is in it?"}
        answered = await respond(question)
        items = check_events(named_events(answered.text))["output"] if stream else answered.json()["output"]
        assert [item["type"] for item in items] == ["message", "function_call", "message"]
        first = last_prompt(service)
        result = {"type": "function_call_output", "call_id": items[1]["call_id"], "output": "nothing"}
        assert (await respond(question, *items, result)).status_code == 200
        assert last_prompt(service)[: len(first) + len(reply)] == [*first, *reply]


async def test_a_pinned_text_that_came_from_the_cache_keeps_its_own_tokens(tmp_path: Path) -> None:
    """A reply is in the cache as it was generated, and so is the text that is pinned of it."""
    async with managed(tmp_path, engine()) as service:
        await asyncio.to_thread(service.application.pins.create, "odd", raw_text(ANSWER, REPLY))
        body = {"model": "fake-model@odd", "prompt": " and more"}
        echoed = await service.http.post("/v1/completions", json={**body, "echo": True, "logprobs": 1})
        assert echoed.status_code == 200 and echoed.json()["choices"][0]["text"].startswith(f"{ANSWER} and more")
        prompts = [last_prompt(service)]
        await service.http.post("/api/generate", json={**body, "raw": True, "stream": False})
        prompts.append(last_prompt(service))
        for prompt in prompts:
            assert prompt[: len(REPLY)] == REPLY
            assert llama_text().tokenizer.decode(prompt) == f"{ANSWER} and more"


def put_together(events: str) -> list[dict[str, Any]]:
    """The blocks that a stream of Anthropic's events tells of."""
    message: Any = None
    buffers: dict[int, bytes] = {}
    for event in map(TypeAdapter(RawMessageStreamEvent).validate_python, named_events(events)):
        message = accumulate_event(event=event, current_snapshot=message, json_bufs=buffers)
    return [block.model_dump(exclude_none=True) for block in message.content]


async def test_every_choice_is_known(tmp_path: Path) -> None:
    other = spelled("it is not", 1)
    scripts = cycle([Reply(REPLY), Reply(other)])
    async with managed(tmp_path, FakeEngine(lambda request: next(scripts)(request))) as service:
        await service.chat("which of two?", n=2)
        first = last_prompt(service)
        assert (await second_turn(service, "which of two?", "it is not"))[: len(first) + len(other)] == [*first, *other]
        assert (await second_turn(service, "which of two?"))[: len(first) + len(REPLY)] == [*first, *REPLY]


async def test_what_follows_a_stop_string_is_not_taken(tmp_path: Path) -> None:
    async with managed(tmp_path, engine()) as service:
        answered = await service.chat("stop it", stop=[" so"])
        said = answered.json()["choices"][0]["message"]["content"]
        assert said == "it is therefore"
        first, again = last_prompt(service), await second_turn(service, "stop it", said)
        text = llama_text().tokenizer.decode
        taken = next(count for count in range(len(REPLY), 0, -1) if again[len(first) :][:count] == REPLY[:count])
        assert said.startswith(text(REPLY[:taken])) and taken > 2


async def test_nothing_is_remembered_of_a_request_that_turned_the_cache_off(tmp_path: Path) -> None:
    async with managed(tmp_path, engine()) as service:
        await service.chat("keep nothing", cache_prompt=False)
        canonical = await second_turn(service, "keep nothing")
        await service.chat("keep nothing")
        with_tokens = await second_turn(service, "keep nothing")
        assert with_tokens != canonical
        # The cache off or on: one text is one prompt, so that a cold run can be compared with a warm one.
        assert await second_turn(service, "keep nothing", cache_prompt=False) == with_tokens


async def test_replies_of_another_salt_are_not_known(tmp_path: Path) -> None:
    async with managed(tmp_path, engine()) as service:
        canonical = await second_turn(service, "whose is it?")
        await service.chat("whose is it?", cache_salt="mine")
        assert await second_turn(service, "whose is it?", cache_salt="mine") != canonical
        assert await second_turn(service, "whose is it?") == canonical


async def test_a_pinned_conversation_keeps_its_own_tokens(tmp_path: Path) -> None:
    """Pins must be the same after a restart, when nothing is known of what was generated before."""
    async with managed(tmp_path, engine()) as service:
        await service.chat("pin this talk")
        said = [{"role": "user", "content": "pin this talk"}, {"role": "assistant", "content": ANSWER}]
        pin = await service.pin("talk", messages=said)
        pinned = next(ids for ids, count in service.engine.prefixes.pins.items() if count)
        assert (await second_turn(service, "pin this talk"))[: len(pinned)] != list(pinned)
        await service.chat("and now?", model=pin["use_as"])
        assert last_prompt(service)[: len(pinned)] == list(pinned)

"""The default model under grammars: what a small model writes is valid all the same, and nothing of it stays behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from pinfill_service.engine.events import Finished
from pinfill_service.engine.interface import GenerationRequest, Grammar, Sampling
from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.grammar import JsonReply, Tool, ToolCalls
from pinfill_service.prompt.text_model import TextModel, load_text_model
from tests.support.default_model import default_model
from tests.support.grammars import HERMES
from tests.support.real_engine import Client, Reply, engine

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12, "pattern": "^[A-Z][a-z]+$"},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 2},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
WEATHER = {
    "type": "object",
    "properties": {"city": {"enum": ["Paris", "Rome"]}, "days": {"type": "integer", "minimum": 1, "maximum": 14}},
    "required": ["city", "days"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def text() -> TextModel:
    return load_text_model(default_model())


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with engine() as running:
        yield running


def prompt(text: TextModel, question: str) -> list[int]:
    return text.chat_prompt(ChatRequest(({"role": "user", "content": question},))).ids


def send(client: Client, text: TextModel, question: str, grammar: Grammar | None, tokens: int, **how: Any) -> Reply:
    reply, sampling = Reply(), Sampling(logprobs=1, **how)
    ids = prompt(text, question)
    client.engine.submit(GenerationRequest(ids, tokens, sampling, text.stop_ids, grammar=grammar), reply)
    return reply


def finish_reason(reply: Reply) -> str:
    assert isinstance(reply.finished, Finished)
    return reply.finished.reason


@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_json_keeps_to_its_schema_at_any_temperature_in_many_rows(
    client: Client, text: TextModel, temperature: float
) -> None:
    grammar = text.grammars.compile(JsonReply(PERSON))
    replies = [
        send(client, text, f"Invent person number {seed}.", grammar, 120, temperature=temperature, seed=seed)
        for seed in range(4)
    ]
    for reply in replies:
        assert finish_reason(reply.wait()) == "stop"
        value = json.loads(text.tokenizer.decode(reply.tokens))
        jsonschema_rs.Draft202012Validator(PERSON).validate(value)


@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_a_required_call_is_made_with_valid_arguments(client: Client, text: TextModel, temperature: float) -> None:
    grammar = text.grammars.compile(ToolCalls((Tool("get_weather", WEATHER), Tool("get_time")), HERMES))
    question = "What is the weather in Paris tomorrow?"
    reply = send(client, text, question, grammar, 90, temperature=temperature, seed=5).wait()
    written = text.tokenizer.decode(reply.tokens)
    assert written.startswith('<tool_call>\n{"name": "get_')
    if finish_reason(reply) == "stop":
        call = json.loads(written.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>"))
        if call["name"] == "get_weather":
            jsonschema_rs.Draft202012Validator(WEATHER).validate(call["arguments"])
    else:
        assert len(reply.tokens) == 90


def test_a_free_request_is_the_same_bit_for_bit_after_a_constrained_one(client: Client, text: TextModel) -> None:
    before = send(client, text, "Count to five.", None, 12, temperature=0).wait()
    grammar = text.grammars.compile(JsonReply())
    constrained = send(client, text, "Count to five.", grammar, 12, temperature=0).wait()
    beside = [send(client, text, "Count to five.", held, 12, temperature=0) for held in (None, grammar)]
    after = send(client, text, "Count to five.", None, 12, temperature=0).wait()
    assert text.tokenizer.decode(constrained.tokens).startswith("{")
    assert before.scores == after.scores == beside[0].wait().scores
    assert beside[1].wait().tokens == constrained.tokens


def test_reported_log_probabilities_are_the_models_own(client: Client, text: TextModel) -> None:
    free = send(client, text, "Say hello.", None, 1, temperature=0).wait()
    held = send(client, text, "Say hello.", text.grammars.compile(JsonReply()), 1, temperature=0).wait()
    assert held.scores[0].top == free.scores[0].top
    assert held.scores[0].logprob < free.scores[0].logprob

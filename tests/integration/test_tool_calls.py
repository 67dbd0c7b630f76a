"""The real default model, which was never trained on tools: forced calls and JSON answers hold all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from pinfill_service.commands.local_service import local_service
from tests.support.default_model import default_model

CITY = {"type": "string", "maxLength": 12}
WEATHER = {
    "type": "object",
    "properties": {"city": CITY, "days": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "Tells the weather.", "parameters": WEATHER}},
    {"type": "function", "function": {"name": "stop", "parameters": {"type": "object", "additionalProperties": False}}},
]
MESSAGES = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "How will the weather be in Oslo on the next three days?"},
]


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    with local_service(model=str(default_model()), slots=2, memory_budget_mib=256) as running:
        assert running.key is not None
        with openai.OpenAI(base_url=f"{running.url}/v1", api_key=running.key, max_retries=0) as made:
            yield made


def ask(client: openai.OpenAI, messages: list[Any], **options: Any) -> Any:
    body = {"model": "smollm2-135m", "tools": TOOLS, "temperature": 0, "max_tokens": 64}
    return client.chat.completions.create(messages=messages, **(body | options))


@pytest.mark.parametrize("temperature", [0, 1.5])
def test_a_forced_call_fits_its_schema_and_its_result_is_only_new_tokens(
    client: openai.OpenAI, temperature: float
) -> None:
    choice: Any = {"type": "function", "function": {"name": "weather"}}
    first = ask(client, MESSAGES, tool_choice=choice, temperature=temperature, seed=7)
    assert first.choices[0].finish_reason == "tool_calls"
    (call,) = first.choices[0].message.tool_calls
    arguments = json.loads(call.function.arguments)
    assert call.function.name == "weather" and set(arguments) == {"city", "days"}
    assert len(arguments["city"]) <= 12 and arguments["days"] in range(1, 10)
    result = {"role": "tool", "tool_call_id": call.id, "content": "Rain."}
    second = ask(client, [*MESSAGES, first.choices[0].message.model_dump(exclude_none=True), result], max_tokens=4)
    details = second.usage.prompt_tokens_details
    assert details.cached_tokens >= first.usage.prompt_tokens - 1


def test_required_calls_stream_as_valid_json(client: openai.OpenAI) -> None:
    chunks = list(ask(client, MESSAGES, tool_choice="required", parallel_tool_calls=False, stream=True))
    calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert calls[0].function.name in ("weather", "stop") and {call.index for call in calls} == {0}
    assert isinstance(json.loads("".join(call.function.arguments for call in calls)), dict)
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_json_answers(client: openai.OpenAI) -> None:
    format: Any = {"type": "json_schema", "json_schema": {"name": "weather", "schema": WEATHER, "strict": True}}
    answer = ask(client, MESSAGES, tools=openai.omit, response_format=format)
    assert set(json.loads(answer.choices[0].message.content)) == {"city", "days"}
    assert answer.choices[0].finish_reason == "stop"

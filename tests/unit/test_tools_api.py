"""Tools, forced calls, JSON answers and reasoning over /v1/chat/completions, with the official client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import openai
import pytest
from tokenizers import Tokenizer

from pinfill_service.prompt.template import compile_template
from pinfill_service.prompt.text_model import TextModel
from pinfill_service.prompt.tokenizer import TextTokenizer
from tests.support.chat_templates import MISTRAL_NAMED, THINKING
from tests.support.client import KEY
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.models import LLAMA, llama_text
from tests.support.server import serving

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
READ = {"type": "function", "function": {"name": "read", "description": "Reads a file.", "parameters": SCHEMA}}
STOP = {"type": "function", "function": {"name": "stop"}}
TOOLS = [READ, STOP]
USER = [{"role": "user", "content": "What is in a.txt?"}]
CALLS = (
    'Let me look.\n<tool_call>\n{"name": "read", "arguments": {"path": "a b"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call>'
)


def reply(text: str, model: TextModel | None = None) -> Reply:
    return Reply((model or llama_text()).tokenizer.encode(text), cached=2)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(reply(CALLS), context_length=4096)


@pytest.fixture
def client(engine: FakeEngine) -> Iterator[openai.OpenAI]:
    with serving(engine) as url, openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        yield client


def ask(client: openai.OpenAI, **options: Any) -> Any:
    return client.chat.completions.create(**{"model": "any", "messages": USER, "tools": TOOLS} | options)


def prompt_text(engine: FakeEngine) -> str:
    return llama_text().tokenizer.decode(engine.requests[-1].prompt)


def test_calls(client: openai.OpenAI, engine: FakeEngine) -> None:
    choice = ask(client).choices[0]
    assert choice.finish_reason == "tool_calls" and choice.message.content == "Let me look."
    first, second = choice.message.tool_calls
    assert (first.type, first.function.name, json.loads(first.function.arguments)) == (
        "function",
        "read",
        {"path": "a b"},
    )
    assert (second.function.name, second.function.arguments) == ("stop", "{}") and first.id != second.id
    assert first.id.startswith("call_") and engine.requests[-1].grammar is None


def test_calls_in_a_stream(client: openai.OpenAI) -> None:
    chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == "Let me look."
    calls = [call for delta in deltas for call in delta.tool_calls or []]
    begun = [call for call in calls if call.id is not None]
    assert [(call.index, call.type, call.function.name, call.function.arguments) for call in begun] == [
        (0, "function", "read", ""),
        (1, "function", "stop", ""),
    ]
    pieces = [call.function.arguments for call in calls if call.index == 0]
    assert json.loads("".join(pieces)) == {"path": "a b"} and len(pieces) > 3
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "tool_calls"
    assert chunks[-1].usage.prompt_tokens_details.cached_tokens == 2
    with client.chat.completions.stream(model="any", messages=USER, tools=TOOLS) as stream:
        message = stream.get_final_completion().choices[0].message
    assert [call.function.name for call in message.tool_calls or ()] == ["read", "stop"]


def test_what_was_called_comes_back(client: openai.OpenAI, engine: FakeEngine) -> None:
    message = ask(client).choices[0].message
    first, second = message.tool_calls
    compact = [{**call.model_dump(), "function": {"name": call.function.name, "arguments": text}}
               for call, text in ((first, '{"path":"a b"}'), (second, "{}"))]  # fmt: skip
    results = [{"role": "tool", "tool_call_id": call.id, "content": "nothing"} for call in (first, second)]
    prompts = []
    for echoed in (message.model_dump(), {"role": "assistant", "content": message.content, "tool_calls": compact}):
        ask(client, messages=[*USER, echoed, *results])
        prompts.append(prompt_text(engine))
    assert prompts[0] == prompts[1] and f"<|im_start|>assistant\n{CALLS}<|im_end|>" in prompts[0]
    assert prompts[0].count("<tool_response>\nnothing\n</tool_response>") == 2


def test_no_calls_without_leave(client: openai.OpenAI, engine: FakeEngine) -> None:
    auto = ask(client)
    none = ask(client, tool_choice="none")
    assert auto.choices[0].message.tool_calls
    assert none.choices[0].message.tool_calls is None and none.choices[0].message.content == CALLS
    assert none.choices[0].finish_reason == "stop"
    assert engine.requests[0].prompt == engine.requests[1].prompt  # the tools stay where they are, for the cache
    assert ask(client, tools=openai.omit).choices[0].message.content == CALLS
    single = ask(client, parallel_tool_calls=False).choices[0].message
    assert [call.function.name for call in single.tool_calls] == ["read"]


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "read"}}])
def test_forced_calls_come_with_a_grammar(client: openai.OpenAI, engine: FakeEngine, choice: Any) -> None:
    ask(client)
    forced = ask(client, tool_choice=choice)
    assert forced.choices[0].finish_reason == "tool_calls"
    called = [call.function.name for call in forced.choices[0].message.tool_calls]
    assert called == (["read", "stop"] if choice == "required" else ["read"])
    assert engine.requests[1].grammar is not None and engine.requests[0].prompt == engine.requests[1].prompt


@pytest.mark.parametrize(
    "format",
    [{"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": True}}],
)
def test_json_answers_are_words(client: openai.OpenAI, engine: FakeEngine, format: Any) -> None:
    text = '{"name": "stop", "arguments": {}}'
    engine.script = reply(text)
    for tools in (TOOLS, openai.omit):
        message = ask(client, response_format=format, tools=tools).choices[0].message
        assert (message.content, message.tool_calls) == (text, None)
        assert engine.requests[-1].grammar is not None
    ask(client, response_format={"type": "text"})
    assert engine.requests[-1].grammar is None


def test_unfinished_calls_end_with_the_length(client: openai.OpenAI, engine: FakeEngine) -> None:
    start = len(llama_text().tokenizer.encode(CALLS.partition(' b"')[0]))
    choice = ask(client, max_tokens=start).choices[0]
    assert choice.finish_reason == "length" and choice.message.tool_calls[0].function.arguments == '{"path": "a'


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_allowed_tools_leave_the_prompt_as_it_is(client: openai.OpenAI, engine: FakeEngine, mode: str) -> None:
    """That is what they are for: another choice, the same cached list."""
    everything = ask(client).choices[0].message
    wanted = {"mode": mode, "tools": [{"type": "function", "function": {"name": "read"}}]}
    some = ask(client, tool_choice={"type": "allowed_tools", "allowed_tools": wanted}).choices[0].message
    assert [call.function.name for call in everything.tool_calls or ()] == ["read", "stop"]
    assert [call.function.name for call in some.tool_calls or ()] == ["read"]
    assert (engine.requests[1].grammar is not None) == (mode == "required")
    assert engine.requests[0].prompt == engine.requests[1].prompt


NAMED: dict[str, Any] = {"type": "function", "function": {"name": "write"}}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"tool_choice": NAMED}, "tool_choice"),
    ({"tool_choice": "required", "tools": []}, "tool_choice"),
    ({"tool_choice": "sometimes"}, "tool_choice"),
    ({"tool_choice": {"type": "allowed_tools"}}, "tool_choice"),
    ({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "none", "tools": []}}}, "tool_choice"),
    ({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}}}, "tool_choice"),
    ({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}}}, "tool_choice"),
    ({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [5]}}}, "tool_choice"),
    ({"tool_choice": {"type": "function"}}, "tool_choice"),
    ({"tools": [READ, READ]}, "tools.1.function.name"),
    ({"tools": [{"type": "function", "function": {"name": ""}}]}, "tools.0.function.name"),
    ({"tools": [{"type": "function", "function": {"name": 'a">'}}]}, "tools.0.function.name"),
    ({"tools": [{"type": "function", "function": {"name": 5}}]}, "tools.0.function.name"),
    ({"tools": [{"type": "function"}]}, "tools.0.function"),
    ({"tools": [{"type": "function", "function": {"name": "a", "parameters": [1]}}]}, "tools.0.function.parameters"),
    ({"tools": "read"}, "tools"),
    ({"response_format": {"type": "xml"}}, "response_format"),
    ({"response_format": {"type": "json_schema"}}, "response_format"),
    ({"response_format": "json"}, "response_format"),
    ({"messages": [*USER, {"role": "tool", "content": "x", "tool_call_id": "lost"}]}, "messages.1.tool_call_id"),
    ({"messages": [*USER, {"role": "assistant", "tool_calls": [{"id": "1"}]}]}, "messages.1.tool_calls.0.function"),
    (
        {"messages": [*USER, {"role": "assistant", "tool_calls": [{"function": {"name": ""}}]}]},
        "messages.1.tool_calls.0.function.name",
    ),
]


def test_nonsense_is_a_bad_request(client: openai.OpenAI, engine: FakeEngine) -> None:
    for body, param in BAD:
        with pytest.raises(openai.BadRequestError) as refused:
            ask(client, **body)
        assert refused.value.param == param and refused.value.code == "invalid_value", body
    assert not engine.requests


def test_schemas_that_cannot_be_held_to_say_where(client: openai.OpenAI, engine: FakeEngine) -> None:
    schema = {"type": "object", "properties": {"a": {"not": {}}}}
    tool = {"type": "function", "function": {"name": "read", "parameters": schema}}
    with pytest.raises(openai.BadRequestError, match=r'tool "read".*/properties/a/not'):
        ask(client, tools=[tool], tool_choice="required")
    with pytest.raises(openai.BadRequestError, match="/properties/a/not") as refused:
        ask(client, response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": schema}})
    assert refused.value.code == "unsupported_schema" and not engine.requests
    assert ask(client, tools=[tool]).choices  # nothing has to be held to


def test_server_side_tools_are_left_out(client: openai.OpenAI, engine: FakeEngine) -> None:
    ask(client, tools=[{"type": "web_search"}, READ])
    assert "web_search" not in prompt_text(engine) and '"name": "read"' in prompt_text(engine)


def test_a_mark_for_the_cache_on_a_tool_is_no_part_of_the_prompt(client: openai.OpenAI, engine: FakeEngine) -> None:
    """It moves to another tool when one is added: the prompt before that must not change."""
    mark = {"cache_control": {"type": "ephemeral"}}
    within = {**STOP, "function": {**STOP["function"], **mark}}
    for tools in (TOOLS, [{**READ, **mark}, STOP], [READ, {**STOP, **mark}], [READ, within]):
        ask(client, tools=tools)
    assert len({tuple(request.prompt) for request in engine.requests}) == 1


def test_reasoning(engine: FakeEngine) -> None:
    thinking = replace(llama_text(), template=compile_template(THINKING, {}))
    engine.script = reply("I know it.\n</think>\n\nNothing.")
    with serving(engine, thinking) as url, openai.OpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        message = ask(client).choices[0].message
        assert (message.content, message.model_extra["reasoning_content"]) == ("Nothing.", "I know it.")
        deltas = [chunk.choices[0].delta for chunk in ask(client, stream=True)]
        assert "".join(d.model_extra.get("reasoning_content", "") for d in deltas) == "I know it."
        assert "".join(delta.content or "" for delta in deltas) == "Nothing."
        engine.script = reply('{"path": "a"}')
        format = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
        answer = ask(client, tools=openai.omit, response_format=format)
        assert answer.choices[0].message.content == '{"path": "a"}'
        assert prompt_text(engine).endswith("<think>\n\n</think>\n\n")


def with_special_tokens(*contents: str) -> TextModel:
    tokenizer = Tokenizer.from_file(str(LLAMA / "tokenizer.json"))
    tokenizer.add_special_tokens(list(contents))
    template = compile_template(MISTRAL_NAMED, {"bos_token": "", "eos_token": ""})
    return TextModel(TextTokenizer(tokenizer, {}, None), template, frozenset())


def test_special_tokens_are_text_only_where_they_mark_a_call(engine: FakeEngine) -> None:
    model = with_special_tokens("[TOOL_CALLS]", "[ARGS]", "[SECRET]")
    text = '[SECRET]Yes.[TOOL_CALLS]read[ARGS]{"path": "[SECRET]a"}'
    engine.script = reply(text, model)
    assert len(engine.script.tokens) < len(llama_text().tokenizer.encode(text))
    with serving(engine, model) as url, openai.OpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        message = ask(client).choices[0].message
        assert message.content == "Yes." and message.tool_calls[0].function.arguments == '{"path": "a"}'
        assert ask(client, tools=openai.omit).choices[0].message.content == 'Yes.read{"path": "a"}'
        assert (
            client.completions.create(model="any", prompt="x", max_tokens=99).choices[0].text == 'Yes.read{"path": "a"}'
        )

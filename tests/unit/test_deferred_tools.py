"""Tools that are loaded in the middle of a conversation: they stand where they are loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.segments import Segment
from pinfill_service.prompt.stable.deferred import as_rendered
from pinfill_service.prompt.template import TemplateError, compile_template
from pinfill_service.prompt.text_model import TextModel
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.managed import managed
from tests.support.models import llama_text

TEMPLATE = (
    "{% for tool in tools or [] %}{{ tool | tojson }}\n{% endfor %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
ASKED = ({"role": "user", "content": "look it up"},)
SEARCHED = (*ASKED, {"role": "assistant", "content": "I search."})


def tool(name: str, **flags: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}, **flags}


def text_of(request: ChatRequest) -> str:
    text = llama_text()
    template = compile_template(TEMPLATE, {})
    return TextModel(text.tokenizer, template, text.stop_ids).chat_prompt(request).text


def test_a_tool_that_is_loaded_later_leaves_the_prompt_before_it_as_it_was() -> None:
    listed = (tool("bash"), tool("search"))
    before = text_of(ChatRequest(SEARCHED, listed))
    found = {"role": "tool", "content": "", "tool_references": ["fetch"]}
    tools = (tool("bash"), tool("fetch", defer_loading=True), tool("search"))
    after = text_of(ChatRequest((*SEARCHED, found), tools))
    assert after.startswith(before.removesuffix("<|im_start|>assistant\n"))
    assert after.count('"fetch"') == 1 and "defer_loading" not in after and "tool_references" not in after
    definition = next(line for line in after.split("\n") if '"fetch"' in line)
    assert json.loads(definition) == tool("fetch")


def test_an_ordinary_tool_in_the_same_place_changes_it() -> None:
    before = text_of(ChatRequest(SEARCHED, (tool("bash"), tool("search"))))
    after = text_of(ChatRequest(SEARCHED, (tool("bash"), tool("fetch"), tool("search"))))
    assert not after.startswith(before.removesuffix("<|im_start|>assistant\n"))


def test_a_deferred_tool_that_nothing_refers_to_is_not_in_the_prompt() -> None:
    tools = (tool("bash"), tool("placeholder", defer_loading=True))
    assert text_of(ChatRequest(ASKED, tools)) == text_of(ChatRequest(ASKED, (tool("bash"),)))


def test_text_beside_references_stays_and_names_without_a_tool_are_told() -> None:
    message = {
        "role": "tool",
        "content": "found two",
        "tool_references": ["fetch", "gone", ["odd"]],
        "tool_call_id": "1",
    }
    messages, listed = as_rendered((message,), (tool("fetch", defer_loading=True),))
    assert listed == ()
    content = messages[0]["content"]
    assert content.startswith("found two\n\nThese tools can be called now:\n<tools>\n{")
    assert content.endswith("}\ngone\n['odd']\n</tools>")
    assert messages[0] == {"role": "tool", "content": content, "tool_call_id": "1"}


def test_a_request_without_deferred_tools_is_rendered_as_it_is() -> None:
    tools = (tool("bash", defer_loading=False), tool("search"))
    assert as_rendered(SEARCHED, tools) == (SEARCHED, tools)


def test_segments_are_labelled_behind_a_reference() -> None:
    found = {"role": "tool", "content": "", "tool_references": ["fetch"]}
    text = llama_text()
    model = TextModel(text.tokenizer, compile_template(TEMPLATE, {}), text.stop_ids)
    prompt = model.chat_prompt(ChatRequest((*SEARCHED, found), (tool("fetch", defer_loading=True),)))
    labels = [segment.label for segment in prompt.segments]
    assert isinstance(prompt.segments[0], Segment) and "message 3 (tool)" in labels


def test_a_definition_that_is_nested_without_end_is_refused_in_one_sentence() -> None:
    nested: dict[str, Any] = {}
    for _ in range(5000):
        nested = {"properties": nested}
    found = {"role": "tool", "content": "", "tool_references": ["deep"]}
    deep = {"type": "function", "function": {"name": "deep", "parameters": nested}, "defer_loading": True}
    with pytest.raises(TemplateError, match="nested"):
        text_of(ChatRequest((*SEARCHED, found), (deep,)))


async def test_a_deferred_tool_can_be_called(tmp_path: Path) -> None:
    call = '<tool_call>\n{"name": "fetch", "arguments": {"url": "x"}}\n</tool_call>'
    schema = {"type": "object", "properties": {"url": {"type": "string"}}}
    search = {"type": "tool_use", "id": "t1", "name": "search", "input": {}}
    found = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "tool_reference", "tool_name": "fetch"}]}
    body = {
        "max_tokens": 200,
        "tools": [
            {"name": "search", "input_schema": {"type": "object"}},
            {"name": "fetch", "input_schema": schema, "defer_loading": True},
        ],
        "messages": [
            {"role": "user", "content": "look it up"},
            {"role": "assistant", "content": [search]},
            {"role": "user", "content": [found]},
        ],
    }
    engine = FakeEngine(Reply(llama_text().tokenizer.encode(call)), context_length=4096)
    async with managed(tmp_path, engine) as service:
        answer = await service.http.post("/v1/messages", json=body)
    (block,) = answer.json()["content"]
    assert (block["type"], block["name"], block["input"]) == ("tool_use", "fetch", {"url": "x"})
    text = llama_text().tokenizer.decode(engine.requests[0].prompt)
    assert text.count('"fetch"') == 1 and text.index('"fetch"') > text.index("look it up")

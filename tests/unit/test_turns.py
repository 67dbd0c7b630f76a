"""Conversations for templates that refuse some turns: no request fails for it, nothing is lost, prompts only grow."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from pinfill_service.pins.content import pinned_prefix, put_in_front, system_text
from pinfill_service.prompt.chat import ChatRequest, normalise
from pinfill_service.prompt.template import compile_template
from pinfill_service.prompt.text_model import TextModel
from pinfill_service.prompt.tools.formats import tool_format
from tests.support.chat_templates import TEMPLATES
from tests.support.models import llama_text

# The system prompt becomes a part of the first user's turn, turns alternate, and there are no others.
HOISTING = """{{ bos_token }}
{%- set ns = namespace(first='') %}
{%- if messages[0].role == 'system' %}{% set ns.first = messages[0].content + '\n\n' %}{% set messages = messages[1:] %}
{%- endif %}
{%- for m in messages %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif -%}
<start_of_turn>{{ 'model' if m.role == 'assistant' else 'user' }}
{{ (ns.first if loop.first else '') + m.content | trim }}<end_of_turn>
{% endfor %}
{%- if add_generation_prompt %}<start_of_turn>model
{% endif %}"""
ALL = {**TEMPLATES, "hoisting": HOISTING}
REFUSING = ("mistral", "strict", "hoisting")
READ = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}


def text_model(name: str) -> TextModel:
    return replace(llama_text(), template=compile_template(ALL[name], {"bos_token": "<s>", "eos_token": "</s>"}))


def said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


SYSTEM, ASKED, ANSWERED = said("system", "BE BRIEF"), said("user", "FIRST"), said("assistant", "ONE")
LATE, MORE, AGAIN = said("system", "NOW IT RAINS"), said("user", "SECOND"), said("user", "THIRD")
TALKS = {
    "a system prompt": [SYSTEM, ASKED],
    "a late one before the question": [SYSTEM, ASKED, ANSWERED, LATE, MORE],
    "a late one behind the question": [ASKED, ANSWERED, MORE, LATE],
    "two late ones": [ASKED, ANSWERED, LATE, said("system", "NO MORE"), MORE],
    "a late one and nothing else": [ASKED, ANSWERED, LATE],
    "two questions in a row": [SYSTEM, ASKED, MORE],
    "two answers in a row": [ASKED, ANSWERED, said("assistant", "TWO"), MORE],
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("tools", [(), (READ,)], ids=["", "tools"])
@pytest.mark.parametrize("talk", TALKS)
def test_nothing_is_refused_and_nothing_is_lost(name: str, tools: tuple[Any, ...], talk: str) -> None:
    text = text_model(name).chat_prompt(ChatRequest(normalise(TALKS[talk]), tools=tools)).text
    places = [text.index(message["content"]) for message in TALKS[talk]]
    assert places == sorted(places)


@pytest.mark.parametrize("name", REFUSING)
def test_what_the_template_takes_is_found_out(name: str) -> None:
    found = tool_format(text_model(name).template)
    assert found.system_messages == (name == "hoisting") and not found.late_system
    assert found.repeats == (name == "mistral")


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name not in REFUSING])
def test_other_templates_get_every_message_as_a_turn(name: str) -> None:
    model, talk = text_model(name), [SYSTEM, ASKED, MORE, ANSWERED, LATE, AGAIN]
    assert model.chat_prompt(ChatRequest(tuple(talk))).text == model.template.render(talk)


def test_a_system_message_stands_in_the_turn_of_the_next_question() -> None:
    text = text_model("strict").chat_prompt(ChatRequest((SYSTEM, ASKED, ANSWERED, LATE, MORE))).text
    assert text == (
        "<s><start_of_turn>user\nBE BRIEF\n\nFIRST<end_of_turn>\n<start_of_turn>model\nONE<end_of_turn>\n"
        "<start_of_turn>user\nNOW IT RAINS\n\nSECOND<end_of_turn>\n<start_of_turn>model\n"
    )


@pytest.mark.parametrize("name", ALL)
def test_a_conversation_only_grows(name: str) -> None:
    model = text_model(name)
    talk = [SYSTEM, ASKED, ANSWERED, LATE, MORE, said("assistant", "TWO"), AGAIN, said("system", "NO MORE")]
    talk += [said("assistant", "THREE"), said("user", "FOURTH")]
    prompts = [model.chat_prompt(ChatRequest(tuple(talk[:length]))).text for length in (2, 5, 8, 10)]
    for earlier, later in pairwise(prompts):
        assert later.startswith(earlier.removesuffix("<think>\n"))


@pytest.mark.parametrize("name", ALL)
def test_a_text_can_be_pinned_on_every_model(name: str) -> None:
    model, content = text_model(name), system_text("GRADE THE ANSWER FROM 1 TO 5")
    prefix = pinned_prefix(content, model)
    assert "FROM 1 TO 5" in prefix.text
    for own in ((ASKED,), (ASKED, ANSWERED, LATE, MORE)):
        prompt = model.chat_prompt(put_in_front(content, ChatRequest(own)))
        assert prompt.ids[: len(prefix.token_ids)] == prefix.token_ids

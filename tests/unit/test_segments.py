"""Every token of a chat prompt belongs to one labelled stretch, and labelling never fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfill_service.prompt.chat import ChatRequest, normalise
from pinfill_service.prompt.template import compile_template
from pinfill_service.prompt.text_model import TextModel
from tests.support.models import llama_text

# Turns as other families write them, with this vocabulary's special tokens.
HEADED = (  # Llama 3: a header between two special tokens
    "{% for m in messages %}<|im_start|>{{ m.role }}<|endoftext|>\n\n{{ m.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant<|endoftext|>\n\n{% endif %}"
)
DEFAULT_SYSTEM = (
    "{% if messages[0].role != 'system' %}<|im_start|>system\nBe kind.<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)


def segments(model: TextModel, *messages: tuple[str, str], **options: Any) -> dict[str, str]:
    chat = ChatRequest(tuple({"role": role, "content": content} for role, content in messages), **options)
    prompt = model.chat_prompt(chat)
    assert [s.start_token for s in prompt.segments[1:]] == [s.end_token for s in prompt.segments[:-1]]
    assert prompt.segments[0].start_token == 0 and prompt.segments[-1].end_token == len(prompt.ids)
    return {s.label: model.tokenizer.decode(prompt.ids[s.start_token : s.end_token]) for s in prompt.segments}


def with_template(source: str) -> TextModel:
    return replace(llama_text(), template=compile_template(source, {}))


def test_a_conversation() -> None:
    found = segments(llama_text(), ("system", "Rate."), ("user", "hello"), ("assistant", "good"), ("user", "assistant"))
    assert found == {
        "system": "<|im_start|>system\nRate.<|im_end|>\n",
        "message 2 (user)": "<|im_start|>user\nhello<|im_end|>\n",
        "message 3 (assistant)": "<|im_start|>assistant\ngood<|im_end|>\n",
        "message 4 (user)": "<|im_start|>user\nassistant<|im_end|>\n",
        "generation prompt": "<|im_start|>assistant\n",
    }


def test_headers_of_their_own() -> None:
    model = replace(with_template(HEADED), stop_ids=frozenset({2}))
    found = segments(model, ("system", "s"), ("user", "user"))
    assert found == {
        "system": "<|im_start|>system<|endoftext|>\n\ns<|im_end|>",
        "message 2 (user)": "<|im_start|>user<|endoftext|>\n\nuser<|im_end|>",
        "generation prompt": "<|im_start|>assistant<|endoftext|>\n\n",
    }


def test_the_template_s_own_system_prompt() -> None:
    found = segments(with_template(DEFAULT_SYSTEM), ("user", "hello"))
    assert found["system"] == "<|im_start|>system\nBe kind.<|im_end|>\n"
    assert found["message 1 (user)"] == "<|im_start|>user\nhello<|im_end|>\n"


def test_continued_message_is_the_last_segment() -> None:
    found = segments(llama_text(), ("user", "hello"), ("assistant", "yes"), continue_final_message=True)
    assert list(found) == ["message 1 (user)", "message 2 (assistant)"]


def test_prompt_without_boundaries_is_one_segment() -> None:
    assert list(segments(with_template("nothing to find"), ("user", "hello"))) == ["prompt"]


def test_empty_prompt_has_no_segments() -> None:
    prompt = with_template("").chat_prompt(ChatRequest(({"role": "user", "content": "x"},)))
    assert prompt.ids == [] and prompt.segments == ()


CONTENT = st.one_of(
    st.text(max_size=8), st.sampled_from(["", "user", "<|im_end|>", "\n<|im_start|>user\n", "assistant"])
)


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant", "tool"]), CONTENT), min_size=1, max_size=6))
def test_segments_cover_every_token_whatever_is_said(messages: list[tuple[str, str]]) -> None:
    for model in (llama_text(), with_template(HEADED), with_template(DEFAULT_SYSTEM)):
        segments(model, *messages)


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("developer user", "system:0 user:1"),
        ("system system user", "system:0+1 user:2"),
        ("user system assistant system user", "system:1 user:0 assistant:2 system:3 user:4"),
        ("user assistant system", "user:0 assistant:1 system:2"),
        ("user", "user:0"),
    ],
)
def test_system_messages_before_the_first_answer_are_one(roles: str, expected: str) -> None:
    messages = [{"role": role, "content": str(at)} for at, role in enumerate(roles.split())]
    found = " ".join(f"{m['role']}:{m['content']}".replace("\n\n", "+") for m in normalise(messages))
    assert found == expected

"""Tokens of generated replies in later prompts: the text never changes, the cached prefix goes on."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.prompt.decoding import Vocabulary
from pinfill_service.prompt.stable.replies import ReplyMemory
from pinfill_service.prompt.text_model import load_text_model
from pinfill_service.prompt.tokenizer import Encoded, TextTokenizer
from tests.support.default_model import default_model
from tests.support.models import llama_text

words = st.text(max_size=12) | st.sampled_from(
    ["therefore", " the", "  ", "\n", "\n\n", "é", "日本", "🦆", "<|im_end|>", '{"a": 1}', ".\n\n", "123456"]
)
texts = st.lists(words, max_size=6).map("".join)


@cache
def tokenizer(name: str) -> TextTokenizer:
    return llama_text().tokenizer if name == "small" else load_text_model(default_model()).tokenizer


def encode(text: str, name: str = "small") -> Encoded:
    return tokenizer(name).encode_prompt_pieces(text)


def spelled(text: str, seed: int, name: str = "small") -> list[int]:
    """The text in tokens as a model may write them: cut anywhere, each part encoded by itself."""
    chance = random.Random(seed)
    ids: list[int] = []
    while text:
        count = chance.randint(1, 4)
        ids += tokenizer(name).encode(text[:count])
        text = text[count:]
    return ids


def turn(*contents: str) -> str:
    """A conversation as a template writes it, up to the next reply."""
    roles = ("user", "assistant")
    said = (f"<|im_start|>{roles[at % 2]}\n{text}<|im_end|>\n" for at, text in enumerate(contents))
    return "".join(said) + "<|im_start|>assistant\n"


class Memory:
    """A memory with one tokenizer, which checks what every answer must keep."""

    def __init__(self, name: str = "small", **limits: int) -> None:
        self.memory, self.name = ReplyMemory(**limits), name
        self.vocabulary: Vocabulary = tokenizer(name).vocabulary

    def add(self, prompt: list[int], reply: list[int], salt: str = "") -> None:
        self.memory.add(self.vocabulary, salt, prompt, reply)

    def prompt(self, text: str, salt: str = "") -> list[int]:
        canonical = encode(text, self.name)
        found = self.memory.spliced(self.vocabulary, salt, canonical)
        decode = self.vocabulary.decode
        assert decode(found.ids) == decode(canonical.ids)
        own = {piece.character: piece.token for piece in canonical.pieces}
        assert [piece.character for piece in found.pieces] == sorted({piece.character for piece in found.pieces})
        assert found.pieces[:1] == canonical.pieces[:1]
        for piece in found.pieces:
            assert decode(found.ids[: piece.token]) == decode(canonical.ids[: own[piece.character]])
        return found.ids


@settings(deadline=None)
@given(st.sampled_from(["small", "real"]), texts, texts, texts, st.integers(0, 9))
def test_an_echoed_reply_has_the_tokens_it_was_generated_as(
    name: str, question: str, answer: str, more: str, seed: int
) -> None:
    memory = Memory(name)
    prompt, reply = memory.prompt(turn(question)), spelled(answer, seed, name)
    memory.add(prompt, reply)
    found = memory.prompt(turn(question, answer, more))
    same_text = memory.vocabulary.decode(encode(turn(question, answer), name).ids).startswith(
        memory.vocabulary.decode([*prompt, *reply])
    )
    if same_text:  # not where the tokenizer changes a text, or replaces what is none
        assert found[: len(prompt) + len(reply)] == [*prompt, *reply]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(texts, texts, texts, st.integers(0, 3), st.booleans()), min_size=1, max_size=6),
    st.sampled_from(["small", "real"]),
)
def test_whatever_was_said_before_the_text_stays(turns: list[tuple[str, str, str, int, bool]], name: str) -> None:
    """Conversations go on, are edited, cut short and started over; replies come back changed or not at all."""
    memory = Memory(name)
    said: list[str] = []
    for question, answer, echoed, back, faithful in turns:
        said = said[: len(said) - 2 * back] if back else said
        prompt = memory.prompt(turn(*said, question))
        memory.add(prompt, spelled(answer, back, name))
        said += [question, answer if faithful else echoed]
    memory.prompt(turn(*said, "end"))


def test_a_conversation_that_goes_on_keeps_all_its_tokens() -> None:
    memory = Memory()
    said: list[str] = []
    before: list[int] = []
    for number in range(6):
        prompt = memory.prompt(turn(*said, f"question {number}"))
        assert prompt[: len(before)] == before
        answer = f"therefore it is {number}, as expected"
        reply = spelled(answer, number)
        assert reply != encode(answer).ids
        memory.add(prompt, reply)
        said += [f"question {number}", answer]
        before = [*prompt, *reply]
    only_one = len(memory.memory._conversations)
    assert only_one == 1, "what a conversation continues is a part of it"
    edited = memory.prompt(turn(*said[:2], "something else"))
    assert edited != encode(turn(*said[:2], "something else")).ids, "an earlier reply in it is still known"


@pytest.mark.parametrize("end", ["", " ", "\n", " \n\n", "."])
def test_white_space_that_an_echo_lost_costs_only_itself(end: str) -> None:
    memory = Memory("real")
    prompt = memory.prompt(turn("hi"))
    reply = [*spelled("therefore it is so", 3, "real"), *tokenizer("real").encode(end)]
    memory.add(prompt, reply)
    found = memory.prompt(turn("hi", "therefore it is so", "more"))
    kept = len(prompt) + len(spelled("therefore it is so", 3, "real"))
    assert found[:kept] == [*prompt, *reply][:kept]


def test_a_token_that_goes_beyond_the_echo_is_not_taken() -> None:
    """ "so." as one token, the echo without the full stop: the tokens before it are taken, "so" is the prompt's own."""
    real = tokenizer("real")
    line_end = real.token_id(".ĊĊ") or real.token_id("ĊĊ")
    assert line_end is not None
    memory = Memory("real")
    prompt = memory.prompt(turn("hi"))
    reply = [*spelled("therefore", 2, "real"), line_end]
    memory.add(prompt, reply)
    found = memory.prompt(turn("hi", "therefore\n", "more"))
    assert found[: len(prompt) + len(reply) - 1] == [*prompt, *reply[:-1]]


@pytest.mark.parametrize("echo", ["theory", "thermal", "th", "there", "therefor", "therefores", "therefore."])
def test_an_edited_reply_is_never_cut_inside_a_token(echo: str) -> None:
    memory = Memory("real")
    memory.add(memory.prompt(turn("hi")), [token for letter in "therefore" for token in encode(letter, "real").ids])
    memory.prompt(turn("hi", echo, "more"))


def test_special_tokens_that_nobody_echoes_end_what_is_taken() -> None:
    memory = Memory()
    prompt, spelling = memory.prompt(turn("hi")), spelled("well then", 1)
    end = tokenizer("small").encode("<|im_start|>")
    memory.add(prompt, [*spelling, *end, *spelling])
    assert memory.prompt(turn("hi", "well then", "more"))[: len(prompt) + len(spelling)] == [*prompt, *spelling]


def test_another_salt_knows_nothing() -> None:
    memory = Memory()
    prompt = memory.prompt(turn("hi"))
    memory.add(prompt, spelled("therefore", 1), salt="a")
    text = turn("hi", "therefore", "more")
    assert memory.prompt(text) == memory.prompt(text, "b") == encode(text).ids != memory.prompt(text, "a")


def test_a_prompt_that_shares_no_reply_has_its_own_tokens() -> None:
    memory = Memory()
    memory.add(memory.prompt(turn("hi there")), spelled("therefore", 1))
    for text in (turn("hi there"), turn("hi then", "therefore", "more"), turn("hi there", "what", "more"), ""):
        assert memory.prompt(text) == encode(text).ids


def test_memory_is_bounded_and_the_least_recently_used_goes_first() -> None:
    memory = Memory(max_bytes=20_000, max_conversations=3)
    for number in range(3):
        memory.add(memory.prompt(turn(f"hi {number}")), spelled("therefore", 1))
    first = turn("hi 0", "therefore", "more")
    spliced = memory.prompt(first)
    assert spliced != encode(first).ids
    memory.add(memory.prompt(turn("hi 3")), spelled("therefore", 1))
    assert memory.prompt(first) == spliced
    second = turn("hi 1", "therefore", "more")
    assert memory.prompt(second) == encode(second).ids
    for number in range(40):
        memory.add(memory.prompt(turn(f"long {number}" * 50)), spelled("therefore" * 50, number))
        assert memory.memory.size <= 20_000
    full = memory.memory.size
    memory.add(memory.prompt(turn("long" * 20_000)), [1])
    assert memory.memory.size == full > 0, "what does not fit at all pushes nothing out"

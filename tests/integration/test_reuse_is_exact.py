"""200 prompts on the real model: every way of reusing KV gives the cold answer, to the bit.

The cold answers are computed without the cache, alone for some prompts and together with others for the rest, so that
batched decoding is compared as well; by an engine with as many slots, for one with a single slot decodes nothing
together and so may use other kernels (see `DecoderSession.save_rows`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from pinfill_service.prompt.text_model import load_text_model
from tests.support.default_model import default_model
from tests.support.real_engine import LIMIT_SECONDS, Client, Reply, engine
from tests.support.words import WORDS

REPLY_TOKENS = 6
PROMPTS = 200


@dataclass(frozen=True)
class Case:
    """A prompt and the one it shares a prefix with."""

    prompt: list[int]
    sibling: list[int]
    shared: int
    kind: str


KINDS = ("slot", "tree", "fork", "truncated", "cancelled")
IN_ONE_SLOT = ("tree", "truncated")


def make_cases() -> list[Case]:
    """Chat-like prompts of about 90 tokens in groups that share a rubric, and a plain sibling for each."""
    tokenizer = load_text_model(default_model()).tokenizer
    rng = random.Random(20)
    cases = []
    for number in range(PROMPTS):
        if number % 10 == 0:
            rubric = " ".join(rng.choices(WORDS, k=60))
        payloads = [" ".join(rng.choices(WORDS, k=rng.randint(3, 20))) for _ in range(2)]
        prompt, sibling = (
            tokenizer.encode(f"<|im_start|>system\nRate the text. {rubric}<|im_end|>\n<|im_start|>user\n{payload}")
            for payload in payloads
        )
        shared = next(i for i, (a, b) in enumerate(zip(prompt, sibling, strict=False)) if a != b)
        cases.append(Case(list(prompt), list(sibling), shared, KINDS[number % len(KINDS)]))
    return cases


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return make_cases()


@pytest.fixture(scope="module")
def cold(cases: list[Case]) -> list[Reply]:
    """Answers without any cache: every fourth alone, the others four at a time."""
    with engine(slots=4) as client:
        return cold_answers(client, cases)


@pytest.fixture(scope="module")
def cold_in_one_slot(cases: list[Case]) -> list[Reply]:
    """Those of the kinds IN_ONE_SLOT."""
    with engine(slots=1) as client:
        return cold_answers(client, [case for case in cases if case.kind in IN_ONE_SLOT])


def cold_answers(client: Client, cases: list[Case]) -> list[Reply]:
    replies: list[Reply] = []
    for number, case in enumerate(cases):
        _, reply = client.send(case.prompt, REPLY_TOKENS, cached=False)
        replies.append(reply)
        if number % 16 in (3, 4, 5, 6, 7) or number % 4 == 3:
            for waiting in replies:
                waiting.wait()
    for reply in replies:
        reply.wait()
        assert reply.cached == 0
    return replies


@pytest.fixture(scope="module")
def many_slots() -> Iterator[Client]:
    with engine(slots=4, chunk_tokens=48) as client:  # small chunks: a cancelled prompt stops early
        yield client


@pytest.fixture(scope="module")
def one_slot() -> Iterator[Client]:
    """With a single slot every change of prompt stores the old one in the tree and restores the new one from it."""
    with engine(slots=1) as client:
        yield client


def reuse(case: Case, many: Client, one: Client) -> Reply:
    """Brings the case's prefix into the cache in its own way, then asks."""
    prompt, sibling, shared = case.prompt, case.sibling, case.shared
    if case.kind == "slot":
        many.ask(sibling, 1)
        return many.ask(prompt, REPLY_TOKENS)
    if case.kind == "tree":
        one.ask(sibling, 1)
        one.ask([*sibling[5:45]], 1)
        return one.ask(prompt, REPLY_TOKENS)
    if case.kind == "fork":
        many.ask(sibling, 1)
        _, other = many.send([*sibling, *sibling[:20]], 12)  # occupies the slot that holds the prefix
        _, reply = many.send(prompt, REPLY_TOKENS)
        other.wait()
        return reply.wait()
    if case.kind == "truncated":
        one.ask([*prompt[: len(prompt) - 3], *sibling], 3)
        return one.ask(prompt, REPLY_TOKENS)
    request_id, cancelled = many.send([*prompt[:shared], *prompt, *sibling * 5], 1)
    assert cancelled.progressed.wait(LIMIT_SECONDS)
    many.engine.cancel(request_id)
    cancelled.wait()
    return many.ask(prompt, REPLY_TOKENS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_reuse_gives_the_cold_answer_to_the_bit(
    kind: str,
    cases: list[Case],
    cold: list[Reply],
    cold_in_one_slot: list[Reply],
    many_slots: Client,
    one_slot: Client,
) -> None:
    if kind in IN_ONE_SLOT:
        cases, cold = [case for case in cases if case.kind in IN_ONE_SLOT], cold_in_one_slot
    for case, reference in zip(cases, cold, strict=True):
        if case.kind != kind:
            continue
        reply = reuse(case, many_slots, one_slot)
        assert reply.cached >= case.shared - 2, f"{kind}: {reply.started}"
        assert reply.tokens == reference.tokens
        assert reply.scores == reference.scores, f"{kind}: logits differ"


def test_a_chat_reuses_its_own_settled_replies_and_stays_exact(cases: list[Case]) -> None:
    with engine(slots=2) as client:
        chat = cases[0].prompt
        for turn in range(3):
            reply = client.ask(chat, 12)
            cold = client.ask(chat, 12, cached=False)
            assert reply.scores == cold.scores, f"turn {turn}"
            chat = [*chat, *reply.tokens, *cases[turn + 1].sibling[-10:]]


def test_prompts_in_parallel_with_their_prefix_cached_give_their_cold_answers(
    cases: list[Case], cold: list[Reply]
) -> None:
    with engine(slots=4) as client:
        replies = [client.send(case.prompt, REPLY_TOKENS)[1] for case in cases[:24]]
        for reply, reference in zip(replies, cold, strict=False):
            assert reply.wait().scores == reference.scores


def test_a_long_prompt_asked_again_processes_only_what_is_new_and_memory_stays_bounded() -> None:
    """8,000 tokens; the budget holds less than the prompt's KV, so only its slot may keep it while it runs."""
    import psutil

    tokenizer = load_text_model(default_model()).tokenizer
    rng = random.Random(3)
    prompt = list(tokenizer.encode(" ".join(rng.choices(WORDS, k=9000))))[:7900]
    with engine(slots=2, memory_budget_mib=512) as client:
        bytes_per_token = client.engine.model.kv_bytes_per_token
        base = psutil.Process().memory_info().rss
        first = client.ask(prompt, 2)
        assert first.cached == 0
        second = client.ask([*prompt, 77, 78, 79], 2)
        assert second.cached >= len(prompt)
        assert second.finished is not None and second.finished.timings.processed_tokens <= 5
        grown = psutil.Process().memory_info().rss - base
        # Working memory of a chunk: scores and activations, measured at under 200 MiB.
        assert grown <= bytes_per_token * 8000 + (512 << 20) + (200 << 20)

"""Gemma 3 270M: windows, wide heads, several types of weights. Whatever is reused gives the cold answer, to the bit."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pinfill_service.models.gguf_import import convert_gguf
from tests.support.gemma import gemma_gguf
from tests.support.real_engine import Client, engine

PREFIXES = (70, 300, 511, 900, 1500)  # shorter and longer than the window of 512


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gemma")
    convert_gguf(gemma_gguf(), folder)
    return folder


def tokens(rng: random.Random, count: int) -> list[int]:
    return [rng.randrange(1000, 200_000) for _ in range(count)]


def check(client: Client, prompt: list[int], at_least: int, cold: Client) -> None:
    reply = client.ask(prompt, 3)
    assert reply.cached >= at_least
    assert reply.scores == cold.ask(prompt, 3, cached=False).scores, f"{len(prompt)} tokens, {reply.cached} reused"


def test_reuse_of_any_length_behind_and_inside_the_window(gemma: Path) -> None:
    rng = random.Random(5)
    with engine(gemma, slots=2, chunk_tokens=200) as client, engine(gemma, slots=2) as cold:
        for length in PREFIXES:
            prefix = tokens(rng, length)
            for own in (3, 17, 60, 130):
                check(client, [*prefix, *tokens(rng, own)], length if own > 3 else 0, cold)
            check(client, prefix[: length - 5], length - 7 if length > 71 else 0, cold)


def test_prompts_of_very_different_length_are_decoded_together(gemma: Path) -> None:
    rng = random.Random(6)
    prompts = [tokens(rng, count) for count in (1400, 40, 700, 90)]
    with engine(gemma, slots=4) as client, engine(gemma, slots=4) as cold:
        replies = [client.send(prompt, 6)[1] for prompt in prompts]
        for prompt, reply in zip(prompts, replies, strict=True):
            assert reply.wait().scores == cold.ask(prompt, 6, cached=False).scores

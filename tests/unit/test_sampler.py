"""Sampling against plain definitions."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfill_service.engine.interface import Sampling
from pinfill_service.engine.sampler import Sampler, _most_probable, token_logprob

LOGITS = np.array([0.5, 3.0, 2.0, -1.0, 2.9, 0.0], np.float32)
NOBODY = np.empty(0, np.int32)


def draw(sampling: Sampling, count: int = 3000, logits: np.ndarray = LOGITS) -> Counter[int]:
    return Counter(_stream(sampling, count, logits, NOBODY))


def _stream(sampling: Sampling, count: int, logits: np.ndarray, prompt: np.ndarray) -> list[int]:
    sampler = Sampler(sampling, prompt, len(logits))
    return [sampler.choose(logits) for _ in range(count)]


def softmax(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max())
    return powers / powers.sum()


def test_greedy_takes_the_best() -> None:
    assert draw(Sampling(temperature=0)) == Counter({1: 3000})


def test_plain_sampling_follows_the_distribution() -> None:
    counts = draw(Sampling(seed=1), 20_000)
    for token, probability in enumerate(softmax(LOGITS)):
        assert counts[token] / 20_000 == pytest.approx(probability, abs=0.015)


def test_temperature_flattens() -> None:
    counts = draw(Sampling(seed=1, temperature=2.0), 20_000)
    for token, probability in enumerate(softmax(LOGITS / 2)):
        assert counts[token] / 20_000 == pytest.approx(probability, abs=0.015)


@pytest.mark.parametrize(
    ("sampling", "allowed"),
    [
        (Sampling(seed=2, top_k=2), {1, 4}),
        (Sampling(seed=2, top_k=1), {1}),
        (Sampling(seed=2, top_p=0.5), {1, 4}),  # 0.407 alone does not reach one half
        (Sampling(seed=2, top_p=0.01), {1}),
        (Sampling(seed=2, min_p=0.3), {1, 2, 4}),  # e^-1 = 0.37 of the best
        (Sampling(seed=2, top_k=3, top_p=0.6), {1, 4}),
        (Sampling(seed=2, logit_bias={3: 100.0}), {3}),
        (Sampling(seed=2, logit_bias={1: -100.0, 4: -100.0, 999: 5.0}), {0, 2, 3, 5}),
    ],
)
def test_truncation_leaves_exactly_the_tokens_it_should(sampling: Sampling, allowed: set[int]) -> None:
    assert set(draw(sampling)) == allowed


def test_equal_seeds_give_equal_tokens_and_others_differ() -> None:
    flat = np.zeros(1000, np.float32)
    one, same, other = (_stream(Sampling(seed=seed), 20, flat, NOBODY) for seed in (7, 7, 8))
    assert one == same != other


def test_without_a_seed_two_samplers_differ() -> None:
    flat = np.zeros(1000, np.float32)
    assert _stream(Sampling(), 20, flat, NOBODY) != _stream(Sampling(), 20, flat, NOBODY)


def test_frequency_and_presence_penalties_count_generated_tokens_only() -> None:
    logits = np.array([1.0, 0.9, 0.0], np.float32)
    prompt = np.array([0, 0, 0], np.int32)
    # 0 is best; after one use it stands at 0.75 and 1 takes over until it was used as well.
    assert _stream(Sampling(temperature=0, frequency_penalty=0.25), 4, logits, prompt) == [0, 1, 0, 1]
    assert _stream(Sampling(temperature=0, presence_penalty=0.25), 4, logits, prompt) == [0, 1, 0, 0]


def test_repetition_penalty_looks_at_the_prompt_too() -> None:
    logits = np.array([1.0, 0.9, -0.5], np.float32)
    assert _stream(Sampling(temperature=0, repetition_penalty=2.0), 1, logits, np.array([0], np.int32)) == [1]
    negative = np.array([-1.0, -1.5, -4.0], np.float32)
    assert _stream(Sampling(temperature=0, repetition_penalty=2.0), 1, negative, np.array([0], np.int32)) == [1]


def test_choosing_never_changes_the_logits() -> None:
    logits = LOGITS.copy()
    sampling = Sampling(seed=1, top_k=3, repetition_penalty=1.3, frequency_penalty=1.0, logit_bias={0: 1.0})
    _stream(sampling, 10, logits, np.array([1], np.int32))
    assert np.array_equal(logits, LOGITS)


@given(st.lists(st.floats(-50, 50, width=32), min_size=2, max_size=30), st.integers(0, 40))
def test_logprobs_are_the_log_softmax_best_first(values: list[float], top: int) -> None:
    logits = np.array(values, np.float32)
    expected = np.log(softmax(logits.astype(np.float64)) + 1e-300)
    result = token_logprob(logits, 1, top)
    assert math.isclose(result.logprob, expected[1], abs_tol=1e-6)
    assert len(result.top) == min(top, len(values))
    ranked = [logprob for _, logprob in result.top]
    assert ranked == sorted(ranked, reverse=True)
    if top:
        assert result.top[0][1] == pytest.approx(expected.max(), abs=1e-6)


@given(st.integers(0, 1 << 32), st.floats(0.01, 0.999), st.sampled_from([0.02, 1.0, 20.0]))
def test_top_p_of_a_large_vocabulary_is_the_smallest_set_that_reaches_it(
    seed: int, share: float, spread: float
) -> None:
    """Whether a partial look finds it or a sort of everything is needed (`spread` 0.02: nearly even)."""
    probabilities = np.exp(np.random.default_rng(seed).normal(0, spread, 3000))
    probabilities /= probabilities.sum()
    kept = _most_probable(probabilities, share)
    chosen = probabilities[kept]
    assert len(set(kept)) == len(kept) and (np.diff(chosen) <= 0).all()
    assert chosen.sum() >= share - 1e-9 and chosen[:-1].sum() < share + 1e-9
    others = np.delete(probabilities, kept)
    assert not len(others) or others.max() <= chosen.min()

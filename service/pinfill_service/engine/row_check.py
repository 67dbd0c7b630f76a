"""Tries, on a loaded model, whether a token's results depend on what else is evaluated in the same run."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pinfill_service.engine.kv import KvSlots

_TOKENS = 24
_CUTS = ((24,), (5, 19), (2, 3, 12, 7), (15, 9))  # odd and even numbers of rows, few and many
_STEPS = 3


class Runner(Protocol):
    """What is tried of a session."""

    def prefill(self, slot: int, ids: NDArray[np.int64], logits: int) -> NDArray[np.float32]: ...
    def decode(self, first: int, last: int, ids: list[int | None]) -> NDArray[np.float32]: ...


def rows_are_independent(session: Runner, kv: KvSlots, vocabulary: int) -> bool:
    """Whether prompts cut in different ways, and tokens decoded alone and together, get the same logits to the bit.

    A single sum in another order shows: rounding to int8 spreads it over everything that follows.
    """
    random = np.random.default_rng(0)
    prompt = random.integers(0, vocabulary, _TOKENS)
    replies = random.integers(0, vocabulary, _STEPS).tolist()
    try:
        prefills = [_prefill(session, kv, prompt, cuts) for cuts in _CUTS]
        rows = [_decode(session, kv, prompt, replies, count) for count in {1, min(2, kv.count), min(5, kv.count)}]
    finally:
        for slot in range(kv.count):
            kv.truncate(slot, 0)
            kv.discard_dead(slot)
    return _equal(prefills) and _equal(rows)


def _prefill(session: Runner, kv: KvSlots, prompt: NDArray[Any], cuts: tuple[int, ...]) -> NDArray[np.float32]:
    kv.truncate(0, 0)
    position = 0
    for count in cuts:
        logits = session.prefill(0, prompt[position : position + count], 1)
        position += count
    last: NDArray[np.float32] = logits[-1]
    return last


def _decode(session: Runner, kv: KvSlots, prompt: NDArray[Any], replies: list[int], count: int) -> NDArray[np.float32]:
    """Logits of slot 0 while `count` slots are decoded together, each with another length behind it."""
    for slot in range(count):
        kv.truncate(slot, 0)
        session.prefill(slot, prompt[: _TOKENS - 2 * slot], 1)
    return np.concatenate([session.decode(0, count, [token] * count)[0] for token in replies])


def _equal(results: list[NDArray[np.float32]]) -> bool:
    return all(np.array_equal(results[0], other) for other in results[1:])

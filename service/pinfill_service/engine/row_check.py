"""Tries, on a loaded model, whether a token's results depend on what else is evaluated in the same run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pinfill_service.engine.kv import KvSlots

_TOKENS = 12
# Odd and even numbers of rows, few and many; logits of one row and of several.
_CUTS = (((12,), 1), ((2, 3, 7), 2))
_TOGETHER = (1, 2, 5)
_STEPS = 2


class Runner(Protocol):
    """What is tried of a session."""

    def prefill(self, slot: int, ids: NDArray[np.int64], logits: int) -> NDArray[np.float32]: ...
    def decode(self, first: int, last: int, ids: list[int | None]) -> NDArray[np.float32]: ...


def rows_are_independent(session: Runner, kv: KvSlots, vocabulary: int) -> bool:
    """Whether prompts cut in different ways, and tokens decoded alone and together, get the same logits to the bit.

    A single sum in another order shows: rounding to int8 spreads it over everything that follows. False, too, where the
    slots are too short to try. The slots must be empty, and are left so.
    """
    if kv.max_length < _TOKENS + _STEPS:
        return False
    random = np.random.default_rng(0)
    prompt = random.integers(0, vocabulary, _TOKENS)
    replies = random.integers(0, vocabulary, _STEPS).tolist()
    try:
        return _equal(_prefill(session, kv, prompt, *cuts) for cuts in _CUTS) and _equal(
            _decode(session, kv, replies, min(count, kv.count)) for count in _TOGETHER
        )
    finally:
        for slot in range(kv.count):
            kv.truncate(slot, 0)
            kv.discard_dead(slot)


def _prefill(
    session: Runner, kv: KvSlots, prompt: NDArray[Any], cuts: tuple[int, ...], wanted: int
) -> NDArray[np.float32]:
    kv.truncate(0, 0)
    for start, count in zip(np.cumsum((0, *cuts)), cuts, strict=False):
        logits = session.prefill(0, prompt[start : start + count], wanted)
    last: NDArray[np.float32] = logits[-1]
    return last


def _decode(session: Runner, kv: KvSlots, replies: list[int], count: int) -> NDArray[np.float32]:
    """Logits of slot 0, which holds the prompt, while `count` slots of different length are decoded together."""
    kv.truncate(0, _TOKENS)
    for slot in range(1, count):
        kv.truncate(slot, 0)
        kv.fork(0, slot, 0, _TOKENS - 2 * slot)
    return np.concatenate([session.decode(0, count, [token] * count)[0] for token in replies])


def _equal(results: Iterator[NDArray[np.float32]]) -> bool:
    """Asks for no more of them than it takes to tell: a large model is slow, and whoever loads it waits."""
    first = next(results)
    return all(np.array_equal(first, other) for other in results)

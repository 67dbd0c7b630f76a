"""Whether rows depend on each other is found out on the loaded model, whatever the dependence looks like."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from pinfill_service.engine.kv import KvSlots, KvTensor
from pinfill_service.engine.row_check import rows_are_independent

TENSOR = KvTensor("past", "present", 1, 4, np.dtype(np.float32))
VOCABULARY = 50


class Session:
    """A model whose results get `noise(rows in the run)` added: 0 where rows do not matter."""

    def __init__(self, kv: KvSlots, noise: Callable[[int], float]) -> None:
        self.kv, self.noise = kv, noise

    def prefill(self, slot: int, ids: NDArray[np.int64], logits: int) -> NDArray[np.float32]:
        self.kv.appended(slot, len(ids))
        return np.full((1, VOCABULARY), ids[-1] + self.noise(len(ids)), np.float32)

    def decode(self, first: int, last: int, ids: list[int | None]) -> NDArray[np.float32]:
        for slot in range(first, last):
            self.kv.appended(slot, 1)
        rows = [[float(token or 0) + self.noise(last - first)] * VOCABULARY for token in ids]
        return np.array(rows, np.float32)


def check(noise: Callable[[int], float], slots: int = 8, length: int = 64) -> bool:
    kv = KvSlots([TENSOR], slots, length)
    independent = rows_are_independent(Session(kv, noise), kv, VOCABULARY)
    assert all(kv.length(slot) == 0 and kv.touched(slot) == 0 for slot in range(slots))
    return independent


def test_rows_that_do_not_matter() -> None:
    assert check(lambda rows: 0.0)
    assert check(lambda rows: 0.0, slots=1)


@pytest.mark.parametrize(
    "noise",
    [
        lambda rows: 1e-3 * (rows == 1),  # one row alone takes another kernel
        lambda rows: 1e-3 * (rows % 2),  # rows go in pairs
        lambda rows: 1e-3 * (rows >= 4),
        lambda rows: 1e-3 * (rows < 4),
    ],
)
def test_rows_that_do(noise: Callable[[int], float]) -> None:
    assert not check(noise)


def test_slots_too_short_to_try_are_no_proof() -> None:
    assert not check(lambda rows: 0.0, length=13)


def test_nothing_more_is_tried_when_prompts_differ_already() -> None:
    kv = KvSlots([TENSOR], 8, 64)
    session = Session(kv, lambda rows: 1e-3 * (rows % 2))
    session.decode = None  # type: ignore[method-assign,assignment]  # a large model is slow: it is not called
    assert not rows_are_independent(session, kv, VOCABULARY)
    assert all(kv.length(slot) == 0 for slot in range(8))

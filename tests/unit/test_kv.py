"""Slots and pages on real memory."""

from __future__ import annotations

import mmap

import numpy as np
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.engine.kv import KvSlots, KvTensor, StateTensor
from pinfill_service.engine.pages import PAGE_TOKENS

F32 = np.dtype(np.float32)
# Two shapes, as models with sliding windows or mixed layers have them.
TENSORS = [KvTensor(f"past.{i}", f"present.{i}", heads, 8, F32) for i, heads in enumerate((2, 2, 3))]


def make(slots: int = 3, length: int = 200) -> KvSlots:
    return KvSlots(TENSORS, slots, length)


def fill(kv: KvSlots, slot: int, count: int, seed: int) -> None:
    """What the graph does: writes behind the cursor."""
    start = kv.length(slot)
    for number, (_, array) in enumerate(kv.tensors()):
        rng = np.random.default_rng([seed, number, start])
        array[slot, :, start : start + count] = rng.standard_normal((array.shape[1], count, 8))
    kv.appended(slot, count)


def content(kv: KvSlots, slot: int) -> list[np.ndarray]:
    return [array[slot, :, : kv.length(slot)].copy() for _, array in kv.tensors()]


def equal(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_a_fork_is_a_copy_and_leaves_its_source() -> None:
    kv = make()
    fill(kv, 0, 100, seed=1)
    before = content(kv, 0)
    kv.fork(0, 1, 0, 70)
    assert kv.length(1) == 70
    assert equal(content(kv, 1), [array[:, :70] for array in before])
    fill(kv, 1, 10, seed=2)
    assert equal(content(kv, 0), before)


@given(st.integers(1, 150), st.integers(0, 149), st.integers(1, 149))
@settings(deadline=None, max_examples=60)
def test_export_split_and_load_give_back_every_byte(length: int, start: int, cut: int) -> None:
    start = min(start, length - 1)
    kv = make()
    fill(kv, 0, length, seed=3)
    span = kv.export(0, start, length)
    kv.fork(0, 1, 0, start)
    if 0 < cut < length - start:
        left, right = span.split(cut)
        assert (left.count, right.count) == (cut, length - start - cut)
        kv.load(left, 1)
        kv.load(right, 1)
        left.free()
        right.free()
    else:
        kv.load(span, 1)
        span.free()
    assert equal(content(kv, 0), content(kv, 1))
    assert kv.pool.bytes_used == 0


def test_both_halves_keep_the_page_at_the_cut_alive() -> None:
    kv = make()
    fill(kv, 0, 40, seed=4)
    left, right = kv.export(0, 0, 40).split(10)
    assert kv.pool.used == 2
    left.free()
    assert kv.pool.used == 2, "the right half still looks into the first page"
    kv.load(right, 1)
    assert equal(content(kv, 1), [array[:, 10:] for array in content(kv, 0)])
    right.free()
    assert kv.pool.used == 0


def test_a_part_of_a_part_is_still_the_right_part() -> None:
    kv = make()
    fill(kv, 0, 60, seed=4)
    left, right = kv.export(0, 0, 60).split(10)
    middle, last = right.split(30)
    for number, (part, start, end) in enumerate([(left, 0, 10), (middle, 10, 40), (last, 40, 60)]):
        kv.truncate(1, 0)
        kv.load(part, 1)
        assert equal(content(kv, 1), [array[:, start:end] for array in content(kv, 0)]), number
        part.free()
    assert kv.pool.used == 0


def test_pages_are_used_again() -> None:
    kv = make()
    fill(kv, 0, 100, seed=5)
    first = kv.export(0, 0, PAGE_TOKENS)
    page = first.pieces[0].page
    first.free()
    assert kv.export(0, 0, PAGE_TOKENS).pieces[0].page is page


@pytest.mark.parametrize("length", [-1, 101])
def test_truncating_beyond_what_is_there_is_refused(length: int) -> None:
    kv = make()
    fill(kv, 0, 100, seed=6)
    with pytest.raises(ValueError, match="cannot be truncated"):
        kv.truncate(0, length)
    assert kv.length(0) == 100


def test_nothing_is_written_beyond_a_slot() -> None:
    kv = make(length=50)
    fill(kv, 0, 50, seed=7)
    with pytest.raises(ValueError, match="cannot hold"):
        kv.appended(0, 1)
    span = kv.export(0, 0, 50)
    fill(kv, 1, 10, seed=8)
    with pytest.raises(ValueError, match="do not fit"):
        kv.load(span, 1)


def test_copies_that_would_leave_a_hole_are_refused() -> None:
    kv = make()
    fill(kv, 0, 50, seed=9)
    with pytest.raises(ValueError, match="cannot copy"):
        kv.fork(0, 1, 10, 20)
    with pytest.raises(ValueError, match="cannot export"):
        kv.export(0, 10, 51)


def test_checkpoints_hold_state_that_cannot_be_truncated() -> None:
    state = StateTensor("past.conv", "present.conv", (4, 2), F32)
    kv = KvSlots(TENSORS, 2, 100, [state])
    ((_, array),) = kv.states()
    fill(kv, 0, 10, seed=10)
    array[0] = 1.0
    early = kv.checkpoint(0)
    fill(kv, 0, 20, seed=11)
    array[0] = 2.0
    late = kv.checkpoint(0)
    kv.restore(0, early)
    assert kv.length(0) == early.length == 10 and (array[0] == 1.0).all()
    with pytest.raises(ValueError, match="cannot be truncated"):
        kv.restore(0, late)  # its KV is gone


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="this system has no madvise")
def test_dead_memory_goes_back_to_the_system() -> None:
    tensors = [KvTensor("past", "present", 4, 64, F32)]
    kv = KvSlots(tensors, 1, 65_536)
    process = psutil.Process()
    before = process.memory_info().rss
    ((_, array),) = kv.tensors()
    array[0] = 1.0
    kv.appended(0, 65_536)
    full = process.memory_info().rss - before
    assert full > 50 << 20
    kv.truncate(0, 100)
    kv.discard_dead(0)
    assert process.memory_info().rss - before < full / 10
    assert kv.touched(0) == 100 and (array[0, :, :100] == 1.0).all()

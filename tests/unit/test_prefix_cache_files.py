"""Prefixes that files hold: they leave memory and come back, and a damaged file is a miss, never an answer."""

from __future__ import annotations

import numpy as np
import pytest

from pinfill_service.cache.contract import Snapshot
from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.cache.prefix_cache import PrefixCache
from tests.support.cache_checks import check_books
from tests.support.fake_kv import FakeFile, FakeKv, FakePool, FakeSpan

PROMPT = list(range(1, 101))


def ids(tokens: list[int]) -> np.ndarray:
    return np.array(tokens, np.int32)


class Cache:
    """A PrefixCache over fake memory and fake files."""

    def __init__(self, slots: int = 2, state_bytes: int = 0) -> None:
        self.kv = FakeKv(slots, 400, state_bytes=state_bytes)
        self.time = 0.0
        self.cache = PrefixCache(self.kv, 10_000 * self.kv.bytes_per_token, PrefillCost(), self._now)
        self.disk, self.files = FakePool(), [FakeFile()]

    def _now(self) -> float:
        self.time += 1
        return self.time

    def ask(self, prompt: list[int], namespace: str = "") -> int:
        """Runs a prompt; returns how much of it was cached."""
        claim = self.cache.claim(namespace, ids(prompt))
        assert self.kv.content[claim.slot] == prompt[: claim.cached]
        self.kv.run(claim.slot, prompt[claim.cached :])
        self.cache.extend(claim.slot, ids(prompt[claim.cached :]))
        self.cache.mark(claim.slot)
        self.cache.release(claim.slot)
        check_books(self.cache, self.kv, damaged_files=not all(file.sound for file in self.files))
        return claim.cached

    def save(self, prompt: list[int]) -> Snapshot | None:
        snapshot = self.cache.snapshot("", ids(prompt))
        if snapshot is None:
            return None
        written = [token for span in snapshot.spans for token in span.tokens]
        for span in snapshot.spans:
            span.free()
        self.disk.bytes_used += len(written)
        assert self.cache.saved(snapshot, FakeSpan(self.disk, written, 1, self.files[-1]))
        check_books(self.cache, self.kv)
        return snapshot

    def empty_memory(self) -> None:
        budget, self.cache.budget_bytes = self.cache.budget_bytes, 0
        self.cache.enforce_budget()
        self.cache.budget_bytes = budget
        check_books(self.cache, self.kv)
        assert self.cache.held_bytes == 0


@pytest.mark.parametrize("pinned", [False, True])
def test_what_a_file_holds_leaves_memory_and_comes_back(pinned: bool) -> None:
    cache = Cache()
    cache.ask(PROMPT)
    assert not pinned or cache.cache.pin("", ids(PROMPT))
    cache.save(PROMPT)
    cache.empty_memory()
    assert cache.kv.content == [[], []]
    assert cache.ask([*PROMPT, 7, 8]) == 100


def test_a_pin_without_a_file_stays_in_memory() -> None:
    cache = Cache()
    cache.ask(PROMPT)
    cache.cache.pin("", ids(PROMPT))
    cache.cache.budget_bytes = 0
    cache.cache.enforce_budget()
    assert cache.ask([*PROMPT, 7, 8]) == 100


def test_a_second_copy_of_a_pin_counts_as_free_and_goes_with_what_is_not_pinned() -> None:
    """Another prompt took the pin's slot, so pages hold it; its next use copies it into the slot."""
    cache = Cache(slots=1)
    size, name = cache.kv.bytes_per_token, ids(PROMPT)
    cache.ask(PROMPT)
    cache.cache.pin("", name)
    for prompt in ([7, 8, 9], [*PROMPT, 7, 8]):
        cache.ask(prompt)
    stats = cache.cache.stats()
    assert stats.total_bytes > stats.protected_bytes + 100 * size and stats.protected_bytes == 100 * size
    cache.cache.evict_all()
    stats = cache.cache.stats()
    assert (stats.total_bytes, stats.protected_bytes) == (100 * size, 100 * size)
    check_books(cache.cache, cache.kv)
    assert cache.ask([*PROMPT, 7, 9]) == 100


def test_of_two_slots_with_a_pin_one_is_free() -> None:
    cache = Cache()
    size = cache.kv.bytes_per_token
    first = cache.cache.claim("", ids(PROMPT))
    cache.kv.run(first.slot, PROMPT)
    cache.cache.extend(first.slot, ids(PROMPT))
    cache.ask([*PROMPT, 7])  # beside the one that still runs
    cache.cache.release(first.slot)
    cache.cache.pin("", ids(PROMPT))
    assert [len(content) for content in cache.kv.content] == [100, 101]
    assert (cache.cache.stats().protected_bytes, cache.cache.stats().evictable_bytes) == (100 * size, 101 * size)
    cache.cache.evict_all()
    assert (cache.cache.stats().protected_bytes, cache.cache.stats().total_bytes) == (100 * size, 100 * size)
    assert cache.ask([*PROMPT, 8, 9]) == 100


@pytest.mark.parametrize("state_bytes", [0, 8])
@pytest.mark.parametrize("other", [PROMPT[:50], [7, 8, 9]], ids=["a part of it", "another prompt"])
def test_a_pin_without_a_file_stays_also_behind_one_with_a_file(state_bytes: int, other: list[int]) -> None:
    """Without room, what the file holds is not stored again when the slot is needed; what only the slot holds is."""
    cache, longer = Cache(slots=1, state_bytes=state_bytes), [*PROMPT, 7, 8, 9]
    for prompt in (PROMPT, longer):
        cache.ask(prompt)
        assert cache.cache.pin("", ids(prompt))
        if prompt is PROMPT:
            cache.save(prompt)
    cache.cache.budget_bytes = 0
    cache.ask([*other, 5, 6])
    assert cache.ask([*longer, 1, 2]) == len(longer)


def test_the_file_of_a_longer_prefix_outlives_a_shorter_one_that_is_a_part_of_it() -> None:
    """A pin that was lost, with a slot that failed, leaves no trace of where it ended."""
    cache = Cache()
    cache.ask(PROMPT)
    cache.save(PROMPT)
    cache.cache.forget_files("", ids(PROMPT[:60]))
    cache.empty_memory()
    assert cache.disk.bytes_used == 100 and cache.ask([*PROMPT, 7, 8]) == 100
    cache.cache.forget_files("", ids([*PROMPT, 7, 8]))
    assert cache.disk.bytes_used == 0


def test_files_hold_only_what_other_files_do_not() -> None:
    cache = Cache()
    cache.ask(PROMPT)
    first = cache.save(PROMPT[:60])
    sibling = [*PROMPT[:40], *range(200, 230)]
    cache.ask(sibling)
    second = cache.save(sibling)
    assert first is not None and first.start == 0 and second is not None and second.start == 40
    assert cache.save(sibling) is None
    assert cache.disk.bytes_used == 60 + 30


def test_a_damaged_file_is_a_miss_and_is_forgotten() -> None:
    cache = Cache()
    cache.ask(PROMPT)
    cache.save(PROMPT)
    cache.empty_memory()
    cache.files[0].sound = False
    assert cache.ask([*PROMPT, 7, 8]) == 0
    assert cache.disk.bytes_used == 0 and cache.cache.stats().mismatches == 1
    assert cache.ask([*PROMPT, 9, 10]) == 100


def test_damage_behind_a_sound_part_costs_only_that() -> None:
    cache = Cache()
    cache.ask(PROMPT)
    cache.save(PROMPT[:60])
    cache.files.append(FakeFile())
    cache.save(PROMPT)
    cache.empty_memory()
    cache.files[1].sound = False
    assert cache.ask([*PROMPT, 7, 8]) == 60


def test_forgetting_files_stops_at_what_others_need() -> None:
    cache = Cache()
    sibling = [*PROMPT[:40], *range(200, 230)]
    for prompt in (PROMPT, sibling):
        cache.ask(prompt)
        cache.save(prompt)
    cache.empty_memory()
    cache.cache.forget_files("", ids(sibling))
    assert cache.disk.bytes_used == 100
    assert cache.ask(PROMPT) == 98
    cache.empty_memory()
    cache.cache.forget_files("", ids(PROMPT))
    assert cache.disk.bytes_used == 0 and not list(cache.cache.tree.nodes())


def test_a_restart_finds_kv_and_checkpoints_again() -> None:
    old = Cache(state_bytes=8)
    old.ask(PROMPT)
    old.ask([*PROMPT, 5, 6, 7])
    first, second = old.save(PROMPT), old.save([*PROMPT, 5, 6, 7])
    assert first is not None and second is not None and second.start == 100
    new = Cache(state_bytes=8)
    for snapshot in (first, second):
        run = snapshot.tokens[snapshot.start :].tolist()
        new.disk.bytes_used += len(run)
        assert new.cache.restore(snapshot, FakeSpan(new.disk, run, 1))
        check_books(new.cache, new.kv)
    assert new.ask([*PROMPT, 5, 6, 7, 8, 9]) == 103
    assert new.ask([*PROMPT, 50, 60, 70]) == 100


def test_a_file_whose_beginning_is_missing_is_not_used() -> None:
    cache = Cache()
    span = FakeSpan(cache.disk, PROMPT[40:], 1)
    cache.disk.bytes_used += 60
    assert not cache.cache.restore(Snapshot("", ids(PROMPT), 40, (), {}), span)
    assert cache.disk.bytes_used == 0 and not span.live
    check_books(cache.cache, cache.kv)
    assert cache.ask(PROMPT) == 0


def test_a_pin_stays_in_memory_when_its_slot_is_needed_though_a_file_holds_it() -> None:
    cache = Cache(slots=1)
    cache.ask(PROMPT)
    cache.cache.pin("", ids(PROMPT))
    cache.save(PROMPT)
    cache.ask(list(range(300, 360)))
    assert cache.kv.pool.bytes_used == 100 * cache.kv.bytes_per_token
    cache.cache.unpin("", ids(PROMPT))
    cache.ask(PROMPT)
    cache.ask(list(range(300, 360)))
    cache.empty_memory()
    assert cache.ask([*PROMPT, 7, 8]) == 100


def test_room_for_a_pin_is_not_made_by_emptying_the_slot_it_is_in() -> None:
    cache = Cache(slots=1)
    cache.ask(PROMPT)
    cache.cache.pin("", ids(PROMPT))
    cache.save(PROMPT)
    cache.cache.budget_bytes = 100 * cache.kv.bytes_per_token
    assert cache.ask(list(range(300, 360))) == 0
    assert cache.ask([*PROMPT, 7, 8]) == 100


def test_room_for_the_end_of_a_slot_is_not_made_from_the_last_other_place_of_a_pin() -> None:
    pin, other = [1] * 20, [9] * 64
    made = Cache(slots=2)
    for prompt in (other, [*pin, *[2] * 150], [3] * 30, pin):
        made.ask(prompt)
    assert made.cache.pin("", ids(pin))
    made.cache.give_back_unused()
    made.cache.budget_bytes = made.cache.held_bytes
    assert made.ask([*other, 8, 8]) == len(other)  # where pin and more was
    assert made.cache.tree.match("", ids(pin)).length == len(pin)

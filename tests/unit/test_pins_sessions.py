"""Prompts nobody pinned, kept for the next start: the most valuable first, within what pins leave of the disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace

import pytest

from pinfill_service.engine.errors import EngineClosedError
from pinfill_service.engine.interface import EntryInfo
from pinfill_service.pins.sessions import SessionKeeper, keep_sessions
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, FakePrefixes, Reply

LENGTH = 100
BYTES = LENGTH * 1024  # of an entry


class Valued(FakePrefixes):
    """Entries with hits, ages and whereabouts that the test chooses."""

    def __init__(self) -> None:
        super().__init__(1024)
        self.facts: dict[tuple[int, ...], dict[str, float]] = {}
        self.saved: list[int] = []

    def put(self, number: int, *, on_disk: bool = False, pinned: bool = False, **facts: float) -> tuple[int, ...]:
        ids = (number,) * LENGTH
        self.cached.add(ids)
        self.facts[ids] = facts
        self.pins[ids] = int(pinned)
        if on_disk:
            self.files.add(ids)
        return ids

    def entries(self) -> Future[list[EntryInfo]]:
        found: Future[list[EntryInfo]] = Future()
        entries = super().entries().result()
        found.set_result([replace(entry, **self.facts[tuple(entry.token_ids)]) for entry in entries])  # type: ignore[arg-type]
        return found

    def save(self, token_ids: Sequence[int]) -> Future[None]:
        self.saved.append(token_ids[0])
        return super().save(token_ids)


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    engine = FakeEngine(Reply([5]))
    engine.prefixes = Valued()
    yield engine
    engine.close()


@pytest.fixture
def prefixes(engine: FakeEngine) -> Valued:
    assert isinstance(engine.prefixes, Valued)
    return engine.prefixes


def test_the_most_valuable_are_saved_as_far_as_the_budget_goes(engine: FakeEngine, prefixes: Valued) -> None:
    prefixes.put(1, hits=0, idle_seconds=10.0)
    prefixes.put(2, hits=5, idle_seconds=10.0)
    prefixes.put(3, hits=5, idle_seconds=9000.0)
    prefixes.put(4, hits=0, idle_seconds=10.0, saves_seconds=60.0)
    prefixes.disk_budget = 2 * BYTES
    assert keep_sessions(engine) == 2
    assert prefixes.saved == [4, 2]


def test_pins_come_first_and_are_left_alone(engine: FakeEngine, prefixes: Valued) -> None:
    pinned = prefixes.put(1, on_disk=True, pinned=True)
    prefixes.put(2, hits=1)
    prefixes.put(3, hits=2)
    prefixes.disk_budget = 2 * BYTES
    assert keep_sessions(engine) == 1
    assert prefixes.saved == [3] and pinned in prefixes.files


def test_old_files_make_room_but_what_is_in_memory_stays_there(engine: FakeEngine, prefixes: Valued) -> None:
    old = prefixes.put(1, on_disk=True, in_memory=False, idle_seconds=90_000.0)
    warm = prefixes.put(2, on_disk=True, idle_seconds=9_000.0)
    new = prefixes.put(3, idle_seconds=1.0)
    prefixes.disk_budget = BYTES
    assert keep_sessions(engine) == 1
    assert new in prefixes.files and old not in prefixes.cached and warm in prefixes.cached


def test_short_prompts_and_those_that_are_gone_are_passed_over(engine: FakeEngine, prefixes: Valued) -> None:
    short = (9, 9)
    prefixes.cached.add(short)
    prefixes.facts[short] = {}
    prefixes.put(2)
    prefixes.known = lambda token_ids: 0  # type: ignore[method-assign]
    assert keep_sessions(engine) == 0 and prefixes.saved == [2]


def test_nothing_is_written_where_nothing_may_be(engine: FakeEngine, prefixes: Valued) -> None:
    prefixes.put(1)
    unwanted = SessionKeeper(lambda: engine, lambda: False)
    assert unwanted.keep(engine) == 0
    unwanted.close()
    prefixes.disk_budget = 0
    assert keep_sessions(engine) == 0
    assert not prefixes.saved


def test_a_disk_that_fails_is_no_reason_to_stop(engine: FakeEngine, prefixes: Valued) -> None:
    prefixes.put(1)
    prefixes.disk_problem = OSError("the disk is full")
    keeper = SessionKeeper(lambda: engine, lambda: True)
    assert keeper.keep(engine) == 0
    keeper.close()


def test_now_and_then(engine: FakeEngine, prefixes: Valued) -> None:
    saved = threading.Event()
    save = prefixes.save

    def tell(token_ids: Sequence[int]) -> Future[None]:
        saved.set()
        return save(token_ids)

    prefixes.put(1)
    prefixes.save = tell  # type: ignore[method-assign]
    keeper = SessionKeeper(lambda: engine, lambda: True, every=0.01)
    assert saved.wait(LIMIT_SECONDS)
    keeper.close()


def test_an_engine_that_is_closed_meanwhile(engine: FakeEngine, prefixes: Valued) -> None:
    def entries() -> Future[list[EntryInfo]]:
        raise EngineClosedError("closed")

    prefixes.entries = entries  # type: ignore[method-assign]
    keeper = SessionKeeper(lambda: engine, lambda: True)
    assert keeper.keep(engine) == 0
    keeper.close()

"""What reuse saves is what prefill would have cost: learned on a clock that the test turns."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfill_service.cache.prefill_cost import BUCKET_TOKENS, PrefillCost
from pinfill_service.engine.events import Started
from tests.support.fake_session import FakeWorker

PREFIX, PAYLOAD, REQUESTS = 1880, 35, 50
LOAD_SECONDS = 0.2


def chunk_seconds(start: int, count: int) -> float:
    """What a chunk costs: more the more stands before it, and more for each token of a short one."""
    return sum(0.002 + position * 2e-6 for position in range(start, start + count)) * (1.5 if count < 64 else 1.0)


class TimedWorker(FakeWorker):
    """Evaluating chunks and loading stored KV takes time on its clock."""

    def __init__(self, slots: int) -> None:
        super().__init__(slots=slots, context=3000, chunk=512)
        prefill, load = self.session.prefill, self.kv.load

        def timed_prefill(slot, ids, logits):  # type: ignore[no-untyped-def]
            self.time += chunk_seconds(self.kv.length(slot), len(ids))
            return prefill(slot, ids, logits)

        def timed_load(*arguments, **options):  # type: ignore[no-untyped-def]
            self.time += LOAD_SECONDS
            load(*arguments, **options)

        self.session.prefill, self.kv.load = timed_prefill, timed_load  # type: ignore[method-assign]

    def seconds(self, prompt: list[int]) -> tuple[float, float]:
        """(what the prompt took until its first token, what the ledger is told that reuse saved)."""
        began = self.time
        listener = self.ask(prompt, 1)
        return self.time - began, listener.of(Started)[0].saved_seconds


@pytest.mark.parametrize("slots", [1, 4])
def test_the_seconds_told_are_the_seconds_saved(slots: int) -> None:
    """With one slot every second request has to load what it goes on from."""
    rng = random.Random(3)
    worker = TimedWorker(slots)

    def prompt(prefix: list[int]) -> list[int]:
        return [*prefix, *(rng.randrange(90) for _ in range(PAYLOAD))]

    prefixes = [[first, *(rng.randrange(90) for _ in range(PREFIX - 1))] for first in (91, 92)]
    cold = [worker.seconds(prompt(prefix)) for prefix in prefixes]
    assert all(saved == 0 for _, saved in cold)
    told = measured = 0.0
    for number in range(REQUESTS):
        seconds, saved = worker.seconds(prompt(prefixes[number % 2]))
        told, measured = told + saved, measured + cold[number % 2][0] - seconds
    assert worker.worker.stats().saved_seconds_total == pytest.approx(told)
    assert told == pytest.approx(measured, rel=0.05)


def test_one_measurement_among_many_does_not_decide() -> None:
    cost = PrefillCost()
    for seconds in [1.0] * 9 + [3.0]:
        cost.measured(0, 512, seconds)
    assert cost.per_token(0) * 512 == pytest.approx(1.2)
    for _ in range(30):
        cost.measured(0, 512, 2.0)
    assert cost.per_token(0) * 512 == pytest.approx(2.0, rel=0.05)


@given(st.lists(st.tuples(st.integers(0, 6), st.floats(0.01, 100)), min_size=1, max_size=30))
def test_what_a_busy_machine_slows_down_is_worth_no_more_than_what_is_longer(times: list[tuple[int, float]]) -> None:
    cost = PrefillCost()
    for bucket, seconds in times:
        cost.measured(bucket * BUCKET_TOKENS, 512, seconds)
    curve = [cost.per_token(bucket * BUCKET_TOKENS) for bucket in range(8)]
    assert curve == sorted(curve)
    slowest, fastest = (pick(seconds for _, seconds in times) / 512 for pick in (max, min))
    assert fastest * 0.999 <= curve[0] <= curve[-1] <= slowest * 1.001


def test_what_an_earlier_run_learned_holds_until_it_is_measured_and_is_soon_forgotten_then() -> None:
    before, cost = PrefillCost(), PrefillCost()
    for bucket in range(3):
        before.measured(bucket * BUCKET_TOKENS, 512, 512 * (bucket + 1))
    cost.measured(0, 512, 512 * 0.5)
    cost.remember(before.learned)
    assert [cost.per_token(bucket * BUCKET_TOKENS) for bucket in range(3)] == [0.5, 2, 3]
    assert cost.measured_seconds(0, 2 * BUCKET_TOKENS) == pytest.approx(2.5 * BUCKET_TOKENS)
    for _ in range(9):
        cost.measured(2 * BUCKET_TOKENS, 512, 512 * 7)
    assert cost.per_token(2 * BUCKET_TOKENS) == pytest.approx(6, rel=0.05), (
        "three of twelve measurements were the old one"
    )


def test_measurements_that_rise_are_the_curve() -> None:
    cost = PrefillCost()
    for bucket in (2, 0, 1):
        cost.measured(bucket * BUCKET_TOKENS, 512, 512 * (bucket + 1))
    assert [cost.per_token(bucket * BUCKET_TOKENS) for bucket in range(3)] == [1, 2, 3]


def test_short_chunks_are_a_guess_until_a_whole_one_was_measured() -> None:
    cost = PrefillCost()
    unknown = cost.per_token(0)
    cost.measured(0, 31, 31.0)
    assert cost.per_token(0) == unknown
    cost.measured(0, 40, 0.4)
    assert cost.per_token(5000) == pytest.approx(0.01)
    cost.measured(0, 512, 5.12 / 2)
    cost.measured(1880, 35, 35.0)
    assert cost.per_token(1900) == pytest.approx(0.005)

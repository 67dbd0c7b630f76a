"""What an agent goes on from stays cached, whatever its side calls need, also where memory is short."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cache_checks import check_books
from tests.support.fake_session import FakeWorker

MAIN, SIDE = 300, 200
_numbers = itertools.count(1)


def prompt(length: int) -> list[int]:
    """Tokens that no other prompt begins with."""
    number = next(_numbers)
    return [number % 90, number // 90, *(token % 89 for token in range(number, number + length - 2))]


def worker(budget_tokens: int, slots: int = 4, state_bytes: int = 0) -> FakeWorker:
    return FakeWorker(slots=slots, context=2000, budget_tokens=budget_tokens, state_bytes=state_bytes)


def ask(fake: FakeWorker, tokens: list[int], session: str = "") -> int:
    """Cached tokens of a request; what it left is settled, as in an idle service."""
    sequence, _ = fake.add(tokens, session=session)
    fake.run()
    fake.settle()
    check_books(fake.worker.cache, fake.kv)
    return sequence.cached


@pytest.mark.parametrize(
    ("side", "session"),
    [(SIDE, ""), (MAIN, ""), (3 * MAIN, ""), (SIDE, "agent"), (MAIN - 10, "agent"), (SIDE, "notes")],
)
@pytest.mark.parametrize("seconds", [0, 300])
def test_a_one_off_side_call_does_not_push_out_the_main_prefix(side: int, session: str, seconds: int) -> None:
    fake, main = worker(budget_tokens=MAIN + 30), prompt(MAIN)
    ask(fake, main, "agent")
    fake.time += seconds
    ask(fake, prompt(side), session)
    assert ask(fake, [*main, 1, 2, 3, 4, 5], "agent") >= 0.99 * MAIN


def test_a_title_that_came_first_makes_room_for_the_main_prefix() -> None:
    fake, main = worker(budget_tokens=MAIN + 30), prompt(MAIN)
    ask(fake, prompt(100))
    ask(fake, main, "agent")
    assert ask(fake, [*main, 1, 2, 3], "agent") >= 0.99 * MAIN


def test_the_end_of_a_conversation_stays_through_side_calls_of_every_turn() -> None:
    main = prompt(MAIN)
    fake = worker(budget_tokens=2 * MAIN)
    ask(fake, main, "agent")
    for turn in range(6):
        fake.time += 20
        ask(fake, prompt(3 * MAIN))
        ask(fake, prompt(MAIN - 50))
        longer = [*main, *prompt(30)]
        assert ask(fake, longer, "agent") >= len(main) - 2, f"turn {turn}"
        main = longer


def test_more_prefixes_than_slots_live_side_by_side_where_memory_allows() -> None:
    fake = worker(budget_tokens=7 * MAIN, slots=2)
    mains = [prompt(MAIN) for _ in range(5)]
    for session, main in enumerate(mains):
        ask(fake, main, f"agent {session}")
    for session, main in enumerate(mains):
        assert ask(fake, [*main, 1, 2, 3], f"agent {session}") >= 0.99 * MAIN


def test_what_a_session_left_long_ago_counts_as_used_while_the_session_is() -> None:
    """A main conversation waits for its agents, which are of the same session and other prefixes."""
    for session, kept in (("same", True), ("other", False)):
        fake, main = worker(budget_tokens=2 * MAIN), prompt(MAIN)
        ask(fake, main, "same")
        ask(fake, [*main, 1, 2, 3], "same")
        for _ in range(8):
            fake.time += 3600
            ask(fake, prompt(MAIN - 20), session)
        assert (ask(fake, [*main, 1, 2, 4], "same") >= 0.99 * MAIN) is kept


def test_an_abandoned_session_gives_way_in_the_end() -> None:
    fake, old = worker(budget_tokens=MAIN + 30), prompt(MAIN)
    ask(fake, old, "old")
    ask(fake, [*old, 1, 2], "old")
    fake.time += 7200
    new = prompt(MAIN - 20)
    ask(fake, new, "new")
    assert ask(fake, [*new, 1, 2, 3], "new") >= 0.99 * len(new)


def test_requests_without_a_session_are_evicted_as_ever_the_oldest_first() -> None:
    fake, prompts = worker(budget_tokens=3 * SIDE + 30), [prompt(SIDE) for _ in range(4)]
    for each in prompts:
        fake.time += 10
        ask(fake, each)
    assert ask(fake, [*prompts[3], 1, 2]) >= SIDE
    assert ask(fake, [*prompts[0], 1, 2]) < SIDE


def test_a_model_with_state_keeps_the_main_prefix_too() -> None:
    fake, main = worker(budget_tokens=2 * MAIN, state_bytes=40), prompt(MAIN)
    ask(fake, main, "agent")
    ask(fake, prompt(3 * MAIN))
    assert ask(fake, [*main, 1, 2, 3, 4], "agent") >= 0.99 * MAIN


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "a", "b"]), st.integers(0, 2000)), max_size=25))
def test_sessions_never_break_the_books_or_an_answer(requests: list[tuple[int, str, int]]) -> None:
    fake = worker(budget_tokens=150, slots=2)
    beginnings = [prompt(length) for length in (20, 60, 100, 140)]
    for which, session, seconds in requests:
        fake.time += seconds
        ask(fake, [*beginnings[which], *prompt(6)], session)
        assert fake.worker.cache.held_bytes <= fake.worker.cache.budget_bytes


def test_no_more_sessions_are_remembered_than_are_of_use() -> None:
    fake = worker(budget_tokens=1000)
    for number in range(400):
        ask(fake, prompt(5), f"session {number}")
    assert len(fake.worker.cache._sessions) == 256

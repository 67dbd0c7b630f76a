"""Models with state that cannot be truncated, and with RoPE tables that change with the length."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.engine.events import Finished, PromptScored, Started
from tests.support.cache_checks import check_books
from tests.support.fake_session import FakeWorker, cold_reply

SYSTEM = list(range(1, 61))


def processed(fake: FakeWorker, prompt: list[int], **options: object) -> int:
    """Asks, checks the answer against a cold model's, and returns how many prompt tokens were evaluated."""
    listener = fake.ask(prompt, 4, **options)
    assert listener.tokens == cold_reply(prompt, 4)
    (started,) = listener.of(Started)
    check_books(fake.worker.cache, fake.kv)
    return len(prompt) - started.cached_tokens


def test_an_appended_turn_processes_only_its_own_tokens() -> None:
    fake = FakeWorker(state_bytes=8)
    prompt = [*SYSTEM, 70, 71, 72]
    processed(fake, prompt)
    reply = cold_reply(prompt, 4)
    fake.settle()
    # The last token of a reply has been chosen but not evaluated.
    assert processed(fake, [*prompt, *reply, 80, 81, 82]) == 3 + 1


def test_prompts_resume_at_the_end_of_a_segment() -> None:
    fake = FakeWorker(state_bytes=8)
    processed(fake, [*SYSTEM, 70, 71, 72], boundaries=(30, 60))
    assert processed(fake, [*SYSTEM, 80, 81, 82, 83], boundaries=(30, 60)) == 4
    assert processed(fake, [*SYSTEM[:40], 90, 91, 92], boundaries=(30,)) == 13


def test_where_prompts_parted_the_third_resumes() -> None:
    fake = FakeWorker(state_bytes=8)
    counts = [processed(fake, [*SYSTEM, token, token + 1, token + 2]) for token in (70, 75, 80)]
    assert counts == [63, 63, 3]


def test_a_miss_says_where_the_last_checkpoint_is() -> None:
    fake = FakeWorker(state_bytes=8)
    fake.ask([*SYSTEM, 70, 71], boundaries=(20,))
    (started,) = fake.ask([*SYSTEM[:50], 90, 91]).of(Started)
    assert started.cached_tokens == 20
    assert "token 50" in started.miss_reason and "checkpoint before it is at 20" in started.miss_reason


def test_the_same_prompt_evaluates_two_tokens() -> None:
    fake = FakeWorker(state_bytes=8)
    processed(fake, SYSTEM)
    assert processed(fake, SYSTEM) == 2


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_traffic_on_a_model_with_state_gives_cold_answers(data: st.DataObject) -> None:
    fake = FakeWorker(slots=2, chunk=16, budget_tokens=data.draw(st.sampled_from([0, 60, 10_000])), state_bytes=8)
    listeners = []
    for _ in range(data.draw(st.integers(2, 8))):
        length = data.draw(st.integers(1, 60))
        prompt = [*SYSTEM[:length], *data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=6))]
        boundaries = data.draw(st.lists(st.integers(1, 60), max_size=3))
        _, listener = fake.add(prompt, 5, boundaries=boundaries, use_cache=data.draw(st.integers(0, 5)) > 0)
        listeners.append((prompt, listener))
        if data.draw(st.booleans()):
            fake.run()
        if data.draw(st.booleans()):
            fake.run()
            fake.settle()
    fake.run()
    for prompt, listener in listeners:
        assert listener.tokens == cold_reply(prompt, 5)
    check_books(fake.worker.cache, fake.kv)


# -- LongRoPE ------------------------------------------------------------------------------------------------------


def long_rope_worker(switch: int = 64) -> FakeWorker:
    fake = FakeWorker()
    fake.session.rope_switch = switch
    return fake


def test_short_and_long_prompts_never_share() -> None:
    fake = long_rope_worker()
    processed(fake, SYSTEM[:50])
    long_prompt = [*SYSTEM, *range(60, 90)]
    assert processed(fake, long_prompt) == len(long_prompt)
    assert set(fake.session.long_rope.values()) == {True, False}
    assert processed(fake, [*long_prompt, 5]) == 2
    assert processed(fake, [*SYSTEM[:50], 5, 6]) == 2


def test_a_reply_that_outgrows_the_short_table_is_evaluated_again_with_the_long_one() -> None:
    fake = long_rope_worker(switch=64)
    sequence, listener = fake.add(SYSTEM, 20)
    fake.run()
    assert listener.tokens == cold_reply(SYSTEM, 20)
    assert sequence.long_rope
    (started,), (finished,) = listener.of(Started), listener.of(Finished)
    assert started.prompt_tokens == len(SYSTEM) and finished.timings.generated_tokens == 20
    assert finished.timings.cached_tokens + finished.timings.processed_tokens == len(SYSTEM)
    # 60 tokens with short factors, then prompt and the first five tokens of the reply again with long ones
    assert [tokens for _, tokens in fake.session.prefilled] == [60, 63, 2]
    check_books(fake.worker.cache, fake.kv)


def test_scores_of_a_prompt_are_told_once_though_its_reply_switches_tables() -> None:
    fake = long_rope_worker(switch=64)
    _, listener = fake.add(SYSTEM, 20, prompt_logprobs=1)
    fake.run()
    assert len(listener.of(Started)) == 1
    (scored,) = listener.of(PromptScored)
    assert len(scored.logprobs) == len(SYSTEM) - 1
    assert np.isfinite([score.logprob for score in scored.logprobs]).all()

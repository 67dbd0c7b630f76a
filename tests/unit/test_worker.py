"""The engine's turns on a fake model: what is reused, who waits, what is left after every way a request can end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.engine.events import Failed, Finished, Progress, PromptScored, Started, Token
from pinfill_service.engine.interface import Sampling
from pinfill_service.engine.rows import row_groups
from tests.support.cache_checks import check_books
from tests.support.fake_session import FakeWorker, cold_reply, next_logits

PREFIX = list(range(40)) * 2
A, B = [*PREFIX, 90, 91, 92], [*PREFIX, 80, 81, 82, 83]


def started(listener: object) -> Started:
    return listener.of(Started)[0]  # type: ignore[attr-defined,no-any-return]


def test_a_reply_is_what_a_cold_model_says() -> None:
    fake = FakeWorker()
    listener = fake.ask(A, 10)
    assert listener.tokens == cold_reply(A, 10)
    timings = listener.last.timings  # type: ignore[union-attr]
    assert (timings.cached_tokens, timings.processed_tokens, timings.generated_tokens) == (0, len(A), 10)


def test_one_shots_that_share_a_prefix_process_only_their_payload() -> None:
    fake = FakeWorker()
    fake.ask(A)
    listener = fake.ask(B)
    assert listener.tokens == cold_reply(B, 4)
    timings = listener.last.timings  # type: ignore[union-attr]
    assert (timings.cached_tokens, timings.processed_tokens) == (len(PREFIX), 4)
    assert started(listener).miss_reason == f"left the cached prefix at token {len(PREFIX)}"


def test_the_same_prompt_three_times_gives_the_same_reply_and_evaluates_something() -> None:
    fake = FakeWorker()
    replies = [fake.ask(A) for _ in range(3)]
    assert [reply.tokens for reply in replies] == [cold_reply(A, 4)] * 3
    assert [reply.last.timings.processed_tokens for reply in replies] == [len(A), 2, 2]  # type: ignore[union-attr]


def test_alternating_chats_with_one_system_prompt_keep_everything() -> None:
    fake = FakeWorker(slots=1)
    fake.ask(A)
    fake.ask(B)
    again = fake.ask(A)
    assert started(again).cached_tokens == len(A) - 2 and again.tokens == cold_reply(A, 4)


def test_a_short_live_slot_does_not_hide_a_longer_stored_entry() -> None:
    fake = FakeWorker(slots=1)
    fake.ask(A)
    fake.ask([5, 6, 7, 8, 9])
    fake.ask(PREFIX[:30])
    assert started(fake.ask(A)).cached_tokens == len(A) - 2


def test_a_next_turn_reuses_the_settled_reply() -> None:
    fake = FakeWorker()
    first = fake.ask(A, 20)
    fake.settle()
    turn = [*A, *first.tokens, 70, 71, 72]
    second = fake.ask(turn, 5)
    # The last token of a reply is sampled but never evaluated.
    assert started(second).cached_tokens == len(A) + 19
    assert second.tokens == cold_reply(turn, 5)


def test_a_reply_that_was_not_settled_is_prefilled_with_the_next_turn() -> None:
    fake = FakeWorker()
    first = fake.ask(A, 20)
    turn = [*A, *first.tokens, 70, 71, 72]
    second = fake.ask(turn, 5)
    assert started(second).cached_tokens == len(A)
    assert second.tokens == cold_reply(turn, 5)


def test_long_replies_settle_in_chunks_that_anything_may_interrupt() -> None:
    fake = FakeWorker(slots=1, chunk=16)
    first = fake.ask(A, 50)
    fake.worker.settle()
    assert fake.worker.has_replies
    listener = fake.ask([*A, *first.tokens, 3, 4], 3)
    assert started(listener).cached_tokens == len(A) + 16
    assert listener.tokens == cold_reply([*A, *first.tokens, 3, 4], 3)
    fake.settle()
    check_books(fake.worker.cache, fake.kv)


def test_a_reply_whose_prompt_was_evicted_is_not_settled() -> None:
    fake = FakeWorker(slots=1)
    fake.ask(A, 20)
    fake.worker.cache.evict_all()
    runs = len(fake.session.prefilled)
    fake.settle()
    assert len(fake.session.prefilled) == runs and not list(fake.worker.cache.tree.nodes())


def test_a_reply_is_never_settled_behind_another_prompt() -> None:
    fake = FakeWorker(slots=1)
    first = fake.ask([1, 2, 3, 4], 6)
    second = fake.ask([5, 6, 7, 8], 6)
    fake.settle()
    assert started(fake.ask([5, 6, 7, 8, *second.tokens, 9], 1)).cached_tokens == 4 + 5
    assert started(fake.ask([5, 6, 7, 8, *first.tokens, 9], 1)).cached_tokens == 4


def test_ten_appended_turns_process_only_what_is_new() -> None:
    fake = FakeWorker()
    chat = list(A)
    for turn in range(10):
        listener = fake.ask(chat, 5)
        if turn:
            # the sampled last token, three new ones
            assert listener.last.timings.processed_tokens == 4  # type: ignore[union-attr]
        fake.settle()
        chat = [*chat, *listener.tokens, turn, turn, turn]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_concurrent_prompts_get_their_cold_replies_whatever_is_cached(data: st.DataObject) -> None:
    """Unique markers, any arrival, cancels, little memory: never a foreign token, never another answer."""
    fake = FakeWorker(
        slots=data.draw(st.integers(1, 4)),
        budget_tokens=data.draw(st.sampled_from([0, 100, 300, 100_000])),
        chunk=data.draw(st.sampled_from([16, 33, 64])),
    )
    open_requests = []
    for marker in range(data.draw(st.integers(2, 10))):
        shared = data.draw(st.integers(0, len(PREFIX)))
        prompt = [*PREFIX[:shared], 50 + marker, *data.draw(st.lists(st.integers(40, 45), min_size=1, max_size=40))]
        sequence, listener = fake.add(prompt, data.draw(st.integers(1, 6)), use_cache=data.draw(st.booleans()))
        open_requests.append((sequence, listener))
        for _ in range(data.draw(st.integers(0, 3))):
            fake.worker.turn()
        if data.draw(st.integers(0, 5)) == 0:
            victim = data.draw(st.sampled_from(open_requests))[0]
            fake.worker.cancel(victim, keep_reply=data.draw(st.booleans()))
        elif data.draw(st.booleans()) and not fake.worker.has_work:
            fake.settle()
        check_books(fake.worker.cache, fake.kv)
    fake.run()
    for sequence, listener in open_requests:
        assert isinstance(listener.last, Finished)
        prompt = [int(token) for token in sequence.prompt]
        assert listener.tokens == cold_reply(prompt, len(listener.tokens))
        if listener.last.reason == "length":
            assert len(listener.tokens) == sequence.request.max_tokens
        timings = listener.last.timings
        assert timings.cached_tokens + timings.processed_tokens == len(prompt)
    assert all(node.references == 0 for node in fake.worker.cache.tree.nodes())


def test_eight_cold_requests_prefill_their_common_prefix_once() -> None:
    fake = FakeWorker(slots=8, context=1000)
    prefix = [i % 90 for i in range(400)]
    listeners = [fake.add([*prefix, 91 + i % 5, i, i], 8)[1] for i in range(8)]
    fake.run()
    assert sum(count for _, count in fake.session.prefilled) < len(prefix) + 8 * 10
    assert [listener.tokens for listener in listeners] == [cold_reply([*prefix, 91 + i % 5, i, i], 8) for i in range(8)]


def test_a_short_prompt_waits_for_what_a_long_one_is_about_to_compute() -> None:
    fake = FakeWorker(slots=4, context=2000)
    prefix = [i % 90 for i in range(400)]
    _, long = fake.add([*prefix, *[91] * 600], 2)
    fake.worker.turn()
    _, short = fake.add([*prefix, 92, 93, 94], 2)
    _, unrelated = fake.add([95, 96, 95], 2)
    for _ in range(4):
        fake.worker.turn()
    assert unrelated.done.is_set() and not short.of(Started)
    while not short.done.is_set():
        fake.worker.turn()
    assert not long.done.is_set(), "it waits for the common part only"
    fake.run()
    # a remainder that is not worth waiting for may be computed twice
    assert sum(count for _, count in fake.session.prefilled) < 1000 + 3 + 3 + 64
    assert short.tokens == cold_reply([*prefix, 92, 93, 94], 2)


def test_running_sequences_are_decoded_together() -> None:
    fake = FakeWorker(slots=4)
    for i in range(4):
        fake.add([i, i, i], 10)
    fake.run()
    assert (0, 4) in fake.session.decoded


def test_a_cancelled_prefill_stops_within_a_chunk_and_its_retry_reuses_the_done_chunks() -> None:
    fake = FakeWorker(chunk=16)
    sequence, listener = fake.add(A, 4)
    fake.worker.turn()
    fake.worker.turn()
    fake.worker.cancel(sequence, keep_reply=False)
    fake.run()
    assert listener.last.reason == "cancelled" and not listener.tokens  # type: ignore[union-attr]
    assert sum(count for _, count in fake.session.prefilled) == 32
    retry = fake.ask(A)
    assert started(retry).cached_tokens == 32 and retry.tokens == cold_reply(A, 4)


@pytest.mark.parametrize("keep", [False, True])
def test_a_reply_cut_short_is_kept_only_when_it_was_complete(keep: bool) -> None:
    """A stop string completes a reply, and the next turn repeats it; a client that left will not."""
    fake = FakeWorker()
    sequence, listener = fake.add(A, 50)
    for _ in range(6):
        fake.worker.turn()
    fake.worker.cancel(sequence, keep_reply=keep)
    assert len(listener.tokens) > 3
    assert fake.worker.has_replies == keep
    fake.settle()
    following = started(fake.ask([*A, *listener.tokens, 9, 9], 1))
    assert following.cached_tokens == len(A) + (len(listener.tokens) - 1 if keep else 0)


def test_cancelling_in_the_queue_changes_nobody_else_and_never_runs() -> None:
    fake = FakeWorker(slots=1)
    _, first = fake.add(A, 6)
    waiting, second = fake.add([1, 2, 3], 6)
    fake.worker.turn()
    fake.worker.cancel(waiting, keep_reply=False)
    fake.run()
    assert first.tokens == cold_reply(A, 6)
    assert not second.of(Started) and second.last.reason == "cancelled"  # type: ignore[union-attr]
    assert {slot for slot, _ in fake.session.prefilled} == {0}
    assert sum(count for _, count in fake.session.prefilled) == len(A)


def test_a_long_prefill_does_not_starve_a_short_request_nor_the_other_way_round() -> None:
    fake = FakeWorker(context=2000, chunk=64)
    _, long = fake.add([i % 90 for i in range(1500)], 2)
    fake.worker.turn()
    _, short = fake.add([95, 95, 95], 2)
    for _ in range(4):
        fake.worker.turn()
    assert short.done.is_set() and not long.done.is_set()
    chunks = len(long.of(Progress))
    for i in range(10):
        fake.add([96, i, i], 1)
        fake.worker.turn()
    assert len(long.of(Progress)) >= chunks + 4


def test_a_failed_run_fails_its_request_and_poisons_nothing() -> None:
    fake = FakeWorker(chunk=16)
    fake.ask(B)

    def break_once(slot: int) -> None:
        fake.session.before_run = lambda _: None
        raise RuntimeError("the kernel gave up")

    fake.session.before_run = break_once
    failed = fake.ask(A)
    assert isinstance(failed.last, Failed) and "gave up" in str(failed.last.error)
    check_books(fake.worker.cache, fake.kv)
    assert fake.ask(A).tokens == cold_reply(A, 4)


def test_a_failed_decoding_step_fails_only_the_rows_in_it() -> None:
    fake = FakeWorker(slots=2)
    _, first = fake.add([1, 2, 3], 50)
    fake.worker.turn()

    def broken(slot: int) -> None:
        raise RuntimeError("the kernel gave up")

    fake.session.before_run = broken
    fake.worker.turn()
    fake.session.before_run = lambda _: None
    assert isinstance(first.last, Failed)
    assert fake.ask([1, 2, 3], 5).tokens == cold_reply([1, 2, 3], 5)


def test_kv_of_another_length_than_recorded_is_a_miss_and_is_counted() -> None:
    fake = FakeWorker(slots=1)
    fake.ask(A)
    fake.kv.content[0].pop()
    listener = fake.ask(A)
    assert started(listener).cached_tokens == 0 and listener.tokens == cold_reply(A, 4)
    assert fake.worker.stats().mismatches_total == 1


def test_a_listener_that_raises_stops_nobody() -> None:
    fake = FakeWorker()
    sequence, _ = fake.add(A, 4)
    sequence.on_event = lambda event: 1 / 0
    _, other = fake.add(B, 4)
    fake.run()
    assert other.tokens == cold_reply(B, 4)


def test_without_the_cache_nothing_is_read_and_nothing_is_left() -> None:
    fake = FakeWorker()
    fake.ask(A)
    fake.settle()
    before = fake.worker.stats().cached_tokens
    listener = fake.ask([*A, 7, 8, 9], use_cache=False)
    assert started(listener) == Started(0, len(A) + 3, "the request turned the cache off")
    assert listener.tokens == cold_reply([*A, 7, 8, 9], 4)
    fake.settle()
    assert fake.worker.stats().cached_tokens == before


def test_salts_do_not_share() -> None:
    fake = FakeWorker()
    fake.ask(A, salt="one")
    assert started(fake.ask(A, salt="two")).cached_tokens == 0
    assert started(fake.ask(A, salt="one")).cached_tokens == len(A) - 2


def test_scoring_a_prompt_evaluates_all_of_it_and_tells_every_token() -> None:
    fake = FakeWorker(chunk=16)
    fake.ask(A)
    listener = fake.ask(A, 0, prompt_logprobs=1)
    (scored,) = listener.of(PromptScored)
    assert started(listener).cached_tokens == 0
    assert [item.token_id for item in scored.logprobs] == A[1:]
    assert [item.top[0][0] for item in scored.logprobs] == [
        int(next_logits(A[:end]).argmax()) for end in range(1, len(A))
    ]
    assert not listener.of(Token) and listener.last.reason == "length"  # type: ignore[union-attr]


def test_a_stop_id_ends_the_reply_and_is_not_part_of_it() -> None:
    reply = cold_reply(A, 10)
    fake = FakeWorker()
    listener = fake.ask(A, 10, stop_ids=frozenset({reply[3]}))
    assert listener.tokens == reply[:3] and listener.last.reason == "stop"  # type: ignore[union-attr]


def test_a_reply_ends_where_the_context_ends() -> None:
    fake = FakeWorker(context=len(A) + 3)
    listener = fake.ask(A, 100)
    assert len(listener.tokens) == 3 and listener.last.reason == "length"  # type: ignore[union-attr]


@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 18, 31, 32, 33, 49])
def test_no_chunk_but_a_one_token_prompt_is_a_single_token(length: int) -> None:
    fake = FakeWorker(chunk=16)
    fake.ask([7] * length)
    counts = [count for _, count in fake.session.prefilled]
    assert sum(counts) == length
    assert min(counts) >= 2 or length == 1


def test_a_prompt_of_one_token_is_not_offered_to_others() -> None:
    fake = FakeWorker()
    fake.ask([7])
    assert started(fake.ask([7, 8, 9, 10])).cached_tokens == 0


def test_a_thousand_prompts_stay_within_the_budget() -> None:
    fake = FakeWorker(slots=2, budget_tokens=1000)
    for i in range(1000):
        fake.ask([i % 97, i // 97, *range(30)], 2)
        held = fake.worker.cache.held_bytes
        assert held <= 1000 * fake.kv.bytes_per_token
    assert fake.worker.stats().evictions_total > 500


def test_an_entry_larger_than_the_budget_is_cut_to_it() -> None:
    fake = FakeWorker(slots=1, budget_tokens=200, context=1000)
    long = [i % 97 for i in range(600)]
    fake.ask(long)
    assert fake.worker.cache.held_bytes <= 200 * fake.kv.bytes_per_token
    assert 100 <= started(fake.ask(long)).cached_tokens <= 200


def test_what_is_used_often_outlives_what_was_used_once() -> None:
    fake = FakeWorker(slots=1, budget_tokens=300)
    for i in range(8):
        fake.ask([*PREFIX, i, i])
    for i in range(20):
        fake.ask([50 + i, *range(60)])
    assert started(fake.ask([*PREFIX, 33, 34])).cached_tokens >= len(PREFIX)


def test_seeds_decide_and_the_cache_does_not() -> None:
    sampling = Sampling(temperature=5.0, seed=11)
    cold = FakeWorker().ask(A, 12, sampling=sampling).tokens
    fake = FakeWorker()
    fake.ask(A)
    assert fake.ask(A, 12, sampling=sampling).tokens == cold
    assert fake.ask(A, 12, sampling=Sampling(temperature=5.0, seed=12)).tokens != cold


def test_stats_add_up() -> None:
    fake = FakeWorker()
    fake.ask(A)
    fake.ask(B)
    stats = fake.worker.stats()
    assert stats.prompt_tokens_cached_total + stats.prompt_tokens_processed_total == len(A) + len(B)
    assert stats.evictable_bytes + stats.protected_bytes + stats.unused_bytes == stats.total_bytes > 0
    assert stats.generated_tokens_total == 8 and stats.running == stats.waiting == 0


def test_what_a_longer_prompt_left_behind_in_a_slot_is_no_entrys() -> None:
    fake = FakeWorker(slots=1)
    fake.ask([*range(90)], 1)
    fake.ask([91] * 20, 1)
    stats, per_token = fake.worker.stats(), fake.kv.bytes_per_token
    assert stats.entries == 2 and stats.evictable_bytes == (90 + 20) * per_token
    assert stats.unused_bytes == (90 - 20) * per_token and stats.protected_bytes == 0


@pytest.mark.parametrize(
    ("running", "lengths", "weights", "groups"),
    [
        ([0, 1, 2], {}, 10, [(0, 3)]),
        ([0, 2], {1: 5}, 10, [(0, 3)]),
        ([0, 2], {1: 50}, 10, [(0, 1), (2, 3)]),
        ([1, 5, 6], {2: 4, 3: 4, 4: 4}, 10, [(1, 2), (5, 7)]),
        ([3], {}, 10, [(3, 4)]),
        ([], {}, 10, []),
    ],
)
def test_gaps_are_bridged_while_they_weigh_less_than_the_weights(
    running: list[int], lengths: dict[int, int], weights: float, groups: list[tuple[int, int]]
) -> None:
    assert row_groups(running, lambda slot: lengths.get(slot, 0), weights) == groups


def test_next_logits_depend_on_every_token() -> None:
    assert not np.array_equal(next_logits([1, 2, 3]), next_logits([1, 9, 3]))


def test_a_background_prompt_waits_for_everybody_else() -> None:
    fake = FakeWorker(slots=2, chunk=16)
    background, pinned = fake.add(list(range(80)), 0, background=True, pin=True)
    fake.worker.turn()
    _, user = fake.add([90] * 40, 3)
    while not isinstance(user.events[-1] if user.events else None, Finished):
        fake.worker.turn()
        assert background.evaluated == 16
    fake.run()
    assert isinstance(pinned.last, Finished) and background.evaluated == 80
    check_books(fake.worker.cache, fake.kv)


def test_a_background_prompt_gives_its_only_slot_away_and_goes_on_where_it_was() -> None:
    fake = FakeWorker(slots=1, chunk=16)
    prompt = list(range(80))
    _, pinned = fake.add(prompt, 0, background=True, pin=True)
    fake.worker.turn()
    fake.worker.turn()
    _, user = fake.add([90] * 40, 3)
    fake.run()
    assert user.tokens == cold_reply([90] * 40, 3)
    assert [tokens for _, tokens in fake.session.prefilled] == [16, 16, 16, 16, 8, 16, 16, 16]
    (started,), (finished,) = pinned.of(Started), pinned.of(Finished)
    assert (started.cached_tokens, finished.timings.processed_tokens) == (0, 80)
    fake.worker.cache.evict_all()
    assert fake.worker.cache.reusable("", np.array([*prompt, 5, 6], np.int32)) == 80, "the pin was evicted"
    check_books(fake.worker.cache, fake.kv)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_chunk_leaves_attention_with_a_single_row(data: st.DataObject) -> None:
    """Neither one token nor a multiple of 16 and one: onnxruntime would take other kernels for the last row."""
    chunk = data.draw(st.integers(16, 70))
    fake = FakeWorker(slots=2, chunk=chunk, state_bytes=data.draw(st.sampled_from([0, 8])))
    for _ in range(3):
        prompt = [7] * data.draw(st.integers(0, 90)) + [8] * data.draw(st.integers(2, 90))
        fake.ask(prompt, 1, boundaries=data.draw(st.lists(st.integers(1, 150), max_size=4)))
    lengths = [tokens for _, tokens in fake.session.prefilled]
    assert all(tokens % 16 != 1 for tokens in lengths), lengths
    assert max(lengths) <= chunk + 16


def test_what_is_final_only_with_its_reply_is_found_and_evicted_like_anything_else() -> None:
    fake = FakeWorker(slots=1)
    fake.session.final_from = 65
    prompt = [7] * 60
    replied = [*prompt, *fake.ask(prompt, 8).tokens]
    fake.settle()
    check_books(fake.worker.cache, fake.kv)
    assert started(fake.ask([*replied, 1, 2, 3], 1)).cached_tokens >= 65
    fake.ask([5] * 80, 1)
    fake.ask(prompt, 8)
    fake.worker.cache.budget_bytes = 0
    fake.worker.cache.enforce_budget()
    fake.settle()
    check_books(fake.worker.cache, fake.kv)
    fake.worker.cache.evict_all()
    assert fake.worker.stats().entries == 0 and fake.kv.pool.bytes_used == 0


def test_a_short_prompt_and_its_reply_are_reused_together_once_they_are_final() -> None:
    fake = FakeWorker(slots=2)
    fake.session.final_from = 65
    for prompt in ([7] * 5 + [0] * 58, [7] * 61 + [0, 0], [0, 0]):
        fake.ask(prompt, 3)
        fake.settle()
        check_books(fake.worker.cache, fake.kv)
    first = [7] * 5 + [0] * 58
    assert fake.worker.cache.reusable("", np.array([*first, *cold_reply(first, 3), 1, 2], np.int32)) == 65


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_what_ends_too_early_to_be_final_is_not_reused(data: st.DataObject) -> None:
    fake = FakeWorker(slots=2, chunk=data.draw(st.integers(16, 100)), state_bytes=data.draw(st.sampled_from([0, 8])))
    fake.session.final_from = 65
    for _ in range(4):
        shared, own = data.draw(st.integers(0, 80)), data.draw(st.integers(2, 80))
        prompt = [7] * shared + data.draw(st.lists(st.integers(0, 3), min_size=own, max_size=own))
        listener = fake.ask(prompt, 3, boundaries=data.draw(st.lists(st.integers(1, 150), max_size=4)))
        assert listener.tokens == cold_reply(prompt, 3)
        if len(prompt) < 65:
            (started,) = listener.of(Started)
            assert started.cached_tokens == 0 and "65" in started.miss_reason
        fake.settle()
        check_books(fake.worker.cache, fake.kv)
    for node in fake.worker.cache.tree.nodes():
        assert node.children or node.end >= 65
    for slot, tokens in fake.session.prefilled:
        assert tokens > 1, slot

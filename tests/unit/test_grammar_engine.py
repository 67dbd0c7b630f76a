"""The engine under a grammar: only its tokens, ends where it ends, and nothing of it is left for others."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.engine import sequence as sequence_module
from pinfill_service.engine.errors import EngineError, GrammarError
from pinfill_service.engine.events import Failed, Finished
from pinfill_service.engine.interface import Grammar, Sampling, TokenMatcher
from pinfill_service.engine.sampler import Sampler
from tests.support.cache_checks import check_books
from tests.support.fake_session import VOCABULARY, FakeWorker, cold_reply

PROMPT = list(range(40))
STOP = 96


class Counting:
    """A grammar for the fake model: `length` tokens, each above the one before, wrapping at 90; then the end."""

    def __init__(self, length: int, open_end: int | None = None, fails_at: int | None = None) -> None:
        self.length, self.open_end, self.fails_at = length, open_end, fails_at
        self.made: list[CountingMatcher] = []

    def matcher(self) -> TokenMatcher:
        self.made.append(CountingMatcher(self))
        return self.made[-1]


class CountingMatcher:
    def __init__(self, grammar: Counting) -> None:
        self._grammar = grammar
        self.accepted: list[int] = []

    @property
    def may_end(self) -> bool:
        return self.finished or self._grammar.open_end == len(self.accepted)

    @property
    def finished(self) -> bool:
        return len(self.accepted) == self._grammar.length

    def allows(self, token_id: int) -> bool:
        last = self.accepted[-1] if self.accepted else -1
        return (token_id - last - 1) % 90 < 30 and token_id < 90

    def mask(self) -> bytes:
        if self._grammar.fails_at == len(self.accepted):
            raise ValueError("the library broke")
        bits = [self.allows(token_id) for token_id in range(90)]
        return np.packbits(bits, bitorder="little").tobytes()

    def accept(self, token_id: int) -> None:
        assert self.allows(token_id)
        self.accepted.append(token_id)


def keeps_to(grammar: Grammar, tokens: list[int]) -> bool:
    matcher = grammar.matcher()
    for token_id in tokens:
        matcher.accept(token_id)
    return True


def reason(fake_listener: object) -> str:
    last = fake_listener.last  # type: ignore[attr-defined]
    assert isinstance(last, Finished)
    return last.reason


def test_a_complete_reply_ends_without_another_run_of_the_model() -> None:
    fake, grammar = FakeWorker(), Counting(5)
    listener = fake.ask(PROMPT, 50, grammar=grammar, stop_ids=frozenset({STOP}))
    assert len(listener.tokens) == 5 and keeps_to(Counting(5), listener.tokens)
    assert reason(listener) == "stop" and len(fake.session.decoded) == 4


def test_the_last_token_that_fits_may_complete_it() -> None:
    listener = FakeWorker().ask(PROMPT, 5, grammar=Counting(5))
    assert (len(listener.tokens), reason(listener)) == (5, "stop")


def test_a_reply_that_runs_out_of_tokens_says_so() -> None:
    listener = FakeWorker().ask(PROMPT, 3, grammar=Counting(5))
    assert (len(listener.tokens), reason(listener)) == (3, "length")


@pytest.mark.parametrize("open_end", [0, 2, 4])
def test_stop_ids_are_allowed_exactly_where_the_grammar_may_end(open_end: int) -> None:
    biased = Sampling(temperature=0, logit_bias={STOP: 100.0, 95: 100.0})
    listener = FakeWorker().ask(
        PROMPT, 50, grammar=Counting(5, open_end), stop_ids=frozenset({STOP, 95}), sampling=biased
    )
    assert (len(listener.tokens), reason(listener)) == (open_end, "stop")


def test_a_stop_id_of_the_mask_itself_is_no_way_out() -> None:
    everywhere = frozenset(range(0, 90, 2))
    listener = FakeWorker().ask(PROMPT, 50, grammar=Counting(5), stop_ids=everywhere)
    assert len(listener.tokens) == 5 and everywhere.isdisjoint(listener.tokens)


@pytest.mark.parametrize("fails_at", [0, 1, 4])
def test_a_grammar_that_fails_takes_only_its_own_request_along(fails_at: int, caplog: pytest.LogCaptureFixture) -> None:
    fake = FakeWorker()
    _, broken = fake.add(PROMPT, 20, grammar=Counting(8, fails_at=fails_at))
    _, sound = fake.add([*PROMPT, 50], 20, grammar=Counting(8))
    _, free = fake.add([*PROMPT, 60], 20)
    fake.run()
    assert isinstance(broken.last, Failed) and isinstance(broken.last.error, GrammarError)
    assert len(broken.tokens) == fails_at and "broke" not in str(broken.last.error)
    assert "broke" not in caplog.text, "what a grammar's library says could quote the reply"
    assert len(sound.tokens) == 8 and free.tokens == cold_reply([*PROMPT, 60], 20)
    check_books(fake.worker.cache, fake.kv)


@pytest.mark.parametrize("grammar", [None, Counting(8)], ids=["free", "held to a grammar"])
@pytest.mark.parametrize("broken", ["choose", "token_logprob"])
def test_a_sampler_that_fails_is_no_failure_of_the_grammar(
    broken: str, grammar: Counting | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeWorker()
    sequence, victim = fake.add(PROMPT, 20, grammar=grammar, sampling=Sampling(temperature=0, logprobs=2))
    _, other = fake.add([*PROMPT, 60], 20)

    def breaks(*_: object) -> int:
        raise ValueError("no such axis")

    if broken == "choose":
        monkeypatch.setattr(sequence, "sampler", SimpleNamespace(choose=breaks))
    else:
        monkeypatch.setattr(sequence_module, "token_logprob", breaks)
    fake.run()
    assert isinstance(victim.last, Failed) and type(victim.last.error) is EngineError
    assert "next token" in str(victim.last.error) and not victim.tokens
    assert other.tokens == cold_reply([*PROMPT, 60], 20)
    check_books(fake.worker.cache, fake.kv)


def test_no_token_left_is_an_error_of_the_request() -> None:
    listener = FakeWorker().ask(PROMPT, 9, grammar=Counting(5), stop_ids=frozenset(range(90)))
    assert isinstance(listener.last, Failed) and isinstance(listener.last.error, GrammarError)


def test_a_constrained_reply_is_reused_like_any_other() -> None:
    fake = FakeWorker()
    first = fake.ask(PROMPT, 30, grammar=Counting(20))
    fake.settle()
    turn = [*PROMPT, *first.tokens, 70, 71]
    second = fake.ask(turn, 5)
    assert second.last.timings.cached_tokens == len(PROMPT) + 19  # type: ignore[union-attr]
    assert second.tokens == cold_reply(turn, 5)


def test_a_reply_that_outgrows_the_short_factors_keeps_its_place_in_the_grammar() -> None:
    fake = FakeWorker()
    fake.session.rope_switch = len(PROMPT) + 6
    listener = fake.ask(PROMPT, 30, grammar=Counting(12))
    assert len(listener.tokens) == 12 and keeps_to(Counting(12), listener.tokens)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_rows_with_and_without_grammars_mix_and_none_leaves_a_trace(data: st.DataObject) -> None:
    fake = FakeWorker(slots=data.draw(st.integers(1, 4)), chunk=16)
    shared, requests = Counting(data.draw(st.integers(1, 9)), 3), []
    for marker in range(data.draw(st.integers(2, 8))):
        prompt = [*PROMPT, 50 + marker]
        grammar = data.draw(st.sampled_from([None, shared, Counting(6)]))
        sampling = Sampling(temperature=data.draw(st.sampled_from([0.0, 2.0])), seed=marker, repetition_penalty=1.3)
        if grammar is None:
            sampling = Sampling(temperature=0)
        requests.append((prompt, grammar, *fake.add(prompt, 12, grammar=grammar, sampling=sampling)))
        for _ in range(data.draw(st.integers(0, 4))):
            fake.worker.turn()
        if data.draw(st.booleans()):
            fake.worker.cancel(requests[0][2], keep_reply=True)
    fake.run()
    for prompt, grammar, _, listener in requests:
        if grammar is None:
            assert listener.tokens == cold_reply(prompt, 12)[: len(listener.tokens)]
        else:
            assert keeps_to(grammar, listener.tokens)
            assert reason(listener) == "cancelled" or len(listener.tokens) == grammar.length
    check_books(fake.worker.cache, fake.kv)


HARD: dict[str, Callable[[np.ndarray], None]] = {
    "minus infinity in all that is allowed": lambda logits: logits.put([3, 7, 11], -np.inf),
    "NaN in some": lambda logits: logits.put([3, 11], np.nan),
    "NaN in all": lambda logits: logits.put([3, 7, 11], np.nan),
    "infinity elsewhere": lambda logits: logits.put([0, 5], np.inf),
    "infinity in two": lambda logits: logits.put([3, 7], np.inf),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0),
        Sampling(temperature=2.0, seed=1, top_k=2),
        Sampling(seed=1, top_p=0.5, min_p=0.1),
        Sampling(temperature=0, presence_penalty=1.5, repetition_penalty=2.0, logit_bias={0: 100.0, 7: -100.0}),
    ],
)
def test_no_forbidden_token_is_chosen_whatever_the_logits_are(name: str, sampling: Sampling) -> None:
    logits = np.random.default_rng(0).standard_normal(VOCABULARY).astype(np.float32)
    HARD[name](logits)
    sampler = Sampler(sampling, np.array([1, 2], np.int32), VOCABULARY)
    allowed = np.array([3, 7, 11])
    assert {sampler.choose(logits, allowed) for _ in range(50)} <= {3, 7, 11}


def test_a_mask_of_everything_changes_nothing() -> None:
    logits = np.random.default_rng(0).standard_normal((40, VOCABULARY)).astype(np.float32)
    for sampling in (
        Sampling(seed=3, temperature=1.5, top_k=9, top_p=0.9),
        Sampling(temperature=0, logit_bias={5: 2.0}),
    ):
        free, masked = (Sampler(sampling, np.empty(0, np.int32), VOCABULARY) for _ in range(2))
        everything = np.arange(VOCABULARY)
        assert [free.choose(row) for row in logits] == [masked.choose(row, everything) for row in logits]

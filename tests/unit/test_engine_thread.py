"""The engine thread around the worker: queue, cancellation, shutdown, idleness."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from pinfill_service.engine import scheduler
from pinfill_service.engine.errors import ContextLengthError, EngineBusyError, EngineClosedError, EngineError
from pinfill_service.engine.events import Failed, Finished
from pinfill_service.engine.interface import GenerationRequest, ModelInfo, Sampling
from pinfill_service.engine.scheduler import OnnxEngine
from tests.support.fake_session import VOCABULARY, FakeWorker, Listener, cold_reply

GREEDY = Sampling(temperature=0)
WAIT = 30  # seconds; only a broken engine takes them


class Rig:
    """An engine on the fake model whose runs can be held."""

    def __init__(self, **options: int) -> None:
        self.fake = FakeWorker(slots=2, chunk=16)
        info = ModelInfo("fake", "0" * 64, 500, VOCABULARY, 4, "CPUExecutionProvider", "")
        self.engine = OnnxEngine(info, self.fake.worker, **options)
        self.gate = threading.Event()
        self.entered = threading.Event()

    def hold(self) -> None:
        """The next run of the model waits for `gate`."""

        def wait(slot: int) -> None:
            self.entered.set()
            assert self.gate.wait(WAIT)

        self.fake.session.before_run = wait

    def submit(self, prompt: list[int], max_tokens: int = 4) -> tuple[int, Listener]:
        listener = Listener()
        return self.engine.submit(GenerationRequest(prompt, max_tokens, GREEDY), listener), listener


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig(queue_limit=3)
    yield made
    made.gate.set()
    made.engine.close()


def test_requests_from_many_threads_are_answered(rig: Rig) -> None:
    answers: dict[int, list[int]] = {}

    def client(number: int) -> None:
        _, listener = rig.submit([number, 5, 6])
        assert listener.done.wait(WAIT)
        answers[number] = listener.tokens

    threads = [threading.Thread(target=client, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert answers == {number: cold_reply([number, 5, 6], 4) for number in range(3)}


@pytest.mark.parametrize("prompt", [[], [-1], [VOCABULARY], [1, 2, 10**6]])
def test_prompts_that_are_no_prompts_are_refused(rig: Rig, prompt: list[int]) -> None:
    with pytest.raises(EngineError):
        rig.submit(prompt)


def test_a_prompt_that_fills_the_context_is_refused_with_both_numbers(rig: Rig) -> None:
    with pytest.raises(ContextLengthError) as caught:
        rig.submit([1] * 500)
    assert (caught.value.prompt_tokens, caught.value.context_length) == (500, 500)
    assert "500" in str(caught.value)


def test_a_full_queue_is_said_at_once_and_empties_again(rig: Rig) -> None:
    rig.hold()
    listeners = [rig.submit([i, i])[1] for i in range(3)]
    with pytest.raises(EngineBusyError):
        rig.submit([9, 9])
    rig.gate.set()
    assert all(listener.done.wait(WAIT) for listener in listeners)
    assert rig.submit([9, 9])[1].done.wait(WAIT)


def test_cancelling_stops_after_the_chunk_that_runs(rig: Rig) -> None:
    rig.hold()
    request_id, listener = rig.submit([3] * 200)
    assert rig.entered.wait(WAIT)
    rig.engine.cancel(request_id)
    rig.gate.set()
    assert listener.done.wait(WAIT)
    assert isinstance(listener.last, Finished) and listener.last.reason == "cancelled"
    assert rig.fake.session.prefilled == [(0, 16)]


def test_cancelling_what_is_unknown_or_done_changes_nothing(rig: Rig) -> None:
    request_id, listener = rig.submit([1, 2])
    assert listener.done.wait(WAIT)
    rig.engine.cancel(request_id)
    rig.engine.cancel(12345)
    assert rig.submit([1, 2])[1].done.wait(WAIT)
    assert not rig.engine._cancelled


def test_closing_fails_what_runs_and_refuses_what_comes(rig: Rig) -> None:
    rig.hold()
    _, running = rig.submit([3] * 200)
    _, waiting = rig.submit([4] * 20)
    assert rig.entered.wait(WAIT)
    closer = threading.Thread(target=rig.engine.close)
    closer.start()
    with rig.engine._changed:
        assert rig.engine._changed.wait_for(lambda: rig.engine._closing, WAIT)
    rig.gate.set()
    closer.join(WAIT)
    for listener in (running, waiting):
        assert isinstance(listener.last, Failed) and isinstance(listener.last.error, EngineClosedError)
    with pytest.raises(EngineClosedError):
        rig.submit([1, 2])
    assert rig.engine.stats().running == 0


def test_closing_twice_is_harmless(rig: Rig) -> None:
    rig.engine.close()
    rig.engine.close()


def test_a_bug_in_a_turn_fails_the_requests_and_the_engine_lives_on(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        monkeypatch.undo()
        raise KeyError("a bug")

    monkeypatch.setattr(rig.fake.worker, "turn", broken)
    assert isinstance(_finished(rig.submit([1, 2])[1]), Failed)
    assert isinstance(_finished(rig.submit([1, 2])[1]), Finished)


def _finished(listener: Listener) -> object:
    assert listener.done.wait(WAIT)
    return listener.last


def test_stats_answer_while_a_chunk_runs(rig: Rig) -> None:
    rig.hold()
    rig.submit([3] * 200)
    assert rig.entered.wait(WAIT)
    assert rig.engine.stats().slots == 2


def test_a_reply_settles_once_nobody_asks(rig: Rig) -> None:
    settled = threading.Event()
    settle = rig.fake.worker.settle
    rig.fake.worker.settle = lambda: (settle(), settled.set())  # type: ignore[method-assign]
    prompt = [1, 2, 3]
    _, listener = rig.submit(prompt, 6)
    assert settled.wait(WAIT)
    _, second = rig.submit([*prompt, *listener.tokens, 9, 9], 2)
    assert second.done.wait(WAIT)
    assert second.last.timings.cached_tokens == 3 + 5  # type: ignore[union-attr]


def test_an_idle_engine_gives_back_what_nothing_holds(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    for prompt in ([1] * 100, [2] * 100, [3] * 20):
        assert rig.submit(prompt, 1)[1].done.wait(WAIT)
    before = rig.engine.stats()
    assert before.unused_bytes > 0
    monkeypatch.setattr(scheduler, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(scheduler, "_GIVE_BACK_AFTER_SECONDS", 0.0)
    end = time.monotonic() + WAIT
    while rig.engine.stats().unused_bytes:
        assert time.monotonic() < end
        time.sleep(0.01)
    after = rig.engine.stats()
    assert (after.entries, after.evictable_bytes) == (3, before.evictable_bytes)
    assert after.total_bytes == before.total_bytes - before.unused_bytes


def test_an_idle_engine_uses_no_cpu(rig: Rig) -> None:
    assert rig.submit([1])[1].done.wait(WAIT)
    # A reply is settled first, and what else runs here takes turns with that: one of the spans is quiet.
    assert any(_is_quiet(rig.engine._thread.native_id) for _ in range(20))


def _is_quiet(thread_id: int | None) -> bool:
    """Whether a thread slept through a second."""
    before, woken = _cpu_seconds(thread_id), _switches(thread_id)
    time.sleep(1.0)  # the span that is measured, not a wait for something
    return _cpu_seconds(thread_id) - before <= 0.02 and _switches(thread_id) - woken <= 2


def _cpu_seconds(thread_id: int | None) -> float:
    (thread,) = [thread for thread in psutil.Process().threads() if thread.id == thread_id]
    return float(thread.user_time + thread.system_time)


def _switches(thread_id: int | None) -> int:
    """How often the kernel has woken a thread."""
    with open(f"/proc/self/task/{thread_id}/status") as file:
        return sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)

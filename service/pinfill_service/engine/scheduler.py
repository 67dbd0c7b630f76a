"""The one engine thread. The rest of the program asks it through a queue and is answered by events."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.engine.constraint import make_constraint
from pinfill_service.engine.errors import ContextLengthError, EngineBusyError, EngineClosedError, EngineError
from pinfill_service.engine.events import Event, Failed, Finished
from pinfill_service.engine.interface import EngineStats, GenerationRequest, ModelInfo
from pinfill_service.engine.persistence import Persistence
from pinfill_service.engine.prefixes import WorkerPrefixes
from pinfill_service.engine.sampler import Sampler
from pinfill_service.engine.sequence import Sequence
from pinfill_service.engine.worker import Worker

log = logging.getLogger(__name__)

# Replies are evaluated again (Worker.settle) once nobody asked for anything this long.
SETTLE_AFTER_SECONDS = 0.5
# An idle engine looks this often whether the system needs memory back.
_LOOK_SECONDS = 5.0
# Memory that nothing holds goes back once nobody asked for anything this long. Sooner, a long prompt that comes back
# after a short one would wait for fresh pages (measured: a sixth longer for its first token).
_GIVE_BACK_AFTER_SECONDS = 60.0
# How long a question waits for a chunk to end before it is answered with what was known last.
_STATS_WAIT_SECONDS = 0.25


Call = Callable[[Callable[[], None]], None]


class OnnxEngine:
    """Implements `interface.Engine` on ONNX Runtime. Public methods are safe from any thread."""

    def __init__(
        self,
        model: ModelInfo,
        worker: Worker,
        *,
        queue_limit: int = 256,
        clock: Callable[[], float] = time.monotonic,
        open_files: Callable[[Call], Persistence] | None = None,
        disk_budget_bytes: int = 0,
    ) -> None:
        """`open_files` gets the function that runs another one on the engine thread; see WorkerPrefixes."""
        self._model, self._worker = model, worker
        self._clock, self._queue_limit = clock, queue_limit
        self._ids = itertools.count(1)
        self._changed = threading.Condition()
        # Guarded by _changed:
        self._inbox: deque[Sequence] = deque()
        self._cancelled: dict[int, bool] = {}
        self._calls: deque[Callable[[], None]] = deque()
        self._closing = self._ended = False
        self._open: set[int] = set()
        # The engine thread's own:
        self._idle_since = self._looked = clock()
        self.prefixes = WorkerPrefixes(worker, self.call, clock, open_files, disk_budget_bytes)
        self._last_stats = worker.stats()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    # -- called from any thread ----------------------------------------------------------------------------------

    @property
    def model(self) -> ModelInfo:
        return self._model

    @property
    def cost(self) -> PrefillCost:
        return self._worker.cost

    def submit(self, request: GenerationRequest, on_event: Callable[[Event], None]) -> int:
        prompt = np.array(request.prompt, np.int32)
        if len(prompt) >= self._model.context_length:
            raise ContextLengthError(len(prompt), self._model.context_length)
        if not len(prompt) or prompt.min() < 0 or prompt.max() >= self._model.vocab_size:
            raise EngineError("The prompt is empty or holds token ids outside the vocabulary.")
        sampler = Sampler(request.sampling, prompt, self._model.vocab_size)
        constraint = make_constraint(request, self._model.vocab_size)
        with self._changed:
            if self._closing:
                raise EngineClosedError("The service is shutting down.")
            if len(self._open) >= self._queue_limit:
                raise EngineBusyError(f"{len(self._open)} requests are waiting already; try again later.")
            request_id = next(self._ids)
            listener = self._closing_listener(request_id, on_event)
            self._open.add(request_id)
            sequence = Sequence(request_id, request, listener, prompt, sampler, self._clock(), constraint)
            self._inbox.append(sequence)
            self._changed.notify()
        return sequence.id

    def cancel(self, request_id: int, *, keep_reply: bool = False) -> None:
        with self._changed:
            if request_id in self._open:
                self._cancelled[request_id] = keep_reply
                self._changed.notify()

    def _closing_listener(self, request_id: int, on_event: Callable[[Event], None]) -> Callable[[Event], None]:
        """Passes events on and takes the request off the books before its last one."""

        def listen(event: Event) -> None:
            if isinstance(event, Finished | Failed):
                with self._changed:
                    self._open.discard(request_id)
                    self._cancelled.pop(request_id, None)
            on_event(event)

        return listen

    def stats(self) -> EngineStats:
        """Fresh; or the last known ones where a chunk keeps the engine busy for longer than a moment."""
        ready = threading.Event()

        def answer() -> None:
            self._last_stats = self._worker.stats()
            ready.set()

        with self._changed:
            if self._closing:
                return self._last_stats
            self._calls.append(answer)
            self._changed.notify()
        ready.wait(_STATS_WAIT_SECONDS)
        return self._last_stats

    def call(self, function: Callable[[], None]) -> None:
        """Runs a function on the engine thread, between two chunks. Raises EngineClosedError when that has ended."""
        with self._changed:
            if self._ended:
                raise EngineClosedError("The service is shutting down.")
            self._calls.append(function)
            self._changed.notify()

    def close(self) -> None:
        self.prefixes.close()
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    # -- the engine thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        while self._take_in():
            try:
                self._turn()
            except Exception:  # a bug here must not leave clients waiting for ever
                log.exception("the engine's turn failed; running requests are given up")
                self._worker.fail(self._worker.sequences, EngineError("Internal error in the engine."))
        self._worker.fail(self._worker.sequences, EngineClosedError("The service is shutting down."))
        self._last_stats = self._worker.stats()
        with self._changed:
            self._ended = True
            calls = list(self._calls)
        self._run_calls(calls)

    @staticmethod
    def _run_calls(calls: list[Callable[[], None]]) -> None:
        for call in calls:
            try:
                call()
            except Exception:  # whoever asked is not told, but everybody else is served
                log.exception("something asked of the engine thread failed")

    def _turn(self) -> None:
        if self._worker.has_work:
            self._worker.turn()
            self._idle_since = self._clock()
        elif self._worker.has_replies and self._seconds_to_settle() <= 0:
            self._worker.settle()

    def _seconds_to_settle(self) -> float:
        return self._idle_since + SETTLE_AFTER_SECONDS - self._clock()

    def _seconds_to_look(self) -> float:
        return self._looked + _LOOK_SECONDS - self._clock()

    def _look_at_memory(self, *, is_idle: bool) -> None:
        self._looked = self._clock()
        self._worker.cache.enforce_budget()
        if is_idle and self._looked - self._idle_since >= _GIVE_BACK_AFTER_SECONDS:
            self._worker.cache.give_back_unused()

    def _take_in(self) -> bool:
        """Waits for something to do and takes it from the other threads. False: time to stop."""
        with self._changed:
            while not (self._inbox or self._calls or self._cancelled or self._closing or self._worker.has_work):
                look = self._seconds_to_look()
                wait = min(look, self._seconds_to_settle()) if self._worker.has_replies else look
                if wait <= 0:
                    break
                self._changed.wait(wait)
            arrived, self._inbox = list(self._inbox), deque()
            calls, self._calls = list(self._calls), deque()
            cancelled, self._cancelled = dict(self._cancelled), {}
            closing = self._closing
        if self._seconds_to_look() <= 0:
            self._look_at_memory(is_idle=not (arrived or self._worker.has_work))
        for sequence in arrived:
            self._worker.add(sequence)
        self._run_calls(calls)
        for sequence in self._worker.sequences if cancelled else []:
            if sequence.id in cancelled:
                self._worker.cancel(sequence, keep_reply=cancelled[sequence.id])
        return not closing

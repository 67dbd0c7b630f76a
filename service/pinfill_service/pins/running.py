"""Engine requests that a thread waits for."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pinfill_service.engine.events import Event, Failed, Finished, Progress, Started, Token, TokenLogprob
from pinfill_service.engine.interface import Engine, GenerationRequest


class BlockingRequest:
    """One request, submitted by `run`. `on_progress(cached, done, total)` is called on the engine thread."""

    def __init__(
        self,
        engine: Engine,
        request: GenerationRequest,
        on_progress: Callable[[int, int, int], None] | None = None,
    ) -> None:
        self._engine, self._request, self._on_progress = engine, request, on_progress
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._id: int | None = None
        self._cancelled = False
        self._finished: Finished | None = None
        self._failed: Failed | None = None
        self.cached = 0
        self.scores: list[TokenLogprob] = []

    def run(self) -> Finished:
        """Waits for the end. Raises EngineError. Cancelled before it began: as if it had been cancelled at once."""
        request_id = self._engine.submit(self._request, self._on_event)
        with self._lock:
            self._id, cancelled = request_id, self._cancelled
        if cancelled:
            self._engine.cancel(request_id)
        self._ended.wait()  # every request ends: with Finished, or with Failed when the engine closes
        if self._failed is not None:
            raise self._failed.error
        assert self._finished is not None
        return self._finished

    def cancel(self) -> None:
        """From any thread, also before `run`."""
        with self._lock:
            self._cancelled, request_id = True, self._id
        if request_id is not None:
            self._engine.cancel(request_id)

    def _on_event(self, event: Event) -> None:
        match event:
            case Started():
                self.cached = event.cached_tokens
                self._report(event.cached_tokens, event.prompt_tokens)
            case Progress():
                self._report(event.done, event.total)
            case Token(_, logprob) if logprob is not None:
                self.scores.append(logprob)
            case Finished():
                self._finished = event
                self._ended.set()
            case Failed():
                self._failed = event
                self._ended.set()

    def _report(self, done: int, total: int) -> None:
        if self._on_progress is not None:
            self._on_progress(self.cached, done, total)

"""An engine without a model: it plays a script for every request, on a thread of its own."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pinfill_service.engine.interface import (
    ContextLengthError,
    EngineClosedError,
    EngineError,
    EngineStats,
    Event,
    Failed,
    Finished,
    FinishReason,
    GenerationRequest,
    ModelInfo,
    Progress,
    PromptScored,
    Started,
    Timings,
    Token,
    TokenLogprob,
)

LIMIT_SECONDS = 20  # a test that waits this long has failed


class Gate:
    """A place in a script where the engine waits until the test opens it, or the request is cancelled."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._opened = threading.Event()

    def open(self) -> None:
        self._opened.set()

    def wait(self, cancelled: threading.Event) -> None:
        self.reached.set()
        while not self._opened.wait(0.005) and not cancelled.is_set():
            pass


Step = Event | Gate
Script = Callable[[GenerationRequest], Iterator[Step]]


@dataclass(frozen=True)
class Reply:
    """A script: prefill in chunks, then these tokens. `at` puts gates in front of tokens, by position."""

    tokens: Sequence[int]
    cached: int = 0
    chunk: int = 512
    reason: FinishReason = "stop"
    at: tuple[tuple[int, Gate], ...] = ()
    prefill_gate: Gate | None = None
    error: EngineError | None = None

    def __call__(self, request: GenerationRequest) -> Iterator[Step]:
        total = len(request.prompt)
        yield Started(self.cached, total, f"left the cached prefix at token {self.cached}")
        for done in range(self.cached + self.chunk, total, self.chunk):
            yield Progress(done, total)
            if self.prefill_gate is not None:
                yield self.prefill_gate
        yield Progress(total, total)
        if request.prompt_logprobs is not None:
            yield PromptScored(tuple(score(token, request.prompt_logprobs) for token in request.prompt[1:]))
        tokens = self.tokens[: request.max_tokens]
        for position, token in enumerate(tokens):
            yield from (gate for where, gate in self.at if where == position)
            k = request.sampling.logprobs
            yield Token(token, None if k is None else score(token, k))
        if self.error is not None:
            yield Failed(self.error)
            return
        reason = "length" if len(self.tokens) > request.max_tokens else self.reason
        yield Finished(reason, Timings(self.cached, total - self.cached, 0.5, 0.0, len(tokens), 0.25))


def score(token: int, k: int) -> TokenLogprob:
    """A log probability that can be recognised in an answer: minus the id, in thousandths."""
    return TokenLogprob(token, -token / 1000, tuple((other, -other / 1000) for other in range(token, token + k)))


class FakeEngine:
    """Implements the Engine protocol. Requests run one after another; `requests` and `cancelled` record the calls."""

    def __init__(self, script: Script, *, context_length: int = 512, vocab_size: int = 512) -> None:
        self.script = script
        self.requests: list[GenerationRequest] = []
        self.cancelled: list[int] = []
        self.idle = threading.Event()
        self.idle.set()
        self.refuse: EngineError | None = None
        self.crash: Exception | None = None
        self._model = ModelInfo("fake-model", "f" * 64, context_length, vocab_size, 1024, "fake", "")
        self._ids = itertools.count(1)
        self._queue: queue.Queue[tuple[int, GenerationRequest, Callable[[Event], None]] | None] = queue.Queue()
        self._flags: dict[int, threading.Event] = {}
        self._closed = False
        self._open = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="fake-engine", daemon=True)
        self._thread.start()

    @property
    def model(self) -> ModelInfo:
        return self._model

    def submit(self, request: GenerationRequest, on_event: Callable[[Event], None]) -> int:
        if self.crash is not None:
            raise self.crash
        if self.refuse is not None:
            raise self.refuse
        if self._closed:
            raise EngineClosedError("closed")
        if len(request.prompt) >= self._model.context_length:
            raise ContextLengthError(len(request.prompt), self._model.context_length)
        request_id = next(self._ids)
        with self._lock:
            self.requests.append(request)
            self._flags[request_id] = threading.Event()
            self._open += 1
            self.idle.clear()
        self._queue.put((request_id, request, on_event))
        return request_id

    def cancel(self, request_id: int, *, keep_reply: bool = False) -> None:
        self.cancelled.append(request_id)
        flag = self._flags.get(request_id)
        if flag is not None:
            flag.set()

    def stats(self) -> EngineStats:
        numbers = dict.fromkeys(EngineStats.__dataclass_fields__, 0)
        return replace(
            EngineStats(**numbers), running=self._open, prompt_tokens_cached_total=7, saved_seconds_total=1.5
        )

    def close(self) -> None:
        self._closed = True
        for flag in self._flags.values():
            flag.set()
        self._queue.put(None)
        self._thread.join(LIMIT_SECONDS)

    @property
    def closed(self) -> bool:
        return self._closed and not self._thread.is_alive()

    def wait_idle(self) -> bool:
        """Whether every request came to its end within the limit."""
        return self.idle.wait(LIMIT_SECONDS)

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            self._play(*job)
            with self._lock:
                self._open -= 1
                if not self._open:
                    self.idle.set()

    def _play(self, request_id: int, request: GenerationRequest, on_event: Callable[[Event], None]) -> None:
        flag = self._flags[request_id]
        generated = 0
        for step in self.script(request):
            if isinstance(step, Gate):
                step.wait(flag)
            if flag.is_set():
                total = len(request.prompt)
                on_event(Finished("cancelled", Timings(0, total, 0.5, 0.0, generated, 0.25)))
                return
            if not isinstance(step, Gate):
                generated += isinstance(step, Token)
                on_event(step)

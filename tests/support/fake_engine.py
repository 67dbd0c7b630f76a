"""An engine without a model: it plays a script for every request, on a thread of its own."""

from __future__ import annotations

import itertools
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TypeVar

from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.engine.errors import ContextLengthError, EngineClosedError, EngineError
from pinfill_service.engine.events import (
    Event,
    Failed,
    Finished,
    FinishReason,
    Progress,
    PromptScored,
    Started,
    Timings,
    Token,
    TokenLogprob,
)
from pinfill_service.engine.interface import (
    DiskState,
    EngineStats,
    EntryInfo,
    Eviction,
    GenerationRequest,
    ModelInfo,
    PrefixState,
)
from pinfill_service.pins.content import common_length

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


Value = TypeVar("Value")
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


class FakePrefixes:
    """Remembers every prompt that was evaluated; all answers come at once. `disk_problem` is what `save` fails with.

    `files` outlive an engine when they are given to the next one, like a folder of KV files.
    """

    def __init__(self, bytes_per_token: int, files: set[tuple[int, ...]] | None = None) -> None:
        self.files = set() if files is None else files
        self.cached = set(self.files)
        self.pins: Counter[tuple[int, ...]] = Counter()
        self.set_aside: list[str] = []
        self.evictions: list[Eviction] = []
        self.memory_budget = self.disk_budget = 1 << 30
        self.disk_problem: OSError | None = None
        self._bytes = bytes_per_token

    def known(self, token_ids: Sequence[int]) -> int:
        """How many of these tokens are cached."""
        wanted = list(token_ids)
        shared = (common_length(list(cached), wanted) for cached in self.cached)
        return max(shared, default=0)

    def damage(self, token_ids: Sequence[int], sentence: str) -> None:
        """A file turns out to be unusable, and what it held is gone."""
        lost = tuple(token_ids)
        self.files.discard(lost)
        self.cached = {other for other in self.cached if other != lost}
        del self.pins[lost]
        self.set_aside.append(sentence)

    def entries(self) -> Future[list[EntryInfo]]:
        return _done([self._entry(ids) for ids in sorted(self.cached)])

    def state(self, token_ids: Sequence[int]) -> Future[PrefixState]:
        known, whole = self.known(token_ids), tuple(token_ids) in self.cached
        return _done(PrefixState(known, whole, tuple(token_ids) in self.files))

    def pin(self, token_ids: Sequence[int]) -> Future[bool]:
        if self.known(token_ids) < len(token_ids):
            return _done(False)
        self.cached.add(tuple(token_ids))
        self.pins[tuple(token_ids)] += 1
        return _done(True)

    def unpin(self, token_ids: Sequence[int]) -> Future[None]:
        self.pins[tuple(token_ids)] -= 1
        if not self.pins[tuple(token_ids)]:
            del self.pins[tuple(token_ids)]
            self.files.discard(tuple(token_ids))
        return _done(None)

    def save(self, token_ids: Sequence[int]) -> Future[None]:
        future: Future[None] = Future()
        if self.known(token_ids) < len(token_ids):
            future.set_exception(LookupError("not cached in full"))
        elif self.disk_problem is not None:
            future.set_exception(self.disk_problem)
        else:
            self.files.add(tuple(token_ids))
            future.set_result(None)
        return future

    def evict(self, entry_id: str) -> Future[bool]:
        found = [ids for ids in self.cached if fake_entry_id(ids) == entry_id and not self.pins[ids]]
        self.forget(found)
        return _done(bool(found))

    def evict_unpinned(self) -> Future[int]:
        found = [ids for ids in self.cached if not self.pins[ids]]
        self.forget(found)
        return _done(len(found))

    def forget(self, found: Sequence[tuple[int, ...]], salt: str = "") -> None:
        """Evicts prefixes, as an engine does that needs room."""
        self.cached -= set(found)
        self.files -= set(found)
        self.evictions += [Eviction(fake_entry_id(ids), salt, list(ids), 60.0) for ids in found]

    def take_evictions(self) -> Future[list[Eviction]]:
        taken, self.evictions = self.evictions, []
        return _done(taken)

    def disk(self) -> DiskState | None:
        used = sum(map(len, self.files)) * self._bytes
        return DiskState(used, self.disk_budget, tuple(self.set_aside)) if self.disk_budget else None

    def set_budgets(self, memory_bytes: int, disk_bytes: int) -> Future[None]:
        self.memory_budget, self.disk_budget = memory_bytes, disk_bytes
        return _done(None)

    def _entry(self, ids: tuple[int, ...]) -> EntryInfo:
        size, on_disk, pinned = len(ids) * self._bytes, ids in self.files, self.pins[ids] > 0
        return EntryInfo(
            fake_entry_id(ids),
            len(ids),
            0,
            size,
            on_disk * size,
            True,
            pinned,
            False,
            0,
            5.0,
            len(ids) / 100,
            list(ids),
        )


def fake_entry_id(token_ids: Sequence[int]) -> str:
    return f"entry-{hash(tuple(token_ids)) & 0xFFFFFFFF:08x}"


def _done(value: Value) -> Future[Value]:
    future: Future[Value] = Future()
    future.set_result(value)
    return future


class FakeEngine:
    """Implements the Engine protocol. Requests run one after another; `requests` and `cancelled` record the calls."""

    def __init__(
        self,
        script: Script,
        *,
        context_length: int = 512,
        vocab_size: int = 512,
        name: str = "fake-model",
        fingerprint: str = "f" * 64,
        files: set[tuple[int, ...]] | None = None,
    ) -> None:
        self.script = script
        self.requests: list[GenerationRequest] = []
        self.cancelled: list[int] = []
        self.idle = threading.Event()
        self.idle.set()
        self.refuse: EngineError | None = None
        self.crash: Exception | None = None
        self._model = ModelInfo(name, fingerprint, context_length, vocab_size, 1024, "fake", "")
        self._cost = PrefillCost()
        self.prefixes = FakePrefixes(self._model.kv_bytes_per_token, files)
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

    @property
    def cost(self) -> PrefillCost:
        """Nothing was measured, unless by the test."""
        return self._cost

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
            EngineStats(**numbers),
            running=self._open,
            prompt_tokens_cached_total=7,
            saved_seconds_total=1.5,
            budget_bytes=self.prefixes.memory_budget,
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
            if isinstance(step, Progress) and step.done == step.total and request.use_cache:
                self.prefixes.cached.add(tuple(request.prompt))
                self.prefixes.pins[tuple(request.prompt)] += request.pin
            if not isinstance(step, Gate):
                generated += isinstance(step, Token)
                on_event(step)

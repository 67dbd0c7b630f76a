"""A model whose next token depends on every token before it, and an engine on it that needs no ONNX Runtime.

Its "KV" is the token ids themselves (FakeKv), so an answer differs as soon as a single foreign token is reused.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pinfill_service.engine.constraint import make_constraint
from pinfill_service.engine.events import Event, Failed, Finished, Token
from pinfill_service.engine.interface import GenerationRequest, Sampling
from pinfill_service.engine.rows import row_groups
from pinfill_service.engine.sampler import Sampler
from pinfill_service.engine.sequence import Sequence
from pinfill_service.engine.worker import Worker
from tests.support.fake_kv import FakeKv

VOCABULARY = 97


def next_logits(tokens: list[int]) -> NDArray[np.float32]:
    """Logits that change, all of them, when any of `tokens` does."""
    digest = hashlib.sha256(np.array(tokens, np.int64).tobytes()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    return 3 * rng.standard_normal(VOCABULARY, np.float32)


def cold_reply(prompt: list[int], count: int) -> list[int]:
    """What a model with an empty cache answers, greedily."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(int(next_logits(tokens).argmax()))
    return tokens[len(prompt) :]


class FakeSession:
    """Implements `machine.Session` over FakeKv. `before_run` may raise, block or look."""

    weight_bytes = 1000

    def __init__(self, kv: FakeKv) -> None:
        self.kv = kv
        self.rope_switch: int | None = None
        self.final_from = 0
        self.long_rope: dict[int, bool] = {}
        self.prefilled: list[tuple[int, int]] = []  # slot, tokens
        self.decoded: list[tuple[int, int]] = []  # first, last
        self.before_run: Callable[[int], None] = lambda slot: None

    def prefill(self, slot: int, ids: NDArray[np.int64], logits: int) -> NDArray[np.float32]:
        self.before_run(slot)
        self.prefilled.append((slot, len(ids)))
        start = self.kv.length(slot)
        self.kv.run(slot, ids.tolist())
        content = self.kv.content[slot]
        ends = range(start + len(ids) - min(logits, len(ids)) + 1, start + len(ids) + 1)
        return np.stack([next_logits(content[:end]) for end in ends])

    def groups(self, running: list[int]) -> list[tuple[int, int]]:
        return row_groups(running, self.kv.length, self.weight_bytes / self.kv.bytes_per_token)

    def use_long_rope(self, slot: int, long: bool) -> None:
        self.long_rope[slot] = long

    def decode(self, first: int, last: int, ids: list[int | None]) -> NDArray[np.float32]:
        self.before_run(first)
        self.decoded.append((first, last))
        rows = []
        for slot, token in zip(range(first, last), ids, strict=True):
            if token is not None:
                self.kv.run(slot, [token])
            rows.append(next_logits(self.kv.content[slot]))
        return np.stack(rows)


@dataclass
class Listener:
    """Collects a request's events."""

    events: list[Event] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, Finished | Failed):
            self.done.set()

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def tokens(self) -> list[int]:
        return [event.token_id for event in self.of(Token)]

    @property
    def last(self) -> Event:
        return self.events[-1]


class FakeWorker:
    """A Worker on the fake model, driven turn by turn by the test."""

    def __init__(
        self, slots: int = 4, context: int = 500, budget_tokens: int = 100_000, chunk: int = 64, state_bytes: int = 0
    ) -> None:
        self.kv = FakeKv(slots, context, state_bytes=state_bytes)
        self.session = FakeSession(self.kv)
        self.time = 0.0
        self.worker = Worker(
            self.session,
            self.kv,
            context_length=context,
            budget_bytes=budget_tokens * self.kv.bytes_per_token,
            chunk_tokens=chunk,
            clock=self._tick,
        )
        self._next_id = 0

    def _tick(self) -> float:
        self.time += 0.001
        return self.time

    def add(self, prompt: list[int], max_tokens: int = 4, **options: object) -> tuple[Sequence, Listener]:
        options.setdefault("sampling", Sampling(temperature=0))
        request = GenerationRequest(prompt, max_tokens, **options)  # type: ignore[arg-type]
        listener, array = Listener(), np.array(prompt, np.int32)
        self._next_id += 1
        sampler = Sampler(request.sampling, array, VOCABULARY)
        constraint = make_constraint(request, VOCABULARY)
        sequence = Sequence(self._next_id, request, listener, array, sampler, self._tick(), constraint)
        self.worker.add(sequence)
        return sequence, listener

    def run(self) -> None:
        """Turns until nothing is left to do."""
        for _ in range(10_000):
            if not self.worker.has_work:
                return
            self.worker.turn()
        raise AssertionError("the worker never came to rest")

    def settle(self) -> None:
        while self.worker.has_replies:
            self.worker.settle()

    def ask(self, prompt: list[int], max_tokens: int = 4, **options: object) -> Listener:
        _, listener = self.add(prompt, max_tokens, **options)
        self.run()
        return listener

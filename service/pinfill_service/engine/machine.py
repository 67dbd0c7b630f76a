"""What all sequences of an engine run on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.cache.prefix_cache import PrefixCache
from pinfill_service.engine.interface import EngineStats
from pinfill_service.engine.kv import KvSlots


class Session(Protocol):
    """What the engine's turns need of a model in memory; `session.DecoderSession` is the real one."""

    rope_switch: int | None
    final_from: int  # results of a chunk that ends before this many tokens depend on where it ends

    def groups(self, running: list[int]) -> list[tuple[int, int]]: ...
    def use_long_rope(self, slot: int, long: bool) -> None: ...
    def prefill(self, slot: int, ids: NDArray[np.int64], logits: int) -> NDArray[np.float32]: ...
    def decode(self, first: int, last: int, ids: list[int | None]) -> NDArray[np.float32]: ...


@dataclass(slots=True)
class Totals:
    """Tokens and seconds of everything that ran."""

    cached: int = 0
    processed: int = 0
    generated: int = 0
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    saved_seconds: float = 0.0


@dataclass(slots=True)
class Machine:
    """The model in memory with its slots, what is cached of it, what a prefill costs, and the limits of a run."""

    session: Session
    kv: KvSlots
    cache: PrefixCache
    cost: PrefillCost
    clock: Callable[[], float]
    context_length: int
    chunk_tokens: int
    no_reuse: str | None  # why this model's KV must never be reused; None when it may
    totals: Totals = field(default_factory=Totals)

    def needs_long_rope(self, length: int) -> bool:
        """Whether a text of this many tokens is beyond what the model's short factors are for."""
        switch = self.session.rope_switch
        return switch is not None and length > switch

    def stats(self, *, running: int, waiting: int) -> EngineStats:
        cache, totals = self.cache.stats(), self.totals
        return EngineStats(
            running=running,
            waiting=waiting,
            slots=self.kv.count,
            entries=cache.entries,
            cached_tokens=cache.tokens,
            total_bytes=cache.total_bytes,
            protected_bytes=cache.protected_bytes,
            evictable_bytes=cache.evictable_bytes,
            unused_bytes=cache.unused_bytes,
            budget_bytes=self.cache.budget_bytes,
            prompt_tokens_cached_total=totals.cached,
            prompt_tokens_processed_total=totals.processed,
            generated_tokens_total=totals.generated,
            prefill_seconds_total=totals.prefill_seconds,
            decode_seconds_total=totals.decode_seconds,
            saved_seconds_total=totals.saved_seconds,
            evictions_total=cache.evictions,
            mismatches_total=cache.mismatches,
            short_of_memory=self.cache.system.is_short,
        )

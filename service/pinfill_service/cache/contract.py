"""What the prefix cache needs of KV memory, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class NoSlotError(RuntimeError):
    """Every slot is running a sequence."""


class KvStore(Protocol):
    """What the cache needs of KV memory; `engine.kv.KvSlots` is the real one."""

    count: int
    max_length: int
    bytes_per_token: int

    @property
    def resident_bytes(self) -> int: ...
    @property
    def has_state(self) -> bool: ...
    @property
    def state_bytes(self) -> int: ...
    @property
    def pool(self) -> Any: ...
    def length(self, slot: int) -> int: ...
    def touched(self, slot: int) -> int: ...
    def truncate(self, slot: int, length: int) -> None: ...
    def fork(self, source: int, target: int, start: int, end: int) -> None: ...
    def export(self, slot: int, start: int, end: int) -> Any: ...
    def load(self, span: Any, slot: int, limit: int | None = None) -> None: ...
    def discard_dead(self, slot: int) -> None: ...
    def checkpoint(self, slot: int) -> Any: ...
    def restore(self, slot: int, checkpoint: Any) -> None: ...


@dataclass(frozen=True, slots=True)
class Claim:
    """A slot to run in, its cursor standing behind the `cached` tokens that are reused; `reason` for what is not.

    `known` tokens of the prompt were seen before: where state has to be computed again, a checkpoint is due there.
    """

    slot: int
    cached: int
    reason: str | None
    known: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A prefix of `tokens`, of which `spans`, in order, are the KV from `start` on, with the states at some lengths.

    Of a prefix that comes from a file, the spans are empty: its KV stays where it is.
    """

    namespace: str
    tokens: NDArray[np.int32]
    start: int
    spans: Sequence[Any]
    checkpoints: Mapping[int, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of the tree, from the first token to where nothing goes on, or to where a pin ends."""

    namespace: str
    token_ids: NDArray[np.int32]
    shared_tokens: int  # of them with other entries
    memory_bytes: int
    disk_bytes: int
    pinned: bool
    in_use: bool
    hits: int
    last_used: float


@dataclass(frozen=True, slots=True)
class Evicted:
    """A prefix that was cached in full until a time on the cache's clock; some of its end is not any more."""

    namespace: str
    token_ids: NDArray[np.int32]
    at: float


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Counts of one moment; protected + evictable + unused == total, which is all the memory that KV takes.

    `evictable_bytes` is what entries hold that nothing protects, and second copies of what is protected; nothing holds
    what is unused.
    """

    entries: int
    tokens: int
    total_bytes: int
    protected_bytes: int
    evictable_bytes: int
    evictions: int
    mismatches: int

    @property
    def unused_bytes(self) -> int:
        return self.total_bytes - self.protected_bytes - self.evictable_bytes

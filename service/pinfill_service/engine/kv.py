"""KV memory: the slots that a graph runs on.

All tensors of one shape share one anonymous mapping [tensors, slots, heads, max_length, head_size]: slot i is row i of
every tensor, neighbouring slots are a batch, and pages nobody touched cost no memory. Moving a slot's cursor back is
all that truncation takes: what lies beyond it is dead and is overwritten by the next tokens.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pinfill_service.engine.pages import (
    PAGE_TOKENS,
    KvMemoryError,
    Page,
    PagePool,
    PageShape,
    Piece,
    StoredSpan,
    anonymous,
)

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class KvTensor:
    """One layer's keys or values as the graph names them; [batch, heads, length, head_size]."""

    past: str
    present: str
    heads: int
    head_size: int
    dtype: np.dtype[Any]
    window: int | None = None  # positions a token attends to, itself included; None: all before it

    @property
    def bytes_per_token(self) -> int:
        return self.heads * self.head_size * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class StateTensor:
    """State of fixed size beside KV (convolution, SSM); [batch, *shape]. It cannot be truncated."""

    past: str
    present: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size_bytes(self) -> int:
        return int(np.prod(self.shape)) * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A slot's non-truncatable state at `length`; by itself the handle under which the holder keeps it."""

    length: int
    state: tuple[Array, ...]


class _Group:
    """Tensors of equal shape and their slots, in one mapping."""

    def __init__(self, tensors: Sequence[KvTensor], slots: int, max_length: int) -> None:
        self.tensors = tuple(tensors)
        self.heads, self.head_size, self.dtype = tensors[0].heads, tensors[0].head_size, tensors[0].dtype
        shape = (len(tensors), slots, self.heads, max_length, self.head_size)
        size = int(np.prod(shape)) * self.dtype.itemsize
        try:
            self.memory = anonymous(size)
        except (OSError, OverflowError) as error:
            raise KvMemoryError(
                f"no memory for {slots} slots of {max_length:,} tokens ({size / 2**30:.1f} GiB): {error}"
            ) from error
        self.array: Array = np.frombuffer(self.memory, self.dtype).reshape(shape)

    @property
    def page_shape(self) -> PageShape:
        return PageShape(len(self.tensors), self.heads, self.head_size, self.dtype)

    def discard(self, slot: int, start: int, end: int) -> None:
        """Returns the memory of positions [start, end) to the system where the system offers that."""
        advice = getattr(mmap, "MADV_DONTNEED", None)
        if advice is None:
            return
        row_bytes = self.head_size * self.dtype.itemsize
        for tensor in range(len(self.tensors)):
            for head in range(self.heads):
                row = self.array[tensor, slot, head]
                base = row.__array_interface__["data"][0] - self.array.__array_interface__["data"][0]
                first = -(-(base + start * row_bytes) // mmap.PAGESIZE) * mmap.PAGESIZE
                last = (base + end * row_bytes) // mmap.PAGESIZE * mmap.PAGESIZE
                if last > first:
                    self.memory.madvise(advice, first, last - first)


class KvSlots:
    """The slots of a model and the one place that knows how long each one's KV is.

    Invariants: 0 <= length(slot) <= max_length; positions at or beyond it are dead; `touched(slot)` positions have cost
    memory; `returned(slot)` are the slot's tokens and nothing else; `state_is_current(slot)` exactly when its state is
    that of its first `length` tokens: an empty slot's is zero, and truncation, fork and load leave it behind until a
    checkpoint is restored. Not thread-safe.
    """

    def __init__(
        self, tensors: Sequence[KvTensor], slots: int, max_length: int, states: Sequence[StateTensor] = ()
    ) -> None:
        by_shape: dict[tuple[int, int, str], list[KvTensor]] = {}
        for tensor in tensors:
            by_shape.setdefault((tensor.heads, tensor.head_size, tensor.dtype.str), []).append(tensor)
        self.count = slots
        self.max_length = max_length
        self.bytes_per_token = sum(tensor.bytes_per_token for tensor in tensors)
        # One position more than a sequence may have: a batched step writes a junk token behind rows that do not run.
        self._groups = [_Group(group, slots, max_length + 1) for group in by_shape.values()]
        self._states = {state: np.zeros((slots, *state.shape), state.dtype) for state in states}
        self.state_bytes = sum(state.size_bytes for state in states)
        self._lengths = [0] * slots
        self._state_lengths = [0] * slots
        self._touched = [0] * slots
        self._returned: tuple[int, list[Array]] | None = None
        self.pool = PagePool([group.page_shape for group in self._groups])

    def length(self, slot: int) -> int:
        return self._lengths[slot]

    def touched(self, slot: int) -> int:
        return self._touched[slot]

    def returned(self, slot: int) -> list[Array] | None:
        """The tensors, [1, heads, length, head_size] each, that a graph returned for just what the slot holds now."""
        return self._returned[1] if self._returned is not None and self._returned[0] == slot else None

    def keep_returned(self, slot: int, tensors: list[Array]) -> None:
        """Keeps what a graph returned as long as nothing happens to the slot; of the latest one only."""
        self._returned = (slot, tensors)

    @property
    def has_state(self) -> bool:
        """Whether sequences carry state that cannot be truncated."""
        return bool(self._states)

    def state_is_current(self, slot: int) -> bool:
        return not self._states or self._state_lengths[slot] == self._lengths[slot]

    @property
    def resident_bytes(self) -> int:
        """Memory that slots have touched, and what a graph returned of one of them."""
        returned = 0 if self._returned is None else sum(array.nbytes for array in self._returned[1])
        return sum(self._touched) * self.bytes_per_token + returned

    def tensors(self) -> Iterable[tuple[KvTensor, Array]]:
        """Every tensor with its [slots, heads, max_length + 1, head_size] array."""
        for group in self._groups:
            yield from zip(group.tensors, group.array, strict=True)

    def states(self) -> Iterable[tuple[StateTensor, Array]]:
        """Every state tensor with its [slots, *shape] array."""
        return self._states.items()

    def appended(self, slot: int, count: int) -> None:
        """The graph wrote `count` tokens at the cursor, and the state behind them."""
        if not self.state_is_current(slot):
            raise RuntimeError(f"slot {slot} ran on the state of another length")
        self._move(slot, self._lengths[slot] + count)
        self._state_lengths[slot] = self._lengths[slot]

    def truncate(self, slot: int, length: int) -> None:
        """Moves the cursor back to `length`: positions [length, ...) are dead."""
        if not 0 <= length <= self._lengths[slot]:
            raise ValueError(f"slot {slot} holds {self._lengths[slot]} tokens and cannot be truncated to {length}")
        if length < self._lengths[slot]:
            self._lengths[slot] = length
            self._drop_returned(slot)
        if length == 0:
            self._state_lengths[slot] = 0
            for array in self._states.values():
                array[slot] = 0

    def fork(self, source: int, target: int, start: int, end: int) -> None:
        """Copies positions [start, end) of `source` to `target`, whose cursor stands at `start` and moves to `end`."""
        if self._lengths[target] != start or end > self._lengths[source]:
            raise ValueError(f"cannot copy {start}..{end} from a slot of {self._lengths[source]} tokens")
        for group in self._groups:
            group.array[:, target, :, start:end] = group.array[:, source, :, start:end]
        self._move(target, end)

    def export(self, slot: int, start: int, end: int) -> StoredSpan:
        """Copies positions [start, end) into pages. Raises KvMemoryError; then nothing is kept."""
        if not 0 <= start < end <= self._lengths[slot]:
            raise ValueError(f"cannot export {start}..{end} of a slot of {self._lengths[slot]} tokens")
        pieces: list[Piece] = []
        try:
            for first in range(start, end, PAGE_TOKENS):
                pieces.append(Piece(self.pool.allocate(), 0, min(PAGE_TOKENS, end - first)))
        except KvMemoryError:
            StoredSpan(self.pool, pieces).free()
            raise
        for first, piece in zip(range(start, end, PAGE_TOKENS), pieces, strict=True):
            for group, page in zip(self._groups, piece.page.arrays, strict=True):
                page[:, :, : piece.count] = group.array[:, slot, :, first : first + piece.count]
        return StoredSpan(self.pool, pieces)

    def mapped_span(
        self,
        arrays: Sequence[Array],
        *,
        release: Callable[[], None],
        is_sound: Callable[[], bool],
        put_away: Callable[[], None],
    ) -> StoredSpan:
        """A span over memory that is somewhere else: one [tensors, heads, tokens, head_size] for each group.

        `release` is called when the span and everything split from it is freed; `is_sound` before its KV is used, and
        `put_away` afterwards.
        Raises ValueError for other shapes.
        """
        tokens = arrays[0].shape[2] if arrays and arrays[0].ndim == 4 else 0
        wanted = [(len(group.tensors), group.heads, tokens, group.head_size) for group in self._groups]
        if not tokens or [array.shape for array in arrays] != wanted:
            raise ValueError("KV of other shapes than this model's")
        if [array.dtype for array in arrays] != [group.dtype for group in self._groups]:
            raise ValueError("KV of another type than this model's")
        page = Page(tuple(arrays), release, is_sound, put_away)
        page.users = 1
        return StoredSpan(self.pool, [Piece(page, 0, tokens)])

    @property
    def group_count(self) -> int:
        """How many arrays a stored span has: one for each shape of KV tensors."""
        return len(self._groups)

    @property
    def layout(self) -> str:
        """Shapes and types of a token's KV and of the state, in words; equal for models whose KV can be exchanged."""
        kv = [f"{len(g.tensors)}x{g.heads}x{g.head_size} {g.dtype.name}" for g in self._groups]
        states = [f"{'x'.join(map(str, state.shape))} {state.dtype.name}" for state in self._states]
        return f"kv {', '.join(kv)}; state {', '.join(states) or 'none'}"

    def load(self, span: StoredSpan, slot: int, limit: int | None = None) -> None:
        """Copies the first `limit` tokens of a span (all by default) behind the slot's cursor and moves it."""
        rest = span.count if limit is None else min(limit, span.count)
        position = self._lengths[slot]
        if position + rest > self.max_length:
            raise ValueError(f"{rest} tokens do not fit behind position {position} of {self.max_length}")
        for piece in span.pieces:
            take = min(piece.count, rest)
            for group, page in zip(self._groups, piece.page.arrays, strict=True):
                group.array[:, slot, :, position : position + take] = page[:, :, piece.offset : piece.offset + take]
            position, rest = position + take, rest - take
            piece.page.put_away()
        self._move(slot, position)

    def checkpoint(self, slot: int) -> Checkpoint:
        """Remembers the slot's non-truncatable state at its present length."""
        if not self.state_is_current(slot):
            raise ValueError(f"the state of slot {slot} is not that of its {self._lengths[slot]} tokens")
        return Checkpoint(self._lengths[slot], tuple(array[slot].copy() for array in self._states.values()))

    def stored_checkpoint(self, length: int, state: Sequence[Array]) -> Checkpoint:
        """A checkpoint whose state is somewhere else. Raises ValueError for state of other shapes."""
        wanted = [(tensor.shape, tensor.dtype) for tensor in self._states]
        if [(array.shape, array.dtype) for array in state] != wanted:
            raise ValueError("state of other shapes or types than this model's")
        return Checkpoint(length, tuple(state))

    def restore(self, slot: int, checkpoint: Checkpoint) -> None:
        """Goes back to a checkpoint of a sequence whose KV the slot still holds."""
        self.truncate(slot, checkpoint.length)
        for array, saved in zip(self._states.values(), checkpoint.state, strict=True):
            array[slot] = saved
        self._state_lengths[slot] = checkpoint.length

    def discard_dead(self, slot: int) -> None:
        """Gives the memory beyond the cursor back to the system where the system offers that, and what was returned."""
        self._drop_returned(slot)
        if hasattr(mmap, "MADV_DONTNEED") and self._touched[slot] > self._lengths[slot]:
            for group in self._groups:
                group.discard(slot, self._lengths[slot], self._touched[slot] + 1)
            self._touched[slot] = self._lengths[slot]

    def _move(self, slot: int, length: int) -> None:
        if length > self.max_length:
            raise ValueError(f"slot {slot} cannot hold {length} tokens")
        self._drop_returned(slot)
        self._lengths[slot] = length
        self._touched[slot] = max(self._touched[slot], length)

    def _drop_returned(self, slot: int) -> None:
        if self._returned is not None and self._returned[0] == slot:
            self._returned = None

"""Pages that keep stretches of KV when a slot is needed for something else, and spans over them."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

FREE_BYTES = 16 << 20  # of pages that stay warm for the next one that is stored
PAGE_TOKENS = 32  # small enough that a short tail wastes little, large enough that a copy is one call for each page

Array = NDArray[Any]


class KvMemoryError(MemoryError):
    """The system did not give the memory that was asked for."""


def anonymous(size: int) -> mmap.mmap:
    """Zeroed memory of this process alone: shared mappings, Python's default, cannot be handed back page by page."""
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)


def _yes() -> bool:
    return True


def _nothing() -> None:
    """Pages of the pool stay as they are once they were read."""


class Page:
    """Tokens of KV of every tensor, shared by the spans that look into it: PAGE_TOKENS of them, or a whole file."""

    __slots__ = ("arrays", "is_sound", "put_away", "release", "users")

    def __init__(
        self,
        arrays: tuple[Array, ...],
        release: Callable[[], None] | None = None,
        is_sound: Callable[[], bool] = _yes,
        put_away: Callable[[], None] = _nothing,
    ) -> None:
        self.arrays = arrays  # one [tensors, heads, tokens, head_size] for each group
        self.release = release  # called when nobody looks into it any more; None: it goes back to the pool
        self.is_sound = is_sound  # False: what it holds must not be used
        self.put_away = put_away  # called when it was read
        self.users = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """Tokens [offset, offset + count) of a page."""

    page: Page
    offset: int
    count: int


class StoredSpan:
    """KV of consecutive tokens in pages. Splitting copies nothing: both parts may look into the page at the cut."""

    __slots__ = ("_pieces", "_pool")

    def __init__(self, pool: PagePool, pieces: Sequence[Piece]) -> None:
        self._pool = pool
        self._pieces = tuple(pieces)

    @property
    def count(self) -> int:
        """Tokens in the span."""
        return sum(piece.count for piece in self._pieces)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return self._pieces

    def split(self, count: int) -> tuple[StoredSpan, StoredSpan]:
        left: list[Piece] = []
        right: list[Piece] = []
        for piece in self._pieces:
            take = min(max(count, 0), piece.count)
            if take:
                left.append(Piece(piece.page, piece.offset, take))
            if take < piece.count:
                right.append(Piece(piece.page, piece.offset + take, piece.count - take))
            if 0 < take < piece.count:
                piece.page.users += 1
            count -= piece.count
        self._pieces = ()
        return StoredSpan(self._pool, left), StoredSpan(self._pool, right)

    def share(self) -> StoredSpan:
        """Another span over the same memory, which stays until both are freed."""
        for piece in self._pieces:
            piece.page.users += 1
        return StoredSpan(self._pool, self._pieces)

    def is_sound(self) -> bool:
        """Whether its KV may be used. The first answer for KV in a file takes reading all of the file."""
        return all(piece.page.is_sound() for piece in self._pieces)

    def arrays(self, group: int) -> list[Array]:
        """The KV of one group of tensors, in order: [tensors, heads, n, head_size] each."""
        return [p.page.arrays[group][:, :, p.offset : p.offset + p.count] for p in self._pieces]

    def free(self) -> None:
        for piece in self._pieces:
            piece.page.users -= 1
            assert piece.page.users >= 0
            if piece.page.users == 0:
                (piece.page.release or partial(self._pool.take_back, piece.page))()
        self._pieces = ()


@dataclass(frozen=True, slots=True)
class PageShape:
    """What a page holds of the KV tensors that have one shape."""

    tensors: int
    heads: int
    head_size: int
    dtype: np.dtype[Any]


class PagePool:
    """Pages in use and a few free ones, which are warm: touching fresh memory costs five times a copy."""

    def __init__(self, groups: Sequence[PageShape]) -> None:
        self._shapes = [(group.tensors, group.heads, PAGE_TOKENS, group.head_size) for group in groups]
        self._dtypes = [group.dtype for group in groups]
        sizes = [int(np.prod(shape)) * dtype.itemsize for shape, dtype in zip(self._shapes, self._dtypes, strict=True)]
        self.page_bytes = sum(sizes)
        self._sizes = sizes
        self._free: list[Page] = []
        self._keep_free = max(1, FREE_BYTES // self.page_bytes)
        self.used = 0

    @property
    def bytes_used(self) -> int:
        """Memory of the pages in use."""
        return self.used * self.page_bytes

    @property
    def bytes_free(self) -> int:
        """Memory of the pages that wait for the next use, at most FREE_BYTES or one page."""
        return len(self._free) * self.page_bytes

    def trim(self, size: int) -> None:
        """Gives free pages back to the system until they take at most `size` bytes."""
        del self._free[max(0, size) // self.page_bytes :]

    def allocate(self) -> Page:
        page = self._free.pop() if self._free else self._create()
        page.users = 1
        self.used += 1
        return page

    def take_back(self, page: Page) -> None:
        self.used -= 1
        if len(self._free) < self._keep_free:
            self._free.append(page)

    def _create(self) -> Page:
        try:
            memory = anonymous(self.page_bytes)
        except OSError as error:
            raise KvMemoryError(f"no memory for {self.page_bytes:,} bytes of cached KV: {error}") from error
        arrays, offset = [], 0
        for shape, dtype, size in zip(self._shapes, self._dtypes, self._sizes, strict=True):
            arrays.append(np.frombuffer(memory, dtype, size // dtype.itemsize, offset).reshape(shape))
            offset += size
        return Page(tuple(arrays))

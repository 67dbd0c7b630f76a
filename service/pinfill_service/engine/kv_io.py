"""Gives a graph the KV of slots: as memory it appends to, or as tensors it returns longer than it got them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pinfill_service.engine.kv import KvSlots, KvTensor

# The plain kernel adds up values in blocks of keys: MLAS works on 128 x 128 numbers, which narrower heads make longer.
_BLOCK_NUMBERS = 128 * 128

Array = NDArray[Any]


class KvIo(Protocol):
    """One way of giving a graph its KV."""

    batches: bool  # whether several slots can be one run

    def binding(self, first: int, last: int, tokens: int) -> Any:
        """An io_binding with past and present of slots [first, last) bound; each row appends `tokens`."""
        ...

    def ran(self, first: int, rows: list[bool], tokens: int) -> None:
        """The run succeeded; the rows marked True count, and their KV must reach the slots."""
        ...


def bind(call: Any, name: str, array: Array, offset: int = 0) -> None:
    """Binds an array's memory, `offset` bytes from its start, without a copy. The caller keeps it alive."""
    call(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data + offset)


def window_step(head_size: int) -> int:
    """What windowed layers' views begin at multiples of. Anywhere else the blocks that are added up would be others.

    Measured on onnxruntime 1.32 and heads of 16 to 256: differences are exactly 0 with whole blocks, and only then.
    """
    return _BLOCK_NUMBERS // min(128, 1 << (head_size - 1).bit_length())


class InPlaceKv:
    """For graphs that append to the buffer they are given: past and present are the same memory.

    Bindings are made once for each view of slots, because 60 bind calls a token are felt. Windowed layers get a view
    that begins at `window_start`: the same rows and strides from a later address. Nothing needs to be contiguous for
    that, whatever the number of KV heads: the operator reaches only the positions its lengths name, never the end of
    the view, which overlaps the beginning of the next row.
    """

    batches = True

    def __init__(self, session: Any, kv: KvSlots) -> None:
        self._session, self._kv = session, kv
        self._whole = [(tensor, array) for tensor, array in kv.tensors() if tensor.window is None]
        self._windowed = [(tensor, array) for tensor, array in kv.tensors() if tensor.window is not None]
        self._window = max((tensor.window or 0 for tensor, _ in self._windowed), default=0)
        self._step = max((window_step(tensor.head_size) for tensor, _ in self._windowed), default=1)
        self._bindings: dict[tuple[int, int], Any] = {}
        self._starts: dict[tuple[int, int], int] = {}

    def window_start(self, first: int, last: int) -> int:
        """The first position that windowed layers of these rows may look at, rounded down to whole steps."""
        shortest = min(self._kv.length(slot) for slot in range(first, last))
        return max(0, shortest - self._window + 1) // self._step * self._step

    def binding(self, first: int, last: int, tokens: int) -> Any:
        view = (first, last)
        if view not in self._bindings:
            self._bindings[view] = self._session.io_binding()
            self._bind(self._bindings[view], self._whole, first, last, 0)
        if self._windowed:
            start = self.window_start(first, last)
            if self._starts.get(view) != start:
                self._bind(self._bindings[view], self._windowed, first, last, start)
                self._starts[view] = start
        return self._bindings[view]

    @staticmethod
    def _bind(binding: Any, tensors: list[tuple[KvTensor, Array]], first: int, last: int, start: int) -> None:
        for tensor, array in tensors:
            rows, offset = array[first:last], start * tensor.head_size * tensor.dtype.itemsize
            bind(binding.bind_input, tensor.past, rows, offset)
            bind(binding.bind_output, tensor.present, rows, offset)

    def ran(self, first: int, rows: list[bool], tokens: int) -> None:
        for row, runs in enumerate(rows):
            if runs:
                self._kv.appended(first + row, tokens)


class GrowingKv:
    """For graphs that return past and new KV concatenated.

    The slots stay the truth. What a run returned is the next run's past, without a copy, as long as nothing happened to
    the slot since; otherwise the past is copied out of the slot first.
    """

    batches = False

    def __init__(self, session: Any, kv: KvSlots) -> None:
        self._session, self._kv = session, kv
        self._tensors = list(kv.tensors())
        self._past: list[Array] = []
        self._present: list[Array] = []

    def binding(self, first: int, last: int, tokens: int) -> Any:
        assert last == first + 1
        length = self._kv.length(first)
        self._past = self._kv.returned(first) or [
            np.ascontiguousarray(array[first:last, :, :length]) for _, array in self._tensors
        ]
        self._present = [
            np.empty((1, tensor.heads, length + tokens, tensor.head_size), tensor.dtype) for tensor, _ in self._tensors
        ]
        binding = self._session.io_binding()
        for (tensor, _), past, present in zip(self._tensors, self._past, self._present, strict=True):
            bind(binding.bind_input, tensor.past, past)
            bind(binding.bind_output, tensor.present, present)
        return binding

    def ran(self, first: int, rows: list[bool], tokens: int) -> None:
        assert rows == [True]
        length = self._kv.length(first)
        for (_, array), present in zip(self._tensors, self._present, strict=True):
            array[first, :, length : length + tokens] = present[0, :, length:]
        self._kv.appended(first, tokens)
        self._kv.keep_returned(first, self._present)
        self._past, self._present = [], []

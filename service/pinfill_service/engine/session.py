"""Runs a decoder graph over slots: feeds token ids, appends KV, returns logits."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pinfill_service.engine.kv import KvSlots, KvTensor, StateTensor
from pinfill_service.engine.kv_io import GrowingKv, InPlaceKv, KvIo, bind
from pinfill_service.engine.layout import LayoutError, ModelLayout
from pinfill_service.engine.layout_names import layers_of
from pinfill_service.engine.provider_choice import ProviderChoice, on_cpu
from pinfill_service.engine.provider_session import open_session
from pinfill_service.engine.row_check import rows_are_independent
from pinfill_service.engine.rows import level_row_groups, row_groups
from pinfill_service.engine.window_size import counts_itself, without_itself

# Inputs beside the usual ones. The first has transformers.js' name; the others are our own graphs', and all have a
# default in the graph, so that other programs can leave them out.
_KEEP, _WINDOW_START, _ROPE_OFFSET, _EXTRA = "num_logits_to_keep", "window_start", "rope_offset", "extra_rows"
_OPTIONAL = (_KEEP, _WINDOW_START, _ROPE_OFFSET, _EXTRA)
_NONE, _ONE = np.array([0], np.int64), np.array([1], np.int64)
# Heads wider than this take kernels of onnxruntime whose sums depend on where a chunk ends: all of them while there are
# up to 64 keys, and the flash kernel for every block of keys (measured on 1.23 and 1.32; narrower heads never do).
_WIDEST_EXACT_HEAD, _FEW_KEYS = 128, 64
_NO_FLASH = "ORT_GQA_DISABLE_FLASH_ATTENTION"  # read when a session is made
_DTYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int8)": np.int8}


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Sets environment variables for a moment; those that the user set win."""
    ours = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]


class ExtraRow(Enum):
    """When products run on a row of zeros more than there are tokens."""

    NEVER = auto()
    ALONE = auto()  # in runs where some product would have one row only
    ALWAYS = auto()

    def count(self, rows: int) -> NDArray[np.int64]:
        """[1], for a run whose products have `rows` rows or more."""
        return _ONE if self is ExtraRow.ALWAYS or (self is ExtraRow.ALONE and rows == 1) else _NONE


class DecoderSession:
    """One model in memory. Not thread-safe: only the engine thread calls it.

    A run reads `KvSlots.length` as the past of each row and appends to it, so KV and its length change together; when
    a run fails the lengths are as before and what was written lies beyond them.
    """

    def __init__(self, layout: ModelLayout, threads: int, choice: ProviderChoice | None = None) -> None:
        """Raises LayoutError or ProviderError. Without a choice the model runs on the CPU."""
        self._layout = layout
        self._metadata = layout.facts.metadata
        patched = "pinfill.window" in self._metadata and not counts_itself()
        wide = layout.appends_in_place and layout.widest_head > _WIDEST_EXACT_HEAD
        with _environment({_NO_FLASH: "1"} if wide else {}):
            opened = open_session(
                without_itself(layout.graph) if patched else layout.graph,
                folder=layout.graph.parent,
                threads=threads,
                entries=layout.session_options,
                choice=choice or on_cpu("nothing else was asked for"),
            )
        self.final_from = _FEW_KEYS + 1 if wide else 0
        self._session, self.report = opened.session, opened.report
        self._inputs = {item.name: item for item in self._session.get_inputs()}
        self._outputs = {item.name: item for item in self._session.get_outputs()}
        optional = {item.name for item in self._session.get_overridable_initializers()} | self._inputs.keys()
        self._optional = {name for name in _OPTIONAL if name in optional}
        self.tensors = self._find_kv()
        self.states = self._find_states()
        self.rope_switch = int(self._metadata["pinfill.rope_switch"]) if _ROPE_OFFSET in self._optional else None
        self._logits_dtype = _DTYPES[self._outputs[layout.names.logits].type]
        self._check_inputs()
        self.weight_bytes = layout.facts.weight_bytes
        self._kv: KvSlots | None = None
        self._io: KvIo | None = None
        self._long_rope: set[int] = set()
        self._extra_row = ExtraRow.ALWAYS
        self._ones = np.ones((1, 0), np.int64)

    # -- what the graph has --------------------------------------------------------------------------------------

    def _find_kv(self) -> tuple[KvTensor, ...]:
        names, tensors = self._layout.names, []
        for layer in self._layout.kv_layers:
            for past, present in ((names.past_key, names.present_key), (names.past_value, names.present_value)):
                tensors.append(self._kv_tensor(past % layer, present % layer, self._window(layer)))
        return tuple(tensors)

    def _window(self, layer: int) -> int | None:
        windowed = self._metadata.get("pinfill.windowed_layers", "").split(",")
        return int(self._metadata["pinfill.window"]) if str(layer) in windowed else None

    def _kv_tensor(self, past: str, present: str, window: int | None) -> KvTensor:
        if past not in self._inputs or present not in self._outputs:
            raise LayoutError(f"the graph has no input {past!r} or no output {present!r}")
        item = self._inputs[past]
        if item.type not in _DTYPES:
            raise LayoutError(f"KV of type {item.type} is not supported")
        size = item.shape[3] if isinstance(item.shape[3], int) else self._layout.head_size
        return KvTensor(past, present, int(item.shape[1]), int(size), np.dtype(_DTYPES[item.type]), window)

    def _find_states(self) -> tuple[StateTensor, ...]:
        states = []
        for past, present in self._layout.names.states:
            for layer in layers_of(past, self._inputs):
                states.append(self._state_tensor(self._inputs[past % layer], present % layer))
        return tuple(states)

    def _state_tensor(self, item: Any, present: str) -> StateTensor:
        shape = item.shape[1:]
        if present not in self._outputs or item.type not in _DTYPES or not all(isinstance(n, int) for n in shape):
            raise LayoutError(f"the state {item.name!r} has no output, an open shape, or the type {item.type}")
        return StateTensor(item.name, present, tuple(shape), np.dtype(_DTYPES[item.type]))

    def _check_inputs(self) -> None:
        names = self._layout.names
        known = {names.input_ids, names.attention_mask, names.position_ids, names.use_cache_branch, *_OPTIONAL}
        known |= {tensor.past for tensor in self.tensors} | {state.past for state in self.states}
        if unknown := self._inputs.keys() - known:
            raise LayoutError(f"the graph wants inputs that this version does not know: {', '.join(sorted(unknown))}")

    # -- running it ----------------------------------------------------------------------------------------------

    def attach(self, kv: KvSlots) -> None:
        """The slots every later run works on."""
        self._kv = kv
        self._io = InPlaceKv(self._session, kv) if self._layout.appends_in_place else GrowingKv(self._session, kv)
        self._ones = np.ones((1, kv.max_length + 1), np.int64)

    def save_rows(self) -> ExtraRow:
        """Does without the extra row of zeros as far as this processor's kernels need none, which is tried.

        One row of a product is up to half as dear again as two. A single slot decodes nothing together, so it needs
        none where only one row alone takes another kernel (AVX2), and its logits may differ there from those of several
        slots in the last bits; prompts, which are never cut to one row, have the same KV. The slots must be empty, and
        are left so.
        """
        if _EXTRA in self._optional:
            for self._extra_row in (ExtraRow.NEVER, ExtraRow.ALONE):
                if rows_are_independent(self, self._attached()[0], self._layout.vocab_size):
                    break
            else:
                self._extra_row = ExtraRow.ALWAYS
        return self._extra_row

    def use_long_rope(self, slot: int, long: bool) -> None:
        """Which of a LongRoPE model's two tables the slot's positions are looked up in from now on."""
        (self._long_rope.add if long else self._long_rope.discard)(slot)

    def groups(self, running: Sequence[int]) -> list[tuple[int, int]]:
        """Splits slots, in rising order, into views [first, last) that are each decoded in one run."""
        kv, io = self._attached()
        if not io.batches:
            return [(slot, slot + 1) for slot in running]
        grouping = level_row_groups if _WINDOW_START in self._optional else row_groups
        return grouping(running, kv.length, self.weight_bytes / kv.bytes_per_token)

    def prefill(self, slot: int, ids: NDArray[np.int64], logits: int) -> NDArray[np.float32]:
        """Evaluates ids [tokens] behind the slot's cursor. Returns logits [min(logits, tokens), vocabulary]."""
        kv, _ = self._attached()
        mask = self._ones[:, : kv.length(slot) + len(ids)]
        result: NDArray[np.float32] = self._run(slot, [True], ids.reshape(1, -1), mask, logits)[0]
        return result

    def decode(self, first: int, last: int, ids: list[int | None]) -> NDArray[np.float32]:
        """One token for each of the neighbouring slots [first, last). Returns logits [last - first, vocabulary].

        A row whose id is None does not run: its token is junk behind the cursor, and its logits mean nothing.
        """
        kv, _ = self._attached()
        tokens = np.array([[0 if token is None else token] for token in ids], np.int64)
        lengths = [kv.length(slot) + 1 for slot in range(first, last)]
        if len(tokens) == 1:
            mask = self._ones[:, : lengths[0]]
        else:
            mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]).astype(np.int64)
        result: NDArray[np.float32] = self._run(first, [token is not None for token in ids], tokens, mask, 1)[:, 0]
        return result

    def _run(
        self, first: int, rows: list[bool], ids: NDArray[np.int64], mask: NDArray[np.int64], keep: int
    ) -> NDArray[np.float32]:
        kv, io = self._attached()
        last, tokens = first + len(rows), ids.shape[1]
        if not all(kv.state_is_current(slot) for slot in range(first, last) if rows[slot - first]):
            raise RuntimeError(f"the state of slots {first} to {last - 1} is not that of their tokens")
        kept = min(keep, tokens) if _KEEP in self._optional else tokens
        logits = np.empty((len(ids), kept, self._layout.vocab_size), self._logits_dtype)
        binding = io.binding(first, last, tokens)
        # Small arrays are bound anew, the KV buffers only when they are others.
        feeds = self._feeds(first, last, ids, mask, kept)
        for name, array in feeds.items():
            bind(binding.bind_input, name, array)
        bind(binding.bind_output, self._layout.names.logits, logits)
        next_states = self._bind_states(binding, first, last)
        self._session.run_with_iobinding(binding)
        for array, following in next_states:
            array[first:last][rows] = following[rows]
        io.ran(first, rows, tokens)
        return logits[:, -min(keep, tokens) :].astype(np.float32, copy=False)

    def _feeds(
        self, first: int, last: int, ids: NDArray[np.int64], mask: NDArray[np.int64], kept: int
    ) -> dict[str, NDArray[Any]]:
        """The small inputs that this graph has."""
        kv, io = self._attached()
        names, slots = self._layout.names, range(first, last)
        feeds: dict[str, NDArray[Any]] = {names.input_ids: ids}
        if names.attention_mask in self._inputs:
            feeds[names.attention_mask] = mask
        if names.position_ids in self._inputs:
            past = np.array([[kv.length(slot)] for slot in slots], np.int64)
            feeds[names.position_ids] = past + np.arange(ids.shape[1], dtype=np.int64)
        if names.use_cache_branch in self._inputs:
            feeds[names.use_cache_branch] = np.array([kv.length(first) > 0])
        if _KEEP in self._optional:
            feeds[_KEEP] = np.array(kept, np.int64)
        if _WINDOW_START in self._optional and isinstance(io, InPlaceKv):
            feeds[_WINDOW_START] = np.array(io.window_start(first, last), np.int64)
        if _EXTRA in self._optional:
            feeds[_EXTRA] = self._extra_row.count(ids.shape[0] * kept)
        if _ROPE_OFFSET in self._optional:
            long = self._layout.context_length
            feeds[_ROPE_OFFSET] = np.array([[long if slot in self._long_rope else 0] for slot in slots], np.int64)
        return feeds

    def _bind_states(self, binding: Any, first: int, last: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Binds states; returns each one's slots [slots, ...] with the rows [last - first, ...] the run will fill."""
        kv, _ = self._attached()
        pairs = []
        for state, array in kv.states():
            following = np.empty((last - first, *state.shape), state.dtype)
            bind(binding.bind_input, state.past, array[first:last])
            bind(binding.bind_output, state.present, following)
            pairs.append((array, following))
        return pairs

    def _attached(self) -> tuple[KvSlots, KvIo]:
        if self._kv is None or self._io is None:
            raise RuntimeError("attach slots first")
        return self._kv, self._io

"""Runs a decoder graph over slots: feeds token ids, appends KV in place, returns logits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pinfill_service.engine.kv import KvSlots, KvTensor
from pinfill_service.engine.layout import LayoutError, ModelLayout
from pinfill_service.engine.providers import open_session

_KEEP = "num_logits_to_keep"  # the name transformers.js gives it
_DTYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int8)": np.int8}


class DecoderSession:
    """One model in memory. Not thread-safe: only the engine thread calls it.

    A run reads `KvSlots.length` as the past of each row and appends to it, so KV and its length change together; when
    a run fails the lengths are as before and what was written lies beyond them.
    """

    def __init__(self, layout: ModelLayout, threads: int) -> None:
        self._layout = layout
        self._session = open_session(layout.graph, threads, layout.session_options)
        self._inputs = {item.name: item for item in self._session.get_inputs()}
        overridable = {item.name for item in self._session.get_overridable_initializers()}
        self._keeps_logits = _KEEP in overridable or _KEEP in self._inputs
        self._outputs = {item.name: item for item in self._session.get_outputs()}
        self.tensors = self._find_kv()
        self._logits_dtype = _DTYPES[self._outputs[layout.names.logits].type]
        self._check_inputs()
        self.weight_bytes = sum(file.stat().st_size for file in layout.folder.glob(f"{layout.graph.name}*"))
        self._bindings: dict[tuple[int, int], Any] = {}
        self._kv: KvSlots | None = None
        self._ones = np.ones((1, 0), np.int64)

    def _find_kv(self) -> tuple[KvTensor, ...]:
        names, tensors, layer = self._layout.names, [], 0
        while names.past_key % layer in self._inputs:
            for past, present in ((names.past_key, names.present_key), (names.past_value, names.present_value)):
                tensors.append(self._kv_tensor(past % layer, present % layer))
            layer += 1
        if not tensors:
            raise LayoutError(f"the graph has no input {names.past_key % 0!r}")
        return tuple(tensors)

    def _kv_tensor(self, past: str, present: str) -> KvTensor:
        if past not in self._inputs or present not in self._outputs:
            raise LayoutError(f"the graph has no input {past!r} or no output {present!r}")
        item = self._inputs[past]
        if item.type not in _DTYPES:
            raise LayoutError(f"KV of type {item.type} is not supported")
        size = item.shape[3] if isinstance(item.shape[3], int) else self._layout.head_size
        return KvTensor(past, present, int(item.shape[1]), int(size), np.dtype(_DTYPES[item.type]))

    def _check_inputs(self) -> None:
        names = self._layout.names
        known = {names.input_ids, names.attention_mask, names.position_ids, _KEEP}
        unknown = self._inputs.keys() - known - {tensor.past for tensor in self.tensors}
        if unknown:
            raise LayoutError(f"the graph wants inputs that this version does not know: {', '.join(sorted(unknown))}")

    def attach(self, kv: KvSlots) -> None:
        """The slots every later run works on."""
        self._kv = kv
        self._bindings.clear()
        self._ones = np.ones((1, kv.max_length + 1), np.int64)

    def prefill(self, slot: int, ids: NDArray[np.int64], logits: int) -> NDArray[np.float32]:
        """Evaluates ids [tokens] behind the slot's cursor. Returns logits [min(logits, tokens), vocabulary]."""
        kv = self._slots()
        mask = self._ones[:, : kv.length(slot) + len(ids)]
        result: NDArray[np.float32] = self._run(slot, slot + 1, ids.reshape(1, -1), mask, logits)[0]
        kv.appended(slot, len(ids))
        return result

    def decode(self, first: int, last: int, ids: list[int | None]) -> NDArray[np.float32]:
        """One token for each of the neighbouring slots [first, last). Returns logits [last - first, vocabulary].

        A row whose id is None does not run: its token is junk behind the cursor, and its logits mean nothing.
        """
        kv = self._slots()
        rows = np.array([[0 if token is None else token] for token in ids], np.int64)
        lengths = [kv.length(slot) + 1 for slot in range(first, last)]
        if len(rows) == 1:
            mask = self._ones[:, : lengths[0]]
        else:
            mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]).astype(np.int64)
        result: NDArray[np.float32] = self._run(first, last, rows, mask, 1)[:, 0]
        for slot, token in zip(range(first, last), ids, strict=True):
            if token is not None:
                kv.appended(slot, 1)
        return result

    def _run(self, first: int, last: int, ids: NDArray[np.int64], mask: NDArray[np.int64], keep: int) -> Any:
        names, binding = self._layout.names, self._binding(first, last)
        tokens = ids.shape[1]
        kept = min(keep, tokens) if self._keeps_logits else tokens
        logits = np.empty((len(ids), kept, self._layout.vocab_size), self._logits_dtype)
        # Small arrays are bound anew, the KV buffers never: 60 bind calls a token are felt.
        self._bind(binding.bind_input, names.input_ids, ids)
        if names.attention_mask in self._inputs:
            self._bind(binding.bind_input, names.attention_mask, mask)
        if names.position_ids in self._inputs:
            past = np.array([[self._slots().length(slot)] for slot in range(first, last)], np.int64)
            positions = past + np.arange(tokens, dtype=np.int64)
            self._bind(binding.bind_input, names.position_ids, positions)
        if self._keeps_logits:
            keep_array = np.array(kept, np.int64)
            self._bind(binding.bind_input, _KEEP, keep_array)
        self._bind(binding.bind_output, names.logits, logits)
        self._session.run_with_iobinding(binding)
        return logits[:, -min(keep, tokens) :].astype(np.float32, copy=False)

    def _binding(self, first: int, last: int) -> Any:
        """The io_binding of a slot view, made once. Past and present are the same memory: KV is appended in place."""
        if (first, last) not in self._bindings:
            binding = self._session.io_binding()
            for tensor, array in self._slots().tensors():
                view = array[first:last]
                self._bind(binding.bind_input, tensor.past, view)
                self._bind(binding.bind_output, tensor.present, view)
            self._bindings[first, last] = binding
        return self._bindings[first, last]

    @staticmethod
    def _bind(bind: Any, name: str, array: NDArray[Any]) -> None:
        bind(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)

    def _slots(self) -> KvSlots:
        if self._kv is None:
            raise RuntimeError("attach slots first")
        return self._kv

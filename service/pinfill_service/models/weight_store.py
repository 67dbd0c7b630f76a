"""Copies GGUF tensors into a graph's data file, a few rows at a time: memory does not grow with the tensor."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as Quant
from numpy.typing import NDArray
from onnx import TensorProto

from pinfill_service.models.external_data import ExternalData, Region
from pinfill_service.models.quant_blocks import FORMATS, Form, Packed, format_of

# Weights taken apart at once. A chunk needs about eight bytes a weight while it is repacked.
CHUNK_WEIGHTS = 1 << 22
PLAIN: dict[Quant, int] = {
    Quant.F32: TensorProto.FLOAT,
    Quant.F16: TensorProto.FLOAT16,
    Quant.BF16: TensorProto.BFLOAT16,
}

F32 = NDArray[np.float32]


class UnsupportedTensorError(ValueError):
    """A tensor that cannot be represented exactly."""


class Tensor(Protocol):
    """What is asked of a GGUF tensor. `shape` is (columns, rows); `data` [rows, ...], mapped or in memory."""

    @property
    def name(self) -> str: ...
    @property
    def tensor_type(self) -> Quant: ...
    @property
    def shape(self) -> Sequence[int]: ...
    @property
    def data(self) -> NDArray[Any]: ...


@dataclass(frozen=True, slots=True)
class PlainWeights:
    """Numbers as the file has them: [rows, columns] of float, float16 or bfloat16."""

    rows: int
    columns: int
    weight: TensorProto


@dataclass(frozen=True, slots=True)
class PackedWeights:
    """The stored arrays of `quant_blocks.Packed`; `zero_points`, `offsets` and `factors` where the form has them."""

    rows: int
    columns: int
    form: Form
    quants: TensorProto
    scales: TensorProto
    factors: TensorProto | None
    zero_points: TensorProto | None
    offsets: TensorProto | None

    @property
    def blocks(self) -> int:
        """Blocks a row."""
        return self.columns // self.form.block


def dense(tensor: Tensor) -> F32:
    """An unquantised tensor as float32, in row-major [rows, columns] order. Raises UnsupportedTensorError."""
    if tensor.tensor_type not in PLAIN:
        raise UnsupportedTensorError(f"{tensor.name} is {tensor.tensor_type.name}; F32, F16 or BF16 was expected")
    data = np.asarray(tensor.data)
    if tensor.tensor_type != Quant.BF16:
        return data.astype(np.float32)
    high_halves = np.ascontiguousarray(data).view("<u2").astype(np.uint32)
    return (high_halves << np.uint32(16)).view(np.float32)


class WeightStore:
    """Writes tensors into `data`. The same tensors asked for twice are stored once, under the first name."""

    def __init__(self, data: ExternalData) -> None:
        self._data = data
        self._stored: dict[tuple[str, ...], PlainWeights | PackedWeights] = {}

    def store(self, tensors: Sequence[Tensor], name: str) -> PlainWeights | PackedWeights | None:
        """The rows of all `tensors`, one tensor's after the other's; None when their types cannot share one matrix.

        Raises UnsupportedTensorError.
        """
        key = tuple(tensor.name for tensor in tensors)
        if key not in self._stored:
            forms = [_form(tensor) for tensor in tensors]
            columns = int(tensors[0].shape[0])
            if any(form != forms[0] for form in forms) or any(int(tensor.shape[0]) != columns for tensor in tensors):
                return None
            self._stored[key] = self._written(forms[0], tensors, name)
        return self._stored[key]

    def _written(self, form: Form | int, tensors: Sequence[Tensor], name: str) -> PlainWeights | PackedWeights:
        columns, rows = int(tensors[0].shape[0]), sum(int(tensor.shape[1]) for tensor in tensors)
        if isinstance(form, Form):
            return self._packed(form, tensors, name, rows, columns)
        region = self._data.reserve(f"{name}.weight", form, (rows, columns))
        for tensor in tensors:
            for _, raw in _chunks(tensor):
                region.append(raw)
        return PlainWeights(rows, columns, region.tensor)

    def _packed(self, form: Form, tensors: Sequence[Tensor], name: str, rows: int, columns: int) -> PackedWeights:
        regions = {
            part: self._data.reserve(f"{name}.{part}", data_type, shape)
            for part, (data_type, shape) in _parts(form, rows, columns // form.block).items()
        }
        for tensor in tensors:
            for packed in _packed_chunks(tensor):
                for part, region in regions.items():
                    region.append(getattr(packed, part))

        def stored(part: str) -> TensorProto | None:
            region: Region | None = regions.get(part)
            return None if region is None else region.tensor

        return PackedWeights(
            rows, columns, form, regions["quants"].tensor, regions["scales"].tensor,
            stored("factors"), stored("zero_points"), stored("offsets"),
        )  # fmt: skip


def _parts(form: Form, rows: int, blocks: int) -> dict[str, tuple[int, tuple[int, ...]]]:
    """ONNX type and shape of each stored array, by its name in `Packed`."""
    parts: dict[str, tuple[int, tuple[int, ...]]] = {
        "quants": (TensorProto.UINT8, (rows, blocks, form.block * form.bits // 8)),
        "scales": (TensorProto.FLOAT16, (rows, blocks)),
    }
    if form.factors:
        parts["scales"] = (TensorProto.FLOAT16, (rows, blocks // form.factors, 1))
        parts["factors"] = (TensorProto.INT8, (rows, blocks // form.factors, form.factors))
    if form.zero_points:
        parts["zero_points"] = (TensorProto.UINT8, (rows, blocks // 2))
    if form.offsets:
        parts["offsets"] = (TensorProto.FLOAT, (rows, blocks))
    return parts


def _form(tensor: Tensor) -> Form | int:
    """How a matrix is stored: its form, or the ONNX type of an unquantised one. Raises UnsupportedTensorError."""
    kind = tensor.tensor_type
    if kind not in PLAIN and kind not in FORMATS:
        known = ", ".join(known.name for known in (*PLAIN, *FORMATS))
        raise UnsupportedTensorError(f"{tensor.name} is stored as {kind.name}; this version reads {known}")
    if len(tensor.shape) != 2:
        raise UnsupportedTensorError(f"{tensor.name} has {len(tensor.shape)} dimensions where a matrix was expected")
    group = GGML_QUANT_SIZES[kind][0]
    if int(tensor.shape[0]) % group:
        raise UnsupportedTensorError(
            f"{tensor.name} has rows of {int(tensor.shape[0])} weights, which {kind.name} cannot hold: "
            f"it stores {group} together"
        )
    return PLAIN[kind] if kind in PLAIN else format_of(kind, int(tensor.shape[0])).form


def _packed_chunks(tensor: Tensor) -> Iterator[Packed]:
    """Raises UnsupportedTensorError for scales or minima that are no numbers."""
    layout, block_bytes = format_of(tensor.tensor_type, int(tensor.shape[0])), GGML_QUANT_SIZES[tensor.tensor_type][1]
    for rows, raw in _chunks(tensor):
        with np.errstate(invalid="ignore", over="ignore"):  # told below, in a sentence
            packed = layout.pack(raw, rows, block_bytes)
        if not (np.isfinite(packed.scales).all() and (packed.offsets is None or np.isfinite(packed.offsets).all())):
            raise UnsupportedTensorError(f"{tensor.name} has a scale that is infinite or not a number: it is damaged")
        yield packed


def _chunks(tensor: Tensor) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """The tensor's bytes, some rows at a time: (rows, bytes). A chunk must not be used after the next was asked for."""
    columns, rows = (int(n) for n in tensor.shape)
    step = max(1, CHUNK_WEIGHTS // columns)
    for start in range(0, rows, step):
        count = min(step, rows - start)
        yield count, np.ascontiguousarray(tensor.data[start : start + count]).view(np.uint8)
        _forget(tensor.data)


def _forget(data: NDArray[Any]) -> None:
    """Takes the pages of a mapped file that have been read out of this process; read again, they come back.

    Otherwise its memory would seem to grow to the size of the file. Only numpy's mapping and POSIX know how.
    """
    mapped = getattr(data, "_mmap", None)
    if mapped is not None and hasattr(mapped, "madvise"):
        mapped.madvise(mmap.MADV_DONTNEED)

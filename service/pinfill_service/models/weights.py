"""GGUF tensors as ONNX operators, exactly: the stored blocks are repacked, never rounded again.

A GGUF block of 32 weights maps to `MatMulNBits` with block size 32:

    Q8_0   w = d * q                 8 bits, implied zero point 128
    Q4_0   w = d * (q - 8)           4 bits, implied zero point 8
    Q4_1   w = d * q + m             4 bits; m / d is no integer, so the zero point is the nearest one and what is left
                                     of the offset, r = m + d * zp, is multiplied with the block's sum of inputs:
                                     x @ w = MatMulNBits(x) + blocksum(x) @ r

Block layouts: ggml-common.h of llama.cpp. Rounding m to the zero point alone costs 20 % of perplexity on SmolLM2-135M.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType as Quant
from numpy.typing import NDArray

from pinfill_service.models.external_data import GraphBuilder

BLOCK = 32
ACCURACY_LEVEL = 4  # int8 activations: 3-4x faster than float ones, KL 0.001

U8 = NDArray[np.uint8]
F32 = NDArray[np.float32]


class UnsupportedTensorError(ValueError):
    """A tensor type this reader cannot represent exactly."""


@dataclass(frozen=True, slots=True)
class Packed:
    """`rows` x `columns` weights in MatMulNBits' layout. Shapes with b = columns / 32 blocks a row:

    quants [rows, b, 16 or 32], scales [rows, b], zero_points [rows, ceil(b / 2)] or None, offsets [rows, b] or None.
    """

    bits: int
    quants: U8
    scales: F32
    zero_points: U8 | None = None
    offsets: F32 | None = None

    @property
    def rows(self) -> int:
        return int(self.quants.shape[0])

    @property
    def columns(self) -> int:
        return int(self.quants.shape[1]) * BLOCK


def dense(tensor: Any) -> F32:
    """An F32 or F16 tensor as float32, in row-major [rows, columns] order."""
    if tensor.tensor_type not in (Quant.F32, Quant.F16):
        raise UnsupportedTensorError(f"{tensor.name} is {tensor.tensor_type.name}; F32 or F16 was expected")
    return np.asarray(tensor.data, dtype=np.float32)


def pack(tensor: Any) -> Packed:
    """A quantised GGUF tensor, repacked. Raises UnsupportedTensorError for a type without an exact mapping."""
    columns, rows = (int(n) for n in tensor.shape)
    blocks = columns // BLOCK
    raw = np.ascontiguousarray(tensor.data).view(np.uint8).reshape(rows * blocks, -1)
    match tensor.tensor_type:
        case Quant.Q8_0:
            return _pack_q8_0(raw, rows, blocks)
        case Quant.Q4_0:
            return Packed(4, _nibbles(raw[:, 2:], rows, blocks), _halves(raw[:, 0:2], rows, blocks))
        case Quant.Q4_1:
            return _pack_q4_1(raw, rows, blocks)
    raise UnsupportedTensorError(
        f"{tensor.name} is stored as {tensor.tensor_type.name}; this version reads F32, F16, Q4_0, Q4_1 and Q8_0"
    )


def _halves(raw: U8, rows: int, blocks: int) -> F32:
    return raw.copy().view(np.float16).astype(np.float32).reshape(rows, blocks)


def _nibbles(raw: U8, rows: int, blocks: int) -> U8:
    """GGUF keeps weights i and i + 16 in one byte; MatMulNBits keeps neighbours 2i and 2i + 1."""
    values = np.concatenate([raw & 15, raw >> 4], axis=-1)
    packed: U8 = values[:, 0::2] | (values[:, 1::2] << np.uint8(4))
    return packed.reshape(rows, blocks, BLOCK // 2)


def _pack_q8_0(raw: U8, rows: int, blocks: int) -> Packed:
    quants: U8 = (raw[:, 2:] ^ np.uint8(0x80)).reshape(rows, blocks, BLOCK)  # int8 + 128
    return Packed(8, quants, _halves(raw[:, 0:2], rows, blocks))


def _pack_q4_1(raw: U8, rows: int, blocks: int) -> Packed:
    scales, minima = _halves(raw[:, 0:2], rows, blocks), _halves(raw[:, 2:4], rows, blocks)
    nonzero = np.where(scales == 0, np.float32(1), scales)
    zero_points = np.clip(np.round(-minima / nonzero), 0, 15).astype(np.uint8)
    offsets = minima + scales * zero_points
    even = np.pad(zero_points, ((0, 0), (0, blocks % 2)))
    packed_zero_points: U8 = even[:, 0::2] | (even[:, 1::2] << np.uint8(4))
    return Packed(4, _nibbles(raw[:, 4:], rows, blocks), scales, packed_zero_points, offsets)


def stack(parts: list[Packed]) -> Packed | None:
    """Several matrices over the same input as one, row after row; None when their kinds differ."""
    first = parts[0]
    kinds = {(p.bits, p.columns, p.zero_points is None, p.offsets is None) for p in parts}
    if len(kinds) > 1:
        return None

    def rows_of(name: str) -> Any:
        return None if getattr(first, name) is None else np.concatenate([getattr(p, name) for p in parts])

    return Packed(first.bits, rows_of("quants"), rows_of("scales"), rows_of("zero_points"), rows_of("offsets"))


class Projections:
    """Emits matrix products for GGUF tensors on activations [tokens, width]; equal inputs share their block sums."""

    def __init__(self, graph: GraphBuilder, accuracy_level: int) -> None:
        self._graph = graph
        self._accuracy_level = accuracy_level
        self._block_sums: dict[str, str] = {}

    def linear(self, x: str, tensors: list[Any], name: str) -> str | None:
        """x @ concat(tensors).T as one product, or None when the tensors' types do not allow one."""
        if all(t.tensor_type in (Quant.F32, Quant.F16) for t in tensors):
            weight = np.concatenate([dense(t) for t in tensors]).T
            return self._graph.node("MatMul", [x, self._graph.constant(f"{name}.weight", weight)])
        if any(t.tensor_type in (Quant.F32, Quant.F16) for t in tensors):
            return None
        packed = stack([pack(t) for t in tensors])
        return None if packed is None else self.packed(x, packed, name)

    def packed(self, x: str, weights: Packed, name: str) -> str:
        graph = self._graph
        inputs = [x, graph.constant(f"{name}.quants", weights.quants), self._scales(weights, name)]
        if weights.zero_points is not None:
            inputs.append(graph.constant(f"{name}.zero_points", weights.zero_points.reshape(-1)))
        product = self._matmul(inputs, weights)
        if weights.offsets is None:
            return product
        offsets = graph.constant(f"{name}.offsets", weights.offsets.T)
        return graph.node("Gemm", [self._sums(x, weights.columns), offsets, product])

    def _scales(self, weights: Packed, name: str) -> str:
        return self._graph.constant(f"{name}.scales", weights.scales.reshape(-1))

    def _matmul(self, inputs: list[str], weights: Packed) -> str:
        return self._graph.node(
            "MatMulNBits",
            inputs,
            domain="com.microsoft",
            K=weights.columns,
            N=weights.rows,
            bits=weights.bits,
            block_size=BLOCK,
            accuracy_level=self._accuracy_level,
        )

    def _sums(self, x: str, columns: int) -> str:
        """The sum of every block of 32 inputs: [tokens, columns] -> [tokens, columns / 32]."""
        if x not in self._block_sums:
            indicator = np.kron(np.eye(columns // BLOCK, dtype=np.float32), np.ones((BLOCK, 1), np.float32))
            constant = self._graph.constant(f"block_indicator.{columns}", indicator)
            self._block_sums[x] = self._graph.node("MatMul", [x, constant])
        return self._block_sums[x]

"""GGUF's quantised blocks, repacked for `MatMulNBits` and `GatherBlockQuantized` without rounding a weight again.

Every type stores w = scale * q + minimum with small integers q and one scale for 16 or 32 neighbours. Both operators
know w = scale * (n - zero) with integers n of 4 or 8 bits and an integer zero, so

    type                   n       scale, one for  zero         weights left to add
    Q4_0                   4 bits  32              8
    Q3_K                   4 bits  16              8
    Q2_K                   4 bits  16              8            offset of the block
    Q4_1 Q4_K              4 bits  32              packed       offset of the block
    Q5_0 Q8_0 IQ4_NL, _XS  8 bits  32              128
    Q6_K                   8 bits  16              128
    Q5_1 Q5_K              8 bits  32              128          offset of the block

A minimum is no integer multiple of its scale. It is split into the mean of the block's q (an integer: it goes into n
where n has room, and into a zero point where all 16 values are taken) and what is left:

    w = scale * (q - mean) + offset,   offset = minimum + scale * mean

The mean rather than the q nearest to w = 0: the products round activations, and the noise of that grows with
|q - mean|, which no other integer makes smaller. Rounding the minimum to the zero point instead of keeping the offset
costs 20 % of perplexity on SmolLM2-135M.

Larger blocks are never used: on x86 the rows of a product over 4-bit blocks of 64, or 8-bit blocks of 128, depend on
how many rows there are (onnxruntime 1.23.2 and 1.32). Nor are 2 bits: onnxruntime 1.23 refuses them. And where a row
has an odd number of blocks, packed zero points would not fill its last byte, which `GatherBlockQuantized` of
onnxruntime 1.23 does not expect (it returns other weights): such a matrix takes 8 bits, where none are needed.

Scales stay as small as in the file: a float16 for each block, or for the K-quants (and IQ4_XS) a float16 for 256
weights and an int8 factor for each block. Block layouts: ggml-common.h of llama.cpp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType as Quant
from numpy.typing import NDArray

# IQ4_NL and IQ4_XS number these values (ggml-common.h: kvalues_iq4nl).
IQ4_VALUES = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int8)

U8 = NDArray[np.uint8]
I8 = NDArray[np.int8]
F16 = NDArray[np.float16]
F32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Blocks:
    """n GGUF blocks of s sub-blocks, taken apart. The weights of a sub-block are scale * factor * values + minimum.

    values [n, weights] int8 or uint8, scales [n], factors [n, s] or None for 1, minima [n, s] or None for 0.
    """

    values: NDArray[Any]
    scales: F16
    factors: I8 | None = None
    minima: F32 | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """What the operators see of a type. Types of one form can be stacked into one product."""

    bits: int
    block: int
    factors: int = 0  # blocks that share a float16 scale; 0: each has its own
    zero_points: bool = False
    offsets: bool = False


@dataclass(frozen=True, slots=True)
class Packed:
    """Rows of weights in the operators' layout, with b blocks a row:

    quants [rows, b, block * bits / 8], scales [rows, b] or [rows, b / factors, 1], factors [rows, b / factors, factors]
    or None, zero_points [rows, b / 2] or None (two a byte, low half first), offsets [rows, b] or None.
    """

    quants: U8
    scales: F16
    factors: I8 | None
    zero_points: U8 | None
    offsets: F32 | None


@dataclass(frozen=True, slots=True)
class Format:
    """How one GGUF type is taken apart, and the form it is stored in."""

    form: Form
    split: Callable[[U8], Blocks]

    def pack(self, raw: U8, rows: int, block_bytes: int) -> Packed:
        """`raw`: the file's bytes of `rows` whole rows of blocks of `block_bytes`."""
        form = self.form
        blocks = self.split(raw.reshape(-1, block_bytes))
        values = blocks.values.reshape(rows, -1, form.block)
        scales = blocks.scales.reshape((rows, -1, 1) if form.factors else (rows, -1))
        factors = None if blocks.factors is None else blocks.factors.reshape(rows, -1, form.factors)
        half = np.uint8(1 << (form.bits - 1))
        if blocks.minima is None:
            return Packed(_joined(values.view(np.uint8) + half, form.bits), scales, factors, None, None)
        means = ((values.sum(-1, dtype=np.uint16) + form.block // 2) // form.block).astype(np.uint8)
        product = scales.astype(np.float32) if factors is None else scales.astype(np.float32) * factors
        offsets = blocks.minima.reshape(rows, -1) + product.reshape(rows, -1) * means
        if form.zero_points:
            return Packed(_joined(values, form.bits), scales, factors, _joined(means, 4), offsets)
        return Packed(_joined(values - means[..., None] + half, form.bits), scales, factors, None, offsets)


def _joined(values: U8, bits: int) -> U8:
    """4-bit numbers two a byte, neighbours together, the first in the low half: [..., n] -> [..., n * bits / 8]."""
    return values if bits == 8 else values[..., 0::2] | (values[..., 1::2] << np.uint8(4))


def _half(raw: U8) -> F16:
    """[n, 2] bytes -> [n]."""
    return np.ascontiguousarray(raw).view("<f2")[:, 0]


def _fields(raw: U8, bits: int, group: int) -> U8:
    """Numbers of 1, 2 or 4 bits: `group` of them in the lowest bits of `group` bytes, the next in the bits above.

    [n, bytes] -> [n, bytes * 8 / bits].
    """
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    fields: U8 = (raw.reshape(len(raw), -1, 1, group) >> shifts) & np.uint8((1 << bits) - 1)
    return fields.reshape(len(raw), -1)


def _q8_0(raw: U8) -> Blocks:
    return Blocks(raw[:, 2:].view(np.int8), _half(raw[:, :2]))


def _q4_0(raw: U8) -> Blocks:
    return Blocks(_fields(raw[:, 2:], 4, 16).view(np.int8) - np.int8(8), _half(raw[:, :2]))


def _q4_1(raw: U8) -> Blocks:
    return Blocks(_fields(raw[:, 4:], 4, 16), _half(raw[:, :2]), minima=_half(raw[:, 2:4]).astype(np.float32))


def _five_bits(low: U8, high: U8) -> U8:
    """[n, 16] bytes of low halves and [n, 4] bytes with bit i for weight i -> [n, 32]."""
    return _fields(low, 4, 16) | (np.unpackbits(high, axis=1, bitorder="little") << np.uint8(4))


def _q5_0(raw: U8) -> Blocks:
    return Blocks(_five_bits(raw[:, 6:], raw[:, 2:6]).view(np.int8) - np.int8(16), _half(raw[:, :2]))


def _q5_1(raw: U8) -> Blocks:
    minima = _half(raw[:, 2:4]).astype(np.float32)
    return Blocks(_five_bits(raw[:, 8:], raw[:, 4:8]), _half(raw[:, :2]), minima=minima)


def _minima(scales: F16, factors: U8) -> F32:
    """K-quants subtract their minimum. scales [n], factors [n, s] -> [n, s]."""
    return -(scales.astype(np.float32)[:, None] * factors)


def _q2_k(raw: U8) -> Blocks:
    both = raw[:, :16]
    values = _fields(raw[:, 16:80], 2, 32)
    minima = _minima(_half(raw[:, 82:84]), both >> np.uint8(4))
    return Blocks(values, _half(raw[:, 80:82]), (both & np.uint8(15)).view(np.int8), minima)


def _q3_k(raw: U8) -> Blocks:
    # A cleared high bit means that 4 has to be subtracted.
    values = (_fields(raw[:, 32:96], 2, 32) | (_fields(raw[:, :32], 1, 32) << np.uint8(2))).view(np.int8) - np.int8(4)
    factors = _fields(raw[:, 96:104], 4, 8) | (_fields(raw[:, 104:108], 2, 4) << np.uint8(4))
    return Blocks(values, _half(raw[:, 108:110]), factors.view(np.int8) - np.int8(32))


def _six_bit_pairs(raw: U8) -> tuple[U8, U8]:
    """The 8 factors of the scale and the 8 of the minimum that Q4_K and Q5_K keep in 12 bytes, each [n, 8]."""
    low, middle, rest = raw[:, :4], raw[:, 4:8], raw[:, 8:12]
    top = np.uint8(0x30)
    scales = np.concatenate([low & np.uint8(63), (rest & np.uint8(15)) | ((low >> np.uint8(2)) & top)], axis=1)
    minima = np.concatenate([middle & np.uint8(63), (rest >> np.uint8(4)) | ((middle >> np.uint8(2)) & top)], axis=1)
    return scales, minima


def _q4_k(raw: U8) -> Blocks:
    factors, minima = _six_bit_pairs(raw[:, 4:16])
    return Blocks(
        _fields(raw[:, 16:], 4, 32), _half(raw[:, :2]), factors.view(np.int8), _minima(_half(raw[:, 2:4]), minima)
    )


def _q5_k(raw: U8) -> Blocks:
    factors, minima = _six_bit_pairs(raw[:, 4:16])
    values = _fields(raw[:, 48:], 4, 32) | (_fields(raw[:, 16:48], 1, 32) << np.uint8(4))
    return Blocks(values, _half(raw[:, :2]), factors.view(np.int8), _minima(_half(raw[:, 2:4]), minima))


def _q6_k(raw: U8) -> Blocks:
    values = _fields(raw[:, :128], 4, 64) | (_fields(raw[:, 128:192], 2, 32) << np.uint8(4))
    return Blocks(values.view(np.int8) - np.int8(32), _half(raw[:, 208:210]), raw[:, 192:208].view(np.int8))


def _iq4_nl(raw: U8) -> Blocks:
    return Blocks(IQ4_VALUES[_fields(raw[:, 2:], 4, 16)], _half(raw[:, :2]))


def _iq4_xs(raw: U8) -> Blocks:
    factors = _fields(raw[:, 4:8], 4, 1) | (_fields(raw[:, 2:4], 2, 1) << np.uint8(4))
    return Blocks(IQ4_VALUES[_fields(raw[:, 8:], 4, 16)], _half(raw[:, :2]), factors.view(np.int8) - np.int8(32))


FORMATS: dict[Quant, Format] = {
    Quant.Q4_0: Format(Form(4, 32), _q4_0),
    Quant.Q4_1: Format(Form(4, 32, zero_points=True, offsets=True), _q4_1),
    Quant.Q5_0: Format(Form(8, 32), _q5_0),
    Quant.Q5_1: Format(Form(8, 32, offsets=True), _q5_1),
    Quant.Q8_0: Format(Form(8, 32), _q8_0),
    Quant.Q2_K: Format(Form(4, 16, factors=16, offsets=True), _q2_k),
    Quant.Q3_K: Format(Form(4, 16, factors=16), _q3_k),
    Quant.Q4_K: Format(Form(4, 32, factors=8, zero_points=True, offsets=True), _q4_k),
    Quant.Q5_K: Format(Form(8, 32, factors=8, offsets=True), _q5_k),
    Quant.Q6_K: Format(Form(8, 16, factors=16), _q6_k),
    Quant.IQ4_NL: Format(Form(8, 32), _iq4_nl),
    Quant.IQ4_XS: Format(Form(8, 32, factors=8), _iq4_xs),
}


def format_of(kind: Quant, columns: int) -> Format:
    """How a matrix with rows of `columns` weights is stored. Raises KeyError for a type that is not in FORMATS."""
    known = FORMATS[kind]
    if known.form.zero_points and columns // known.form.block % 2:
        return replace(known, form=replace(known.form, bits=8, zero_points=False))
    return known

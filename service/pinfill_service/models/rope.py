"""Rotary position embeddings as GGUF metadata describes them, and the tables that operators read.

A pair of numbers i of a head is turned by position / divisors[i]. Scalings change the divisors; what they do to the
attention's temperature is a factor on every cosine and sine:

    linear     all divisors times `rope.scaling.factor`
    Llama 3    each divisor times its number in `rope_freqs.weight`
    YaRN       the fast pairs as trained, the slow ones as linear, a ramp between (Peng et al. 2023, arXiv 2309.00071)
    LongRoPE   two sets of numbers, `rope_factors_short.weight` and `rope_factors_long.weight`: which one counts depends
               on the length of the whole request (Ding et al. 2024, arXiv 2402.13753)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pinfill_service.models.gguf_file import GgufError, GgufFile
from pinfill_service.models.weights import UnsupportedTensorError, dense

F64 = NDArray[np.float64]

DEFAULT_BASE = 10_000.0
_FREQUENCIES, _SHORT, _LONG = "rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"
TENSORS = (_FREQUENCIES, _SHORT, _LONG)


@dataclass(frozen=True, slots=True, eq=False)
class Rope:
    """Divisors [pairs], other ones for requests longer than `switch` tokens, and a factor on cosines and sines."""

    divisors: F64
    factor: float = 1.0
    long_divisors: F64 | None = None
    switch: int | None = None

    @property
    def pairs(self) -> int:
        return len(self.divisors)

    @property
    def variants(self) -> tuple[F64, ...]:
        return (self.divisors,) if self.long_divisors is None else (self.divisors, self.long_divisors)


def plain_divisors(dimensions: int, base: float) -> F64:
    """Those of Su et al. 2021 (arXiv 2104.09864): [dimensions / 2]."""
    exponents = np.arange(0, dimensions, 2, dtype=np.float64) / dimensions
    return np.asarray(base**exponents, np.float64)


def cos_sin(divisors: F64, positions: NDArray[np.int64], factor: float) -> tuple[F64, F64]:
    """[positions, pairs] each, in double precision: positions in the ten thousands leave float32 three digits."""
    angles = positions[:, None] / divisors[None]
    return np.cos(angles) * factor, np.sin(angles) * factor


def step_tables(rope: Rope, context_length: int, step: int) -> tuple[F64, F64, F64, F64]:
    """Tables A, B, C, D from which the cosines and sines of any position, [2 pairs], follow by the addition theorem:

        row(step * a + b) = A[a] * B[b] + C[a] * D[b]

    A and C have a row for every `step` positions, B and D for the positions of one step. With long factors each table
    holds their rows behind the others.
    """
    starts, steps = np.arange(0, context_length, step), np.arange(step)
    tables: tuple[list[F64], ...] = ([], [], [], [])
    for divisors in rope.variants:
        cos, sin = cos_sin(divisors, starts, rope.factor)
        step_cos, step_sin = cos_sin(divisors, steps, 1.0)
        pairs = ((cos, sin), (step_cos, step_cos), (-sin, cos), (step_sin, step_sin))
        for table, pair in zip(tables, pairs, strict=True):
            table.append(np.concatenate(pair, axis=1))
    first, second, third, fourth = (np.concatenate(table) for table in tables)
    return first, second, third, fourth


def read_rope(file: GgufFile, dimensions: int, context_length: int) -> Rope:
    """The RoPE of the file's architecture. Raises GgufError for a kind that is not known and for impossible numbers."""
    prefix = f"{file.architecture}.rope"
    if file.get(f"{prefix}.scaling.alpha") or file.get(f"{prefix}.dimension_sections"):
        raise GgufError(f"{file.path.name} needs a kind of RoPE (NTK alpha or sections) that Pinfill does not have.")
    base = file.number(f"{prefix}.freq_base", DEFAULT_BASE)
    if not base > 1:
        raise GgufError(f"{file.path.name} has a RoPE base of {base}; it must be above 1.")
    plain = plain_divisors(dimensions, base) * _factors(file, _FREQUENCIES, dimensions)
    original = file.integer(f"{prefix}.scaling.original_context_length", context_length)
    divisors, factor = _scaled(file, plain, base, original)
    if not file.has_tensor(_SHORT) and not file.has_tensor(_LONG):
        return Rope(_checked(file, divisors), factor * file.number(f"{prefix}.scaling.attn_factor", 1.0))
    factor *= file.number(f"{prefix}.scaling.attn_factor", _long_rope_factor(context_length, original))
    short = _checked(file, divisors * _factors(file, _SHORT, dimensions))
    if context_length <= original:
        return Rope(short, factor)
    return Rope(short, factor, _checked(file, divisors * _factors(file, _LONG, dimensions)), original)


def _factors(file: GgufFile, name: str, dimensions: int) -> F64:
    """A tensor of one factor a pair; ones without it."""
    if not file.has_tensor(name):
        return np.ones(dimensions // 2)
    try:
        values = dense(file.tensor(name)).reshape(-1).astype(np.float64)
    except UnsupportedTensorError as error:
        raise GgufError(f"{file.path.name} keeps its RoPE factors in a form that nobody writes: {error}.") from error
    if len(values) != dimensions // 2:
        raise GgufError(f"{file.path.name} has {len(values)} numbers in {name!r}; RoPE needs {dimensions // 2}.")
    return values


def _scaled(file: GgufFile, divisors: F64, base: float, original: int) -> tuple[F64, float]:
    """(divisors, factor) after the scaling that metadata names; as llama.cpp, which takes "linear" without a name."""
    prefix = f"{file.architecture}.rope.scaling"
    kind = file.text(f"{prefix}.type", "linear")
    scale = file.number(f"{prefix}.factor", file.number(f"{file.architecture}.rope.scale_linear", 0.0)) or 1.0
    match kind:
        case "none":
            return divisors, 1.0
        case "linear" | "longrope":
            return divisors * scale, 1.0
        case "yarn":
            return _yarn(file, divisors, base, original, scale)
    raise GgufError(f"{file.path.name} scales RoPE by {kind!r}; Pinfill knows linear, yarn and longrope.")


def _yarn(file: GgufFile, divisors: F64, base: float, original: int, scale: float) -> tuple[F64, float]:
    prefix = f"{file.architecture}.rope.scaling.yarn"
    fast, slow = file.number(f"{prefix}_beta_fast", 32.0), file.number(f"{prefix}_beta_slow", 1.0)
    if min(fast, slow, original, scale) <= 0:
        raise GgufError(f"{file.path.name} has a YaRN scaling with a number below zero.")
    pairs = len(divisors)
    # The pair that makes `turns` full turns over the trained context.
    low, high = (pairs * math.log(original / (turns * 2 * math.pi)) / math.log(base) for turns in (fast, slow))
    low, high = max(0, math.floor(low)), min(2 * pairs - 1, math.ceil(high))
    ramp = np.clip((np.arange(pairs) - low) / max(0.001, high - low), 0, 1)
    trained = (1 - ramp) * file.number(f"{prefix}_ext_factor", 1.0)
    frequencies = trained / divisors + (1 - trained) / (divisors * scale)
    log_multiplier = file.number(f"{prefix}_log_multiplier", 0.0)
    return 1 / frequencies, _temperature(scale, 1.0) / _temperature(scale, log_multiplier)


def _temperature(scale: float, multiplier: float) -> float:
    return 1.0 if scale <= 1 else 0.1 * multiplier * math.log(scale) + 1.0


def _long_rope_factor(context_length: int, original: int) -> float:
    """What the LongRoPE paper takes where the file does not say."""
    scale = context_length / original if original > 1 else 1.0
    return 1.0 if scale <= 1 else math.sqrt(1 + math.log(scale) / math.log(original))


def _checked(file: GgufFile, divisors: F64) -> F64:
    if not np.all(np.isfinite(divisors) & (divisors > 0)):
        raise GgufError(f"{file.path.name} has RoPE factors that are no positive numbers.")
    return divisors

"""Chooses among the graphs of a folder that holds one model in several precisions, as onnx-community's do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pinfill_service.engine.layout_files import LayoutError, ModelFolder

_STEMS = ("model", "decoder_model_merged", "decoder_with_past_model")
# Ends of file names as transformers.js gives them, and the precision each stands for, best first on a CPU: 4 bits are
# the fastest that do not depend on how a prompt is cut; half precision is converted on the way and slow; the 8-bit
# graphs scale each chunk by its largest value, so that reuse is not exact any more: they come last.
_VARIANTS = {
    "_q4": "q4",
    "": "fp32",
    "_q4f16": "q4f16",
    "_fp16": "fp16",
    "_bnb4": "bnb4",
    "_q8": "q8",
    "_quantized": "q8",
    "_int8": "int8",
    "_uint8": "uint8",
}
DTYPES = tuple(dict.fromkeys(_VARIANTS.values()))
# What a file grows by in memory: half precision is widened to single.
_GROWTH = {"fp16": 2}


@dataclass(frozen=True, slots=True)
class Variant:
    """One graph of the folder. `size` is in bytes, in memory, as far as file sizes tell."""

    dtype: str
    graph: Path
    size: int


def variants(folder: ModelFolder) -> list[Variant]:
    """The graphs there are, the best for a CPU first; of one precision only the first counts."""
    found: dict[str, Variant] = {}
    for suffix, dtype in _VARIANTS.items():
        for path in _graphs(folder, suffix):
            found.setdefault(dtype, Variant(dtype, path, _size(path) * _GROWTH.get(dtype, 1)))
    return list(found.values())


def choose(found: list[Variant], dtype: str | None, memory: int) -> tuple[Variant, str]:
    """The graph to run, and why. `memory` is what the weights may take, in bytes. Raises LayoutError."""
    names = ", ".join(variant.dtype for variant in found)
    if dtype is not None:
        chosen = next((variant for variant in found if variant.dtype == dtype), None)
        if chosen is None:
            raise LayoutError(f"the folder has no graph of type {dtype!r}; it has: {names}")
        return chosen, "it was asked for"
    if len(found) == 1:
        return found[0], "it is the only graph there"
    chosen = next((variant for variant in found if variant.size <= memory), None)
    if chosen is None:
        return min(found, key=lambda variant: variant.size), f"the smallest of {names}; none fits in {_gib(memory)}"
    better = found[: found.index(chosen)]
    reason = f"the best on a CPU of {names}"
    if better:
        reason += f" that fits in {_gib(memory)} (half of the memory)"
    return chosen, reason


def _graphs(folder: ModelFolder, suffix: str) -> Iterator[Path]:
    for place in ("", "onnx/"):
        for stem in _STEMS:
            path = folder.find(f"{place}{stem}{suffix}.onnx")
            if path is not None:
                yield path


def _size(graph: Path) -> int:
    files = [graph, *graph.parent.glob(f"{graph.name}_data*"), *graph.parent.glob(f"{graph.name}.data")]
    return sum(file.stat().st_size for file in files if file.is_file())


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"

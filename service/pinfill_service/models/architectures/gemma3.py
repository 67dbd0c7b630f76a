"""Gemma 3, the text part: norms before and after attention and feed-forward, QK norm, windows in five of six layers.

GGUF has the weights of norms with the one that Gemma adds to them. Embeddings are multiplied by the root of their
width. Layers with a window have a RoPE of their own, with a smaller base and without scaling.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from pinfill_service.models.architectures.config import DecoderConfig, read_common, read_window
from pinfill_service.models.gguf_file import GgufError, GgufFile
from pinfill_service.models.rope import DEFAULT_BASE, Rope, plain_divisors

MODELS = "Gemma 3"
GENAI_TYPE = "gemma3_text"

_PERIOD = 6
_LAYERS_27B = 62


def read(file: GgufFile) -> DecoderConfig:
    """Raises GgufError."""
    config = read_common(file)
    window, layers = read_window(file, config.layers, _PERIOD)
    return replace(
        config, qk_norm=True, post_norms=True, gate="gelu", embedding_scale=sqrt(config.hidden),
        attention_scale=config.attention_scale or _attention_scale(config),
        window=window, local_layers=layers, local_rope=_local_rope(file, config) if layers else None,
    )  # fmt: skip


def _attention_scale(config: DecoderConfig) -> float | None:
    """The 27B model alone divides by something else than the root of the head size, and no metadata says so."""
    return 1 / sqrt(config.hidden / config.heads) if config.layers == _LAYERS_27B else None


def _local_rope(file: GgufFile, config: DecoderConfig) -> Rope:
    base = file.number(f"{file.architecture}.rope.freq_base_swa", DEFAULT_BASE)
    if not base > 1:
        raise GgufError(f"{file.path.name} has a RoPE base of {base} in its local layers; it must be above 1.")
    return Rope(plain_divisors(2 * config.rope.pairs, base))

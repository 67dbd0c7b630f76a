"""Llama and what shares its graph under that name in GGUF: Mistral, SmolLM2, TinyLlama, Yi and others.

GGUF keeps the rows of Q and K permuted, so that RoPE turns neighbours. Mistral's first version has a window in all
layers.
"""

from __future__ import annotations

from dataclasses import replace

from pinfill_service.models.architectures.config import DecoderConfig, read_common, read_window
from pinfill_service.models.gguf_file import GgufFile

MODELS = "Llama 2 and 3, Mistral, SmolLM2"
GENAI_TYPE = "llama"


def read(file: GgufFile) -> DecoderConfig:
    """Raises GgufError."""
    config = read_common(file)
    window, layers = read_window(file, config.layers, period=0)
    return replace(config, interleaved=True, window=window, local_layers=layers)

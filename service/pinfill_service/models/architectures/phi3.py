"""Phi 3, 3.5 and 4: Llama's graph with fused matrices (`attn_qkv`; `ffn_up`, gate first), LongRoPE and a window.

The window is in all layers. (llama.cpp leaves it out: pull request 13676.)
"""

from __future__ import annotations

from dataclasses import replace

from pinfill_service.models.architectures.config import DecoderConfig, read_common, read_window
from pinfill_service.models.gguf_file import GgufFile

MODELS = "Phi 3, 3.5 and 4"
GENAI_TYPE = "phi3"


def read(file: GgufFile) -> DecoderConfig:
    """Raises GgufError."""
    config = read_common(file)
    window, layers = read_window(file, config.layers, period=0)
    return replace(config, window=window, local_layers=layers)

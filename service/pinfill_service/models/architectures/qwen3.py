"""Qwen 3: Llama's graph with a norm of every head of Q and K before RoPE."""

from __future__ import annotations

from dataclasses import replace

from pinfill_service.models.architectures.config import DecoderConfig, read_common, refuse_window
from pinfill_service.models.gguf_file import GgufFile

MODELS = "Qwen 3"
GENAI_TYPE = "qwen3"


def read(file: GgufFile) -> DecoderConfig:
    """Raises GgufError."""
    config = read_common(file)
    refuse_window(file, config)
    return replace(config, qk_norm=True)

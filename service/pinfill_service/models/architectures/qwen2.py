"""Qwen 2 and 2.5: Llama's graph with biases on Q, K and V, which are found as tensors of the file."""

from __future__ import annotations

from pinfill_service.models.architectures.config import DecoderConfig, read_common, refuse_window
from pinfill_service.models.gguf_file import GgufFile

MODELS = "Qwen 2 and 2.5"
GENAI_TYPE = "qwen2"


def read(file: GgufFile) -> DecoderConfig:
    """Raises GgufError."""
    config = read_common(file)
    refuse_window(file, config)
    return config

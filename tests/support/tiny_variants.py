"""One small model for each thing that a supported architecture can have, and llama.cpp's logits for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType as Quant

from tests.support.tiny_gguf import TinyGemma3, TinyLlama, TinyModel, TinyPhi3, TinyQwen2, TinyQwen3

IDS = [int(token) for token in np.random.default_rng(7).integers(3, 300, 40)]
LLAMA_CPP = Path(__file__).parents[1] / "fixtures" / "llama_cpp"

_SHORT = [1 + 0.1 * pair for pair in range(8)]
_LONG = [1 + 0.7 * pair for pair in range(8)]
_YARN = {"type": "yarn", "factor": 4.0, "original_context_length": 32}
_ALL_BIASES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
_LONG_ROPE: dict[str, Any] = {
    "rope": {"original_context_length": 256, "attn_factor": 1.19},
    "rope_tensors": {"rope_factors_short.weight": _SHORT, "rope_factors_long.weight": _LONG},
    "context": 512,
}

# Files that llama.cpp reads as we do.
VARIANTS: dict[str, Callable[..., TinyModel]] = {
    "llama": TinyLlama,
    "llama-untied": lambda **more: TinyLlama(tied=False, **more),
    "llama-3-rope": lambda **more: TinyLlama(rope_tensors={"rope_freqs.weight": _SHORT}, **more),
    "llama-linear": lambda **more: TinyLlama(rope={"type": "linear", "factor": 4.0}, **more),
    "llama-yarn": lambda **more: TinyLlama(head_size=32, rope=_YARN, **more),
    "llama-biases": lambda **more: TinyLlama(biases=_ALL_BIASES, **more),
    "qwen2": TinyQwen2,
    "qwen3": TinyQwen3,
    "qwen3-yarn": lambda **more: TinyQwen3(rope=_YARN, **more),
    "gemma3": TinyGemma3,
    "gemma3-scaled": lambda **more: TinyGemma3(
        rope={"type": "linear", "factor": 8.0}, period=2, layers=3, kv_heads=2, window=11, **more
    ),
    "gemma3-window-beyond-context": lambda **more: TinyGemma3(window=512, **more),
    "phi3": TinyPhi3,
    "phi3-longrope": lambda **more: TinyPhi3(**_LONG_ROPE, **more),
}
# Files that llama.cpp refuses (RoPE over a part of each head) or reads without their window.
OTHERS: dict[str, Callable[..., TinyModel]] = {
    "llama-partial-rope": lambda **more: TinyLlama(head_size=32, rope_dimensions=16, **more),
    "llama-window": lambda **more: TinyLlama(window=8, **more),
    "phi3-partial-rope-window": lambda **more: TinyPhi3(head_size=32, rope_dimensions=16, window=8, **more),
    "gemma3-listed-windows": lambda **more: TinyGemma3(layers=3, period=[False, True, True], **more),
}
MIXED = {
    "token_embd.weight": Quant.Q8_0, "attn_q.weight": Quant.Q4_1, "attn_k.weight": Quant.Q4_1,
    "attn_v.weight": Quant.Q4_1, "attn_qkv.weight": Quant.Q4_1, "attn_output.weight": Quant.Q4_0,
    "ffn_gate.weight": Quant.Q4_1, "ffn_up.weight": Quant.Q8_0, "ffn_down.weight": Quant.Q4_1,
}  # fmt: skip

"""Small models with random weights as GGUF files, of every architecture that can be converted.

What they compute, in plain numpy: `numpy_decoder`. The weights follow from the seed alone, so that numbers computed by
other programs on the same file can be kept as fixtures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType as Quant
from gguf import GGUFWriter, quants
from numpy.typing import NDArray

from tests.support.numpy_decoder import NumpyDecoder

F32 = NDArray[np.float32]


@dataclass
class TinyModel:
    """Sizes, variants and tensor types; `weights` holds what the file's blocks mean, by tensor name, once written."""

    architecture: str = "llama"
    layers: int = 2
    hidden: int = 64
    heads: int = 4
    kv_heads: int = 2
    head_size: int = 16
    feed_forward: int = 96
    vocabulary: int = 300
    context: int = 128
    rope_base: float = 10_000.0
    rope_dimensions: int | None = None  # all of the head otherwise
    rope: dict[str, Any] = field(default_factory=dict)  # metadata below ARCHITECTURE.rope.scaling
    rope_tensors: dict[str, list[float]] = field(default_factory=dict)
    epsilon: float = 1e-5
    window: int | None = None
    period: int | Sequence[bool] | None = None  # of the window; None leaves it to the architecture
    interleaved: bool = True
    biases: tuple[str, ...] = ()  # matrices of each layer that have one
    qk_norm: bool = False
    post_norms: bool = False
    gelu: bool = False
    scaled_embedding: bool = False
    fused: bool = False  # attn_qkv, and gate and up in ffn_up
    types: dict[str, Quant] = field(default_factory=dict)  # by the end of a tensor's name; F32 otherwise
    tied: bool = True
    metadata: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, F32] = field(default_factory=dict)

    def write(self, path: Path, seed: int = 0) -> Path:
        """Writes the file and remembers its weights as dequantised."""
        rng = np.random.default_rng(seed)
        writer = GGUFWriter(path, self.metadata.get("general.architecture", self.architecture))
        self._write_metadata(writer)
        for name, shape in self._shapes().items():
            self._write_tensor(writer, name, self._values(rng, name, shape))
        for name, factors in self.rope_tensors.items():
            self._write_tensor(writer, name, np.array(factors, np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    def logits(self, ids: Sequence[int], *, long: bool = False) -> F32:
        """[tokens, vocabulary] of a file that was written; `long`: with LongRoPE's long factors."""
        return NumpyDecoder(self, long).logits(ids)

    def is_local(self, layer: int) -> bool:
        """Whether the layer has the window."""
        if self.window is None:
            return False
        period = (6 if self.architecture == "gemma3" else 0) if self.period is None else self.period
        if not isinstance(period, int):
            return bool(period[layer])
        return period == 0 or layer % period != period - 1

    def _values(self, rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> F32:
        values: F32 = (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
        if name.endswith("_norm.weight"):
            values = 1 + values  # norms stand around one
        return values

    def _write_tensor(self, writer: GGUFWriter, name: str, values: F32) -> None:
        kind = next((kind for end, kind in self.types.items() if name.endswith(end)), Quant.F32)
        if kind == Quant.F32:
            self.weights[name] = values
            writer.add_tensor(name, values)
        else:
            packed = quants.quantize(values, kind)
            self.weights[name] = quants.dequantize(packed, kind).astype(np.float32)
            writer.add_tensor(name, packed, raw_dtype=kind)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (self.vocabulary, self.hidden)}
        for layer in range(self.layers):
            for name, shape in self._layer_shapes().items():
                shapes[f"blk.{layer}.{name}.weight"] = shape
                if name in self.biases:
                    shapes[f"blk.{layer}.{name}.bias"] = shape[:1]
        shapes["output_norm.weight"] = (self.hidden,)
        return shapes if self.tied else shapes | {"output.weight": (self.vocabulary, self.hidden)}

    def _layer_shapes(self) -> dict[str, tuple[int, ...]]:
        hidden, inner = self.hidden, self.feed_forward
        q, kv = self.heads * self.head_size, self.kv_heads * self.head_size
        attention = {"attn_q": (q, hidden), "attn_k": (kv, hidden), "attn_v": (kv, hidden)}
        gate_and_up = {"ffn_gate": (inner, hidden), "ffn_up": (inner, hidden)}
        if self.fused:
            attention, gate_and_up = {"attn_qkv": (q + 2 * kv, hidden)}, {"ffn_up": (2 * inner, hidden)}
        shapes: dict[str, tuple[int, ...]] = {"attn_norm": (hidden,), **attention, "attn_output": (hidden, q)}
        if self.qk_norm:
            shapes |= {"attn_q_norm": (self.head_size,), "attn_k_norm": (self.head_size,)}
        shapes |= {"ffn_norm": (hidden,), **gate_and_up, "ffn_down": (hidden, inner)}
        if self.post_norms:
            shapes |= {"post_attention_norm": (hidden,), "post_ffw_norm": (hidden,)}
        return shapes

    def _write_metadata(self, writer: GGUFWriter) -> None:
        writer.add_block_count(self.layers)
        writer.add_context_length(self.context)
        writer.add_embedding_length(self.hidden)
        writer.add_feed_forward_length(self.feed_forward)
        writer.add_head_count(self.heads)
        writer.add_head_count_kv(self.kv_heads)
        writer.add_key_length(self.head_size)
        writer.add_value_length(self.head_size)
        writer.add_layer_norm_rms_eps(self.epsilon)
        writer.add_rope_freq_base(self.rope_base)
        writer.add_rope_dimension_count(self.rope_dimensions or self.head_size)
        if self.window is not None:
            writer.add_sliding_window(self.window)
        if self.period is not None:
            writer.add_sliding_window_pattern(self.period)
        for key, value in self.rope.items():
            _ADD[type(value)](writer, f"{self.architecture}.rope.scaling.{key}", value)
        for key, value in self.metadata.items():
            if key.startswith(f"{self.architecture}."):
                _ADD[type(value)](writer, key, value)
        self._write_tokens(writer)

    def _write_tokens(self, writer: GGUFWriter) -> None:
        tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        tokens += [chr(0x100 + i) if not 33 <= i < 127 else chr(i) for i in range(256)]
        tokens.append("hi")
        tokens += [f"filler{i}" for i in range(self.vocabulary - len(tokens))]
        tokens = self.metadata.get("tokens", tokens)
        writer.add_tokenizer_model(self.metadata.get("tokenizer.ggml.model", "gpt2"))
        writer.add_tokenizer_pre(self.metadata.get("tokenizer.ggml.pre", "smollm"))
        writer.add_token_list(tokens)
        writer.add_token_types([3] * 3 + [1] * (len(tokens) - 3))
        writer.add_token_merges(self.metadata.get("merges", ["h i"]))
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)


_ADD: dict[type, Any] = {
    str: GGUFWriter.add_string, int: GGUFWriter.add_uint32, float: GGUFWriter.add_float32, bool: GGUFWriter.add_bool,
    list: GGUFWriter.add_array,
}  # fmt: skip


@dataclass
class TinyLlama(TinyModel):
    """Llama as GGUF keeps it: RoPE turns neighbours."""


@dataclass
class TinyQwen2(TinyModel):
    """With biases on Q, K and V."""

    architecture: str = "qwen2"
    interleaved: bool = False
    biases: tuple[str, ...] = ("attn_q", "attn_k", "attn_v")
    rope_base: float = 1_000_000.0


@dataclass
class TinyQwen3(TinyModel):
    """With QK norms, and heads that are not a part of the width."""

    architecture: str = "qwen3"
    interleaved: bool = False
    head_size: int = 32
    qk_norm: bool = True
    rope_base: float = 1_000_000.0


@dataclass
class TinyGemma3(TinyModel):
    """With a window of 8 in all layers but the sixth."""

    architecture: str = "gemma3"
    layers: int = 7
    kv_heads: int = 1
    head_size: int = 32
    interleaved: bool = False
    qk_norm: bool = True
    post_norms: bool = True
    gelu: bool = True
    scaled_embedding: bool = True
    window: int | None = 8
    rope_base: float = 1_000_000.0


@dataclass
class TinyPhi3(TinyModel):
    """With fused matrices; give it `rope_tensors` for LongRoPE."""

    architecture: str = "phi3"
    interleaved: bool = False
    fused: bool = True
    tied: bool = False

"""A small llama with random weights as a GGUF file, and what it computes, in plain numpy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType as Quant
from gguf import GGUFWriter, quants
from numpy.typing import NDArray

F32 = NDArray[np.float32]


@dataclass
class TinyLlama:
    """Sizes and tensor types of the file; `weights` holds what the file's blocks mean, by tensor name."""

    layers: int = 2
    hidden: int = 64
    heads: int = 4
    kv_heads: int = 2
    feed_forward: int = 96
    vocabulary: int = 300
    context: int = 128
    rope_base: float = 10_000.0
    epsilon: float = 1e-5
    types: dict[str, Quant] = field(default_factory=dict)  # by the end of a tensor's name; F32 otherwise
    tied: bool = True
    metadata: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, F32] = field(default_factory=dict)

    @property
    def head_size(self) -> int:
        return self.hidden // self.heads

    def write(self, path: Path, seed: int = 0) -> Path:
        """Writes the file and remembers its weights as dequantised."""
        rng = np.random.default_rng(seed)
        writer = GGUFWriter(path, self.metadata.get("general.architecture", "llama"))
        self._write_metadata(writer)
        for name, shape in self._shapes().items():
            values = (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
            if len(shape) == 1:
                values = 1 + values  # norms stand around one
            kind = next((kind for end, kind in self.types.items() if name.endswith(end)), Quant.F32)
            if kind == Quant.F32:
                self.weights[name] = values
                writer.add_tensor(name, values)
            else:
                packed = quants.quantize(values, kind)
                self.weights[name] = quants.dequantize(packed, kind).astype(np.float32)
                writer.add_tensor(name, packed, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        kv = self.kv_heads * self.head_size
        shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (self.vocabulary, self.hidden)}
        for layer in range(self.layers):
            shapes |= {
                f"blk.{layer}.attn_norm.weight": (self.hidden,),
                f"blk.{layer}.attn_q.weight": (self.hidden, self.hidden),
                f"blk.{layer}.attn_k.weight": (kv, self.hidden),
                f"blk.{layer}.attn_v.weight": (kv, self.hidden),
                f"blk.{layer}.attn_output.weight": (self.hidden, self.hidden),
                f"blk.{layer}.ffn_norm.weight": (self.hidden,),
                f"blk.{layer}.ffn_gate.weight": (self.feed_forward, self.hidden),
                f"blk.{layer}.ffn_up.weight": (self.feed_forward, self.hidden),
                f"blk.{layer}.ffn_down.weight": (self.hidden, self.feed_forward),
            }
        shapes["output_norm.weight"] = (self.hidden,)
        return shapes if self.tied else shapes | {"output.weight": (self.vocabulary, self.hidden)}

    def _write_metadata(self, writer: GGUFWriter) -> None:
        writer.add_block_count(self.layers)
        writer.add_context_length(self.context)
        writer.add_embedding_length(self.hidden)
        writer.add_feed_forward_length(self.feed_forward)
        writer.add_head_count(self.heads)
        writer.add_head_count_kv(self.kv_heads)
        writer.add_layer_norm_rms_eps(self.epsilon)
        writer.add_rope_freq_base(self.rope_base)
        writer.add_rope_dimension_count(self.head_size)
        tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        tokens += [chr(0x100 + i) if not 33 <= i < 127 else chr(i) for i in range(256)]
        tokens.append("hi")
        tokens += [f"filler{i}" for i in range(self.vocabulary - len(tokens))]
        writer.add_tokenizer_model(self.metadata.get("tokenizer.ggml.model", "gpt2"))
        writer.add_tokenizer_pre(self.metadata.get("tokenizer.ggml.pre", "smollm"))
        writer.add_token_list(tokens)
        writer.add_token_types([3] * 3 + [1] * (len(tokens) - 3))
        writer.add_token_merges(self.metadata.get("merges", ["h i"]))
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        if "rope.scaling" in self.metadata:
            writer.add_rope_scaling_type(self.metadata["rope.scaling"])

    # -- the reference: Touvron et al. 2023, with GGUF's pairwise (interleaved) rotary embedding --

    def logits(self, ids: list[int]) -> F32:
        """[tokens, vocabulary] in float64 inside."""
        weights = {name: value.astype(np.float64) for name, value in self.weights.items()}
        x = weights["token_embd.weight"][ids]
        for layer in range(self.layers):
            part = {k.removeprefix(f"blk.{layer}."): v for k, v in weights.items() if k.startswith(f"blk.{layer}.")}
            x = x + self._attention(self._norm(x, part["attn_norm.weight"]), part)
            h = self._norm(x, part["ffn_norm.weight"])
            gate, up = h @ part["ffn_gate.weight"].T, h @ part["ffn_up.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * up) @ part["ffn_down.weight"].T
        head = weights.get("output.weight", weights["token_embd.weight"])
        return (self._norm(x, weights["output_norm.weight"]) @ head.T).astype(np.float32)

    def _norm(self, x: Any, weight: Any) -> Any:
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + self.epsilon) * weight

    def _attention(self, x: Any, part: dict[str, Any]) -> Any:
        count, size = len(x), self.head_size
        q = self._rotate((x @ part["attn_q.weight"].T).reshape(count, self.heads, size))
        k = self._rotate((x @ part["attn_k.weight"].T).reshape(count, self.kv_heads, size))
        v = (x @ part["attn_v.weight"].T).reshape(count, self.kv_heads, size)
        out = np.empty_like(q)
        for head in range(self.heads):
            group = head * self.kv_heads // self.heads
            scores = q[:, head] @ k[:, group].T / np.sqrt(size)
            scores[np.triu_indices(count, 1)] = -np.inf
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            out[:, head] = scores / scores.sum(-1, keepdims=True) @ v[:, group]
        return out.reshape(count, -1) @ part["attn_output.weight"].T

    def _rotate(self, x: Any) -> Any:
        positions = np.arange(len(x))[:, None]
        angles = positions / self.rope_base ** (np.arange(0, self.head_size, 2) / self.head_size)
        cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
        out = np.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
        return out

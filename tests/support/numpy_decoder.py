"""Decoder-only language models in plain numpy and double precision: what a converted graph has to compute.

Written from the papers, not from the converter: Touvron et al. 2023 (Llama), Qwen team 2024 and 2025, Gemma team 2025,
Abdin et al. 2024 (Phi 3); RoPE: Su et al. 2021, Peng et al. 2023 (YaRN), Ding et al. 2024 (LongRoPE).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tests.support.tiny_gguf import TinyModel


class NumpyDecoder:
    """One model, run over a whole text at once."""

    def __init__(self, model: TinyModel, long: bool) -> None:
        self._model, self._long = model, long
        self._weights = {name: value.astype(np.float64) for name, value in model.weights.items()}

    def logits(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """[tokens, vocabulary]."""
        model, weights = self._model, self._weights
        x = weights["token_embd.weight"][list(ids)]
        if model.scaled_embedding:
            x = x * np.sqrt(model.hidden)
        for layer in range(model.layers):
            part = {k.removeprefix(f"blk.{layer}."): v for k, v in weights.items() if k.startswith(f"blk.{layer}.")}
            added = self._attention(self._norm(x, part["attn_norm.weight"]), part, layer)
            x = x + (self._norm(added, part["post_attention_norm.weight"]) if model.post_norms else added)
            added = self._feed_forward(self._norm(x, part["ffn_norm.weight"]), part)
            x = x + (self._norm(added, part["post_ffw_norm.weight"]) if model.post_norms else added)
        head = weights.get("output.weight", weights["token_embd.weight"])
        logits: NDArray[np.float32] = (self._norm(x, weights["output_norm.weight"]) @ head.T).astype(np.float32)
        return logits

    def _norm(self, x: Any, weight: Any) -> Any:
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + self._model.epsilon) * weight

    def _linear(self, x: Any, part: dict[str, Any], name: str) -> Any:
        return x @ part[f"{name}.weight"].T + part.get(f"{name}.bias", 0.0)

    def _feed_forward(self, x: Any, part: dict[str, Any]) -> Any:
        if self._model.fused:
            gate, up = np.split(self._linear(x, part, "ffn_up"), 2, axis=-1)
        else:
            gate, up = self._linear(x, part, "ffn_gate"), self._linear(x, part, "ffn_up")
        if self._model.gelu:
            gate = gate / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3)))
        else:
            gate = gate / (1 + np.exp(-gate))
        return self._linear(gate * up, part, "ffn_down")

    def _attention(self, x: Any, part: dict[str, Any], layer: int) -> Any:
        model, count = self._model, len(x)
        q, k, v = (heads.reshape(count, -1, model.head_size) for heads in self._qkv(x, part))
        if model.qk_norm:
            q, k = self._norm(q, part["attn_q_norm.weight"]), self._norm(k, part["attn_k_norm.weight"])
        q, k = self._rotate(q, layer), self._rotate(k, layer)
        distance = np.arange(count)[:, None] - np.arange(count)
        hidden = distance < 0
        if model.window is not None and model.is_local(layer):
            hidden |= distance >= model.window
        out = np.empty_like(q)
        for head in range(model.heads):
            group = head * model.kv_heads // model.heads
            scores = np.where(hidden, -np.inf, q[:, head] @ k[:, group].T / np.sqrt(model.head_size))
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            out[:, head] = scores / scores.sum(-1, keepdims=True) @ v[:, group]
        return self._linear(out.reshape(count, -1), part, "attn_output")

    def _qkv(self, x: Any, part: dict[str, Any]) -> list[Any]:
        model = self._model
        if not model.fused:
            return [self._linear(x, part, f"attn_{name}") for name in "qkv"]
        q = model.heads * model.head_size
        return np.split(self._linear(x, part, "attn_qkv"), [q, q + model.kv_heads * model.head_size], axis=-1)

    # RoPE

    def _rotate(self, x: Any, layer: int) -> Any:
        model = self._model
        size = model.rope_dimensions or model.head_size
        frequencies, factor = self._frequencies(size, local=model.is_local(layer) and model.architecture == "gemma3")
        angles = np.arange(len(x))[:, None, None] * frequencies
        cos, sin = np.cos(angles) * factor, np.sin(angles) * factor
        pairs = np.arange(size // 2)
        first, second = (2 * pairs, 2 * pairs + 1) if model.interleaved else (pairs, pairs + size // 2)
        out = x.copy()
        out[..., first] = x[..., first] * cos - x[..., second] * sin
        out[..., second] = x[..., first] * sin + x[..., second] * cos
        return out

    def _frequencies(self, size: int, *, local: bool) -> tuple[Any, float]:
        """(radians a token for each pair, factor on cos and sin)."""
        model = self._model
        base = 10_000.0 if local else model.rope_base
        frequencies = 1 / base ** (np.arange(0, size, 2) / size)
        if local:
            return frequencies, 1.0
        scale, tensors = model.rope.get("factor", 1.0), model.rope_tensors
        if "rope_freqs.weight" in tensors:
            frequencies = frequencies / np.array(tensors["rope_freqs.weight"])
        if "rope_factors_short.weight" in tensors:
            kind = "long" if self._long else "short"
            return frequencies / np.array(tensors[f"rope_factors_{kind}.weight"]), model.rope.get("attn_factor", 1.0)
        if model.rope.get("type") == "yarn":
            trained = model.rope["original_context_length"]
            turns = trained * frequencies / (2 * np.pi)
            return self._ramped(frequencies, turns, base, size, scale), 0.1 * np.log(scale) + 1
        return frequencies / scale, model.rope.get("attn_factor", 1.0)

    def _ramped(self, frequencies: Any, turns: Any, base: float, size: int, scale: float) -> Any:
        """YaRN: pairs with over 32 turns within the trained context as they are, with less than one interpolated."""

        def pair(count: float) -> float:
            """The (fractional) pair that makes so many turns."""
            return float(size * np.log(turns[0] / count) / (2 * np.log(base)))

        low, high = np.floor(pair(32)), np.ceil(pair(1))
        keep = 1 - np.clip((np.arange(size // 2) - max(low, 0)) / (min(high, size - 1) - max(low, 0)), 0, 1)
        return frequencies * keep + frequencies / scale * (1 - keep)

"""The attention block: Q, K and V, their norms and RoPE, and onnxruntime's operator, which appends to the KV."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from pinfill_service.models.architectures.blocks import MS, Blocks
from pinfill_service.models.architectures.config import DecoderConfig
from pinfill_service.models.architectures.positions import Positions

# exp of it is 0 in every precision, whatever it is compared with
_NOTHING = -1e30
_SINK = 11  # the operator's input `head_sink`


class Attention:
    """Emits GroupQueryAttention and what stands around it, layer by layer."""

    def __init__(self, blocks: Blocks, config: DecoderConfig, positions: Positions) -> None:
        self._blocks, self._config, self._positions = blocks, config, positions
        heads = {"q": config.heads, "k": config.kv_heads, "v": config.kv_heads}
        self._widths = {part: count * config.head_size for part, count in heads.items()}
        self._windowed = frozenset(config.windowed_layers)
        for width in {sum(self._widths.values()), *self._widths.values()}:
            blocks.shape("ids_shape", width, name=f"tokens.{width}")

    def attended(self, layer: int, x: str) -> str:
        """x [tokens + 1, hidden] -> [batch, tokens, heads * head_size], before the output matrix."""
        inputs = self._packed(layer, x) if self._packs else self._separate(layer, x)
        return self._operator(layer, inputs)

    def output(self, layer: int, attended: str) -> str:
        """The output matrix: [rows + 1, heads * head_size] -> [rows + 1, hidden]."""
        return self._blocks.linear(attended, f"blk.{layer}.attn_output", self._widths["q"], self._config.hidden)

    @property
    def _packs(self) -> bool:
        """Whether the operator gets Q, K and V as one tensor, because nothing has to be done to one of them."""
        return self._positions.inside and not self._config.qk_norm

    def _packed(self, layer: int, x: str) -> list[str]:
        products = self._products(layer, x)
        fused = products[0] if len(products) == 1 else self._blocks.graph.node("Concat", products, axis=-1)
        return [self._tokens(self._blocks.unpad(fused), sum(self._widths.values())), "", ""]

    def _separate(self, layer: int, x: str) -> list[str]:
        products = [self._blocks.unpad(product) for product in self._products(layer, x)]
        if len(products) == 1:
            products = self._blocks.split(products[0], list(self._widths.values()))
        q, k, v = products
        if self._config.qk_norm:
            q, k = (self._head_norm(f"blk.{layer}.attn_{part}_norm.weight", x) for part, x in (("q", q), ("k", k)))
        q, k, v = (self._tokens(x, width) for x, width in zip((q, k, v), self._widths.values(), strict=True))
        rope = self._config.rope_of(layer)
        return [
            self._positions.before(q, self._config.heads, rope),
            self._positions.before(k, self._config.kv_heads, rope),
            v,
        ]

    def _products(self, layer: int, x: str) -> list[str]:
        """[Q, K, V] or all of them as one, [rows, width of all]. Files may keep them as one matrix `attn_qkv`."""
        prefix, hidden = f"blk.{layer}.attn", self._config.hidden
        if f"{prefix}_qkv.weight" in self._blocks.tensors:
            return [self._blocks.linear(x, f"{prefix}_qkv", hidden, sum(self._widths.values()))]
        parts = [(f"{prefix}_{part}", width) for part, width in self._widths.items()]
        return self._blocks.joined(x, parts, hidden, f"{prefix}_qkv")

    def _head_norm(self, name: str, x: str) -> str:
        """RMS norm of each head: [rows, heads * head_size] -> [rows * heads, head_size]."""
        size = self._config.head_size
        shape = self._blocks.graph.constant(f"heads.{size}", np.array([-1, size], np.int64))
        return self._blocks.norm(name, self._blocks.graph.node("Reshape", [x, shape]), size)

    def _tokens(self, x: str, width: int) -> str:
        """To [batch, tokens, width]."""
        return self._blocks.graph.node("Reshape", [x, f"tokens.{width}"])

    def _operator(self, layer: int, inputs: list[str]) -> str:
        graph, config = self._blocks.graph, self._config
        past, present = (
            [f"{name}.{layer}.{part}" for part in ("key", "value")] for name in ("past_key_values", "present")
        )
        shape: list[int | str] = ["batch_size", config.kv_heads, "kv_length", config.head_size]
        for name in past:
            graph.input(name, TensorProto.FLOAT, shape)
        for name in present:
            graph.output(name, TensorProto.FLOAT, shape)
        attributes: dict[str, int | float] = {"num_heads": config.heads, "kv_num_heads": config.kv_heads}
        if config.attention_scale is not None:
            attributes["scale"] = config.attention_scale
        further, rotation = self._positions.operator(config.rope_of(layer))
        attributes |= rotation
        lengths = ["seqlens_k", "total_length"]
        if layer in self._windowed:
            lengths = [f"windowed.{name}" for name in lengths]
            given = len(inputs) + len(past) + len(lengths) + len(further)
            further = [*further, *[""] * (_SINK - given), self._no_sink()]
            attributes["local_window_size"] = config.window
        outputs = [f"blk.{layer}.attn.attended", *present]
        return graph.node("GroupQueryAttention", [*inputs, *past, *lengths, *further], outputs, domain=MS, **attributes)

    def _no_sink(self) -> str:
        """A `head_sink` that takes nothing away: exp(-1e30 - largest score) is exactly 0.

        It is there because onnxruntime then takes its plain kernel instead of the flash one. The flash kernel goes
        through the keys in blocks counted from the start of the KV it is given, so a result would depend, in the last
        bits, on where the view of a windowed layer begins; it also does the work for the keys the window hides.
        """
        heads = self._config.heads
        return self._blocks.graph.constant("no_sink", np.full(heads, _NOTHING, np.float32))

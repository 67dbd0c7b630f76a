"""The llama architecture of GGUF as an ONNX graph in the onnxruntime-genai layout.

Inputs: input_ids [batch, tokens], attention_mask [batch, past + tokens], past_key_values.N.{key,value}
[batch, kv_heads, length, head_size]. Outputs: logits [batch, min(tokens, num_logits_to_keep), vocabulary] and
present.N.{key,value}. `num_logits_to_keep` is a scalar with a default (all), so other programs may leave it out.

Every matrix product runs on one row of zeros more than there are tokens. With a single row MLAS takes another kernel,
whose sums differ in the last bit; rounding activations to int8 turns that bit into up to 1.0 in a logit (measured on
AVX2), and an answer would depend on how many other requests happened to be decoded in the same step. With the extra
row there are never fewer than two, all kernels add in the same order, and a row's result does not depend, to the bit,
on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from gguf import GGMLQuantizationType as Quant
from onnx import ModelProto, TensorProto

from pinfill_service.models.external_data import ExternalData, GraphBuilder
from pinfill_service.models.gguf_file import GgufError, GgufFile
from pinfill_service.models.weights import BLOCK, Packed, Projections, dense, pack

MS = "com.microsoft"


@dataclass(frozen=True, slots=True)
class LlamaConfig:
    """The numbers that shape the graph."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    context_length: int
    vocabulary: int
    rope_base: float
    epsilon: float

    @classmethod
    def read(cls, file: GgufFile) -> LlamaConfig:
        """Raises GgufError for variants whose graph would differ."""
        heads, hidden = int(file.require("llama.attention.head_count")), int(file.require("llama.embedding_length"))
        head_size = int(file.get("llama.attention.key_length", hidden // heads))
        if int(file.get("llama.rope.dimension_count", head_size)) != head_size:
            raise GgufError("RoPE over a part of each head is not supported yet")
        if file.get("llama.rope.scaling.type", "none") != "none" or file.has_tensor("rope_freqs.weight"):
            raise GgufError("models with RoPE scaling are not supported yet")
        if int(file.get("llama.expert_count", 0)) > 0:
            raise GgufError("mixture-of-experts models are not supported yet")
        return cls(
            layers=int(file.require("llama.block_count")),
            hidden=hidden,
            heads=heads,
            kv_heads=int(file.get("llama.attention.head_count_kv", heads)),
            head_size=head_size,
            context_length=int(file.require("llama.context_length")),
            vocabulary=int(file.tensor("token_embd.weight").shape[1]),
            rope_base=float(file.get("llama.rope.freq_base", 10_000.0)),
            epsilon=float(file.require("llama.attention.layer_norm_rms_epsilon")),
        )


class LlamaGraph:
    """Builds the graph layer by layer. Activations are two-dimensional except around the attention operator."""

    def __init__(self, file: GgufFile, config: LlamaConfig, data: ExternalData, accuracy_level: int) -> None:
        self._file, self._config = file, config
        self._graph = GraphBuilder(data)
        self._projections = Projections(self._graph, accuracy_level)
        self._embedding: Packed | None = None

    def build(self, progress: Callable[[int, int], None] | None = None) -> ModelProto:
        graph, config = self._graph, self._config
        self._declare_inputs()
        residual, delta = self._pad(self._embed(), config.hidden), None
        for layer in range(config.layers):
            prefix = f"blk.{layer}"
            normed, residual = self._norm(f"{prefix}.attn_norm.weight", residual, delta)
            last = layer == config.layers - 1
            delta = self._attention(layer, normed, only_kept=last)
            if last:
                tokens = graph.node("Reshape", [self._unpad(residual), "tokens_shape"])
                residual = self._flat(self._kept(tokens), config.hidden)
            normed, residual = self._norm(f"{prefix}.ffn_norm.weight", residual, delta)
            delta = self._feed_forward(prefix, normed)
            if progress is not None:
                progress(layer + 1, config.layers)
        normed, _ = self._norm("output_norm.weight", residual, delta)
        self._head(normed)
        return graph.model()

    def _declare_inputs(self) -> None:
        graph, config = self._graph, self._config
        graph.input("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"])
        mask = graph.input("attention_mask", TensorProto.INT64, ["batch_size", "total_sequence_length"])
        graph.input("num_logits_to_keep", TensorProto.INT64, [])
        graph.constant("num_logits_to_keep", np.array(np.iinfo(np.int32).max, np.int64))
        graph.constant("minus_one", np.array([-1], np.int64))
        graph.constant("one", np.array(1, np.int64))
        counted = graph.node("ReduceSum", [mask, "minus_one"], keepdims=0)
        last = graph.node("Sub", [counted, "one"])
        graph.node("Cast", [last], ["seqlens_k"], to=TensorProto.INT32)
        length = graph.node("Gather", [graph.node("Shape", [mask]), "one"])
        graph.node("Cast", [length], ["total_length"], to=TensorProto.INT32)
        shape = graph.node("Shape", ["input_ids"], ["ids_shape"])
        graph.constant("first", np.array([0], np.int64))
        graph.constant("second", np.array([1], np.int64))
        graph.constant("unbounded", np.array([np.iinfo(np.int64).max], np.int64))
        self._shape("qkv_shape", shape, (config.heads + 2 * config.kv_heads) * config.head_size)
        self._shape("tokens_shape", shape, config.hidden)
        graph.node("Reshape", [graph.node("Neg", ["num_logits_to_keep"]), "minus_one"], ["kept_start"])
        self._rope_tables()

    def _shape(self, name: str, batch: str, width: int) -> None:
        """`batch`, a shape of two numbers, with `width` behind it."""
        self._graph.node("Concat", [batch, self._number(width)], [name], axis=0)

    def _number(self, value: int) -> str:
        return self._graph.constant(f"number.{value}", np.array([value], np.int64))

    def _flat(self, x: str, width: int) -> str:
        """[batch, tokens, width] -> [batch * tokens + 1, width], the last row zeros."""
        shape = self._graph.constant(f"flat.{width}", np.array([-1, width], np.int64))
        return self._pad(self._graph.node("Reshape", [x, shape]), width)

    def _kept(self, x: str) -> str:
        """The positions that get logits: [batch, tokens, width] -> [batch, kept, width]."""
        return self._graph.node("Slice", [x, "kept_start", "unbounded", "second"])

    def _pad(self, x: str, width: int) -> str:
        """Appends the row of zeros: [rows, width] -> [rows + 1, width]."""
        zeros = self._graph.constant(f"zeros.{width}", np.zeros((1, width), np.float32))
        return self._graph.node("Concat", [x, zeros], axis=0)

    def _unpad(self, x: str) -> str:
        """Drops the row of zeros again."""
        return self._graph.node("Slice", [x, "first", "minus_one", "first"])

    def _rope_tables(self) -> None:
        config = self._config
        exponents = np.arange(0, config.head_size, 2, dtype=np.float64) / config.head_size
        angles = np.arange(config.context_length)[:, None] / config.rope_base ** exponents[None]
        self._graph.constant("cos_cache", np.cos(angles).astype(np.float32))
        self._graph.constant("sin_cache", np.sin(angles).astype(np.float32))

    def _embed(self) -> str:
        """Looks rows up in the table, which stays quantised when its type allows (the output head shares its bytes)."""
        graph, config = self._graph, self._config
        flat_ids = graph.node("Reshape", ["input_ids", "minus_one"])
        tensor = self._file.tensor("token_embd.weight")
        if tensor.tensor_type in (Quant.F32, Quant.F16):
            return graph.node("Gather", [graph.constant("embedding", dense(tensor)), flat_ids])
        packed = pack(tensor)
        if packed.bits != 8:
            raise GgufError(f"a token table stored as {tensor.tensor_type.name} is not supported yet")
        self._embedding = packed
        rows, blocks = packed.rows, packed.columns // BLOCK
        quants = graph.data.tensor("lm_head.quants", packed.quants)
        scales = graph.data.tensor("lm_head.scales", packed.scales)
        if not self._file.has_tensor("output.weight"):
            graph.initializer(quants)
            graph.initializer(graph.data.alias("lm_head.scales", scales, (rows * blocks,)))
        table = graph.initializer(graph.data.alias("embedding.quants", quants, (rows, config.hidden)))
        table_scales = graph.initializer(graph.data.alias("embedding.scales", scales, (rows, blocks)))
        return graph.node(
            "GatherBlockQuantized", [table, flat_ids, table_scales], domain=MS,
            bits=8, block_size=BLOCK, gather_axis=0, quantize_axis=1,
        )  # fmt: skip

    def _norm(self, weight: str, residual: str, delta: str | None) -> tuple[str, str]:
        """RMS norm of residual + delta; returns (normed, the sum)."""
        graph, epsilon = self._graph, self._config.epsilon
        scale = graph.constant(weight, dense(self._file.tensor(weight)))
        if delta is None:
            normed = graph.node("SimplifiedLayerNormalization", [residual, scale], axis=-1, epsilon=epsilon)
            return normed, residual
        outputs = [f"{weight}.normed", "", "", f"{weight}.residual"]
        graph.node("SkipSimplifiedLayerNormalization", [residual, delta, scale], outputs, domain=MS, epsilon=epsilon)
        return outputs[0], outputs[3]

    def _attention(self, layer: int, x: str, *, only_kept: bool) -> str:
        """`only_kept`: all tokens' KV is written, but what follows is computed for the positions that get logits."""
        graph, config = self._graph, self._config
        prefix = f"blk.{layer}.attn"
        tensors = [self._file.tensor(f"{prefix}_{part}.weight") for part in "qkv"]
        fused = self._projections.linear(x, tensors, f"{prefix}_qkv")
        if fused is None:
            fused = graph.node(
                "Concat",
                [self._linear(x, f"{prefix}_{part}.weight") for part in "qkv"],
                axis=-1,
            )
        qkv = graph.node("Reshape", [self._unpad(fused), "qkv_shape"])
        past, present = (
            [f"{name}.{layer}.{part}" for part in ("key", "value")] for name in ("past_key_values", "present")
        )
        shape: list[int | str] = ["batch_size", config.kv_heads, "kv_length", config.head_size]
        for name in past:
            graph.input(name, TensorProto.FLOAT, shape)
        for name in present:
            graph.output(name, TensorProto.FLOAT, shape)
        attended = graph.node(
            "GroupQueryAttention",
            [qkv, "", "", *past, "seqlens_k", "total_length", "cos_cache", "sin_cache"],
            [f"{prefix}.attended", *present],
            domain=MS, num_heads=config.heads, kv_num_heads=config.kv_heads, do_rotary=1,
            rotary_interleaved=1,  # GGUF keeps the Q and K rows of this architecture permuted
        )  # fmt: skip
        if only_kept:
            attended = self._kept(attended)
            batch = graph.node("Slice", [graph.node("Shape", [attended]), "first", "minus_one", "first"])
            self._shape("logits_shape", batch, config.vocabulary)
        return self._linear(self._flat(attended, config.heads * config.head_size), f"{prefix}_output.weight")

    def _feed_forward(self, prefix: str, x: str) -> str:
        graph = self._graph
        gate = self._linear(x, f"{prefix}.ffn_gate.weight")
        up = self._linear(x, f"{prefix}.ffn_up.weight")
        activated = graph.node("QuickGelu", [gate], domain=MS, alpha=1.0)  # x * sigmoid(x): SiLU
        return self._linear(graph.node("Mul", [activated, up]), f"{prefix}.ffn_down.weight")

    def _linear(self, x: str, name: str) -> str:
        product = self._projections.linear(x, [self._file.tensor(name)], name.removesuffix(".weight"))
        assert product is not None  # only several tensors of different types cannot be one product
        return product

    def _head(self, x: str) -> None:
        graph, config = self._graph, self._config
        if self._file.has_tensor("output.weight"):
            logits = self._linear(x, "output.weight")
        elif self._embedding is not None:
            logits = self._projections.packed(x, self._embedding, "lm_head")
        else:
            table = dense(self._file.tensor("token_embd.weight")).T
            logits = graph.node("MatMul", [x, graph.constant("lm_head.weight", table)])
        graph.node("Reshape", [self._unpad(logits), "logits_shape"], ["logits"])
        graph.output("logits", TensorProto.FLOAT, ["batch_size", "logits_length", config.vocabulary])

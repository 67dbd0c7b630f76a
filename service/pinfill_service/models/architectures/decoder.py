"""The graph of a decoder-only language model, in the onnxruntime-genai layout.

Inputs: input_ids [batch, tokens], attention_mask [batch, past + tokens], past_key_values.N.{key,value}
[batch, kv_heads, length, head_size]. Outputs: logits [batch, min(tokens, num_logits_to_keep), vocabulary] and
present.N.{key,value}.

Inputs with a default, which other programs may leave out:
    num_logits_to_keep  scalar; how many of the last positions get logits; all
    window_start        scalar, with windowed layers; the position at which their past and present begin; 0
    extra_rows          [1]; rows of zeros that every product runs on beside the tokens', see blocks.py; 1
    rope_offset         [batch, 1], with two sets of RoPE factors; 0 for the short ones, the context length for the long

Metadata of the model (`metadata_props`), where there is such a thing:
    pinfill.window           the number of keys a windowed layer sees, the token itself counted
    pinfill.windowed_layers  their numbers, with commas
    pinfill.rope_switch      requests of more tokens than this use the long factors, for all of their positions
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import ModelProto, TensorProto, helper

from pinfill_service.models.architectures.attention import Attention
from pinfill_service.models.architectures.blocks import Blocks, Tensors
from pinfill_service.models.architectures.config import DecoderConfig
from pinfill_service.models.architectures.positions import declare_lengths, declare_positions
from pinfill_service.models.external_data import ExternalData, GraphBuilder
from pinfill_service.models.gguf_file import GgufFile

WINDOW, WINDOWED_LAYERS, ROPE_SWITCH = "pinfill.window", "pinfill.windowed_layers", "pinfill.rope_switch"

_TABLE, _HEAD = "token_embd", "output"


class Decoder:
    """Builds the graph layer by layer."""

    def __init__(self, file: GgufFile, config: DecoderConfig, data: ExternalData, accuracy_level: int) -> None:
        self._config = config
        self._graph = GraphBuilder(data)
        self._tensors = Tensors(file)
        self._blocks = Blocks(self._graph, self._tensors, config.epsilon, accuracy_level)

    def build(self, progress: Callable[[int, int], None]) -> ModelProto:
        """`progress(layers done, all layers)`; what it raises ends the work. Raises GgufError."""
        config, blocks = self._config, self._blocks
        progress(0, config.layers)  # the token table may take as long as many layers
        self._declare_inputs()
        attention = Attention(blocks, config, declare_positions(blocks, config))
        residual, delta = self._embed(), None
        for layer in range(config.layers):
            prefix = f"blk.{layer}"
            normed, residual = blocks.sum_norm(f"{prefix}.attn_norm.weight", residual, delta, config.hidden)
            attended = attention.attended(layer, normed)
            if layer == config.layers - 1:  # all tokens' KV is written; the rest is for the positions that get logits
                attended, residual = self._kept_only(attended, residual)
            delta = attention.output(layer, blocks.flat(attended, config.heads * config.head_size))
            delta = self._post_norm(f"{prefix}.post_attention_norm.weight", delta)
            normed, residual = blocks.sum_norm(f"{prefix}.ffn_norm.weight", residual, delta, config.hidden)
            delta = blocks.feed_forward(prefix, normed, config.hidden, config.gate)
            delta = self._post_norm(f"{prefix}.post_ffw_norm.weight", delta)
            progress(layer + 1, config.layers)
        self._head(blocks.sum_norm("output_norm.weight", residual, delta, config.hidden)[0])
        self._tensors.check_all_taken()
        return self._with_metadata(self._graph.model())

    def _declare_inputs(self) -> None:
        graph, blocks = self._graph, self._blocks
        graph.input("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"])
        graph.node("Shape", ["input_ids"], ["ids_shape"])
        graph.input("num_logits_to_keep", TensorProto.INT64, [])
        graph.constant("num_logits_to_keep", np.array(np.iinfo(np.int32).max, np.int64))
        graph.node("Reshape", [graph.node("Neg", ["num_logits_to_keep"]), "minus_one"], ["kept_start"])
        declare_lengths(blocks, self._config)
        blocks.shape("ids_shape", self._config.hidden, name="hidden_shape")

    def _embed(self) -> str:
        """[batch, tokens] ids -> [batch * tokens + 1, hidden]."""
        graph, config = self._graph, self._config
        table = self._tensors.matrix(f"{_TABLE}.weight", config.hidden, config.vocabulary)
        ids = graph.node("Reshape", ["input_ids", "minus_one"])
        embedded = self._blocks.projections.lookup(ids, table, _TABLE)
        if config.embedding_scale is not None:
            scale = graph.constant("embedding_scale", np.array(config.embedding_scale, np.float32))
            embedded = graph.node("Mul", [embedded, scale])
        return self._blocks.pad(embedded, config.hidden)

    def _post_norm(self, name: str, delta: str) -> str:
        return self._blocks.norm(name, delta, self._config.hidden) if self._config.post_norms else delta

    def _kept_only(self, attended: str, residual: str) -> tuple[str, str]:
        """Both cut to the positions that get logits: ([batch, kept, width], [batch * kept + 1, hidden])."""
        graph, blocks, config = self._graph, self._blocks, self._config
        tokens = graph.node("Reshape", [blocks.unpad(residual), "hidden_shape"])
        kept = [graph.node("Slice", [x, "kept_start", "unbounded", "second"]) for x in (attended, tokens)]
        batch = graph.node("Slice", [graph.node("Shape", [kept[0]]), "first", "minus_one", "first"])
        blocks.shape(batch, config.vocabulary, name="logits_shape")
        return kept[0], blocks.flat(kept[1], config.hidden)

    def _head(self, x: str) -> None:
        """Logits, by the token table where the file has no output matrix of its own."""
        graph, config = self._graph, self._config
        name = _HEAD if f"{_HEAD}.weight" in self._tensors else _TABLE
        logits = self._blocks.linear(x, name, config.hidden, config.vocabulary)
        graph.node("Reshape", [self._blocks.unpad(logits), "logits_shape"], ["logits"])
        graph.output("logits", TensorProto.FLOAT, ["batch_size", "logits_length", config.vocabulary])

    def _with_metadata(self, model: ModelProto) -> ModelProto:
        config, entries = self._config, {}
        if config.windowed_layers:
            entries[WINDOW] = str(config.window)
            entries[WINDOWED_LAYERS] = ",".join(map(str, config.windowed_layers))
        if config.rope.switch is not None:
            entries[ROPE_SWITCH] = str(config.rope.switch)
        helper.set_model_props(model, entries)
        return model

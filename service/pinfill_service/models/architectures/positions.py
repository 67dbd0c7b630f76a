"""How attention operators learn where tokens stand: lengths, and RoPE inside the operator or before it.

Inside (`TableRope`): `GroupQueryAttention` counts positions itself and takes rows of a table that covers the context.
That is the fastest, and what is done where it can be.

Before (`RowsRope`): layers that are bound to a window of their KV count lengths from its start, so positions have to be
given; LongRoPE has two tables; and a table for a long context is large (Gemma 3 270M: 67 MB beside 250 MB of weights).
The rows for the tokens at hand are computed in the graph instead, from two small tables per RoPE: with position
p = 256 a + b, the angle addition theorem makes its row from row a of the first and row b of the second, within 2e-7 of
the exact one at any position. Every operation is a single IEEE one per number, so a row's bits do not depend on the
rows around it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from onnx import TensorProto

from pinfill_service.models.architectures.blocks import MS, Blocks
from pinfill_service.models.architectures.config import DecoderConfig
from pinfill_service.models.rope import Rope, cos_sin, step_tables

STEP = 256
MAX_TABLE_BYTES = 64 << 20  # of all tables of a graph together


class Positions(Protocol):
    """What the attention block asks for."""

    inside: bool  # whether the operator does it, from Q and K as the products left them

    def before(self, x: str, heads: int, rope: Rope) -> str:
        """What goes into the operator for Q or K, x [batch, tokens, heads * head_size]."""

    def operator(self, rope: Rope) -> tuple[list[str], dict[str, int]]:
        """The operator's further inputs and attributes."""


def declare_lengths(blocks: Blocks, config: DecoderConfig) -> None:
    """Names `seqlens_k` and `total_length` as GroupQueryAttention wants them, and `last` [batch], the last position.

    Windowed layers get `windowed.seqlens_k` and `windowed.total_length`, which count from `window_start`: whoever runs
    the graph may bind these layers' KV to a view that begins there. It defaults to 0, the whole KV.
    """
    graph = blocks.graph
    mask = graph.input("attention_mask", TensorProto.INT64, ["batch_size", "total_sequence_length"])
    graph.constant("one", np.array(1, np.int64))
    counted = graph.node("ReduceSum", [mask, "minus_one"], keepdims=0)
    graph.node("Sub", [counted, "one"], ["last"])
    length = graph.node("Gather", [graph.node("Shape", [mask]), "one"])
    graph.node("Cast", ["last"], ["seqlens_k"], to=TensorProto.INT32)
    graph.node("Cast", [length], ["total_length"], to=TensorProto.INT32)
    if config.windowed_layers:
        graph.input("window_start", TensorProto.INT64, [])
        start = graph.constant("window_start", np.array(0, np.int64))
        for name, value in (("seqlens_k", "last"), ("total_length", length)):
            graph.node("Cast", [graph.node("Sub", [value, start])], [f"windowed.{name}"], to=TensorProto.INT32)


def declare_positions(blocks: Blocks, config: DecoderConfig) -> Positions:
    """Chooses between the two ways."""
    ropes = [config.rope] if config.local_rope is None else [config.rope, config.local_rope]
    table_bytes = sum(2 * 4 * config.context_length * rope.pairs for rope in ropes)
    if config.windowed_layers or config.rope.switch is not None or table_bytes > MAX_TABLE_BYTES:
        return RowsRope(blocks, config, ropes)
    return TableRope(blocks, config, ropes)


class TableRope:
    """Tables in the data file, read by the operator."""

    inside = True

    def __init__(self, blocks: Blocks, config: DecoderConfig, ropes: list[Rope]) -> None:
        self._interleaved = int(config.interleaved)
        self._names: dict[Rope, list[str]] = {}
        for rope, suffix in zip(ropes, ("", ".local"), strict=False):
            tables = cos_sin(rope.divisors, np.arange(config.context_length), rope.factor)
            self._names[rope] = [
                blocks.graph.constant(f"{name}_cache{suffix}", table.astype(np.float32))
                for name, table in zip(("cos", "sin"), tables, strict=True)
            ]

    def before(self, x: str, heads: int, rope: Rope) -> str:
        return x

    def operator(self, rope: Rope) -> tuple[list[str], dict[str, int]]:
        return self._names[rope], {"do_rotary": 1, "rotary_interleaved": self._interleaved}


class RowsRope:
    """Rows for the tokens at hand, computed in the graph, and an operator of their own that applies them."""

    inside = False

    def __init__(self, blocks: Blocks, config: DecoderConfig, ropes: list[Rope]) -> None:
        self._blocks, self._config = blocks, config
        self._variant = self._declare_switch() if config.rope.switch is not None else None
        graph = blocks.graph
        step = blocks.number(STEP)
        positions = graph.node("Reshape", [self._positions(), "minus_one"])
        self._coarse, self._fine = graph.node("Div", [positions, step]), graph.node("Mod", [positions, step])
        self._rows = {rope: self._row_tables(rope, suffix) for rope, suffix in zip(ropes, ("", ".local"), strict=False)}

    def before(self, x: str, heads: int, rope: Rope) -> str:
        attributes = {"interleaved": int(self._config.interleaved)}
        if 2 * rope.pairs < self._config.head_size:  # only a part of each head turns
            attributes |= {"num_heads": heads, "rotary_embedding_dim": 2 * rope.pairs}
        inputs = [x, "row_numbers", *self._rows[rope]]
        return self._blocks.graph.node("RotaryEmbedding", inputs, None, domain=MS, **attributes)

    def operator(self, rope: Rope) -> tuple[list[str], dict[str, int]]:
        return [], {}

    def _positions(self) -> str:
        """[batch, tokens]: a row's last token stands at `last`. Also names `row_numbers`, [batch, tokens] from 0 on."""
        graph = self._blocks.graph
        tokens = graph.node("Gather", ["ids_shape", "one"])
        graph.constant("zero", np.array(0, np.int64))
        steps = graph.node("Range", ["zero", tokens, "one"])
        past = graph.node("Sub", [graph.node("Add", ["last", "one"]), tokens])
        positions = graph.node("Add", [graph.node("Unsqueeze", [past, "second"]), steps])
        count = graph.node("Size", ["input_ids"])
        graph.node("Reshape", [graph.node("Range", ["zero", count, "one"]), "ids_shape"], ["row_numbers"])
        return positions

    def _declare_switch(self) -> str:
        """[batch * tokens]: 0 where the short factors count, 1 where the long ones do.

        `rope_offset` [batch, 1] is 0 or the context length, as if the long factors' rows stood behind the short ones'.
        """
        graph = self._blocks.graph
        graph.input("rope_offset", TensorProto.INT64, ["rope_batch", 1])
        offset = graph.constant("rope_offset", np.zeros((1, 1), np.int64))
        variant = graph.node("Min", [offset, "one"])
        return graph.node("Reshape", [graph.node("Expand", [variant, "ids_shape"]), "minus_one"])

    def _row_tables(self, rope: Rope, suffix: str) -> list[str]:
        """[cos, sin] of the tokens at hand, [batch * tokens, pairs] each."""
        graph = self._blocks.graph
        tables = step_tables(rope, self._config.context_length, STEP)
        coarse, fine = self._coarse, self._fine
        if len(rope.variants) > 1:
            coarse = self._shifted(coarse, len(tables[0]) // 2)
            fine = self._shifted(fine, STEP)
        names = [
            graph.constant(f"rope{suffix}.{index}", table.astype(np.float32)) for index, table in enumerate(tables)
        ]
        rows = [
            graph.node("Gather", [name, row]) for name, row in zip(names, (coarse, fine, coarse, fine), strict=True)
        ]
        row = graph.node("Add", [graph.node("Mul", rows[:2]), graph.node("Mul", rows[2:])])
        return self._blocks.split(row, [rope.pairs, rope.pairs])

    def _shifted(self, rows: str, count: int) -> str:
        """The row numbers in tables that hold the long factors' `count` rows behind the short ones'."""
        assert self._variant is not None
        graph = self._blocks.graph
        return graph.node("Add", [rows, graph.node("Mul", [self._variant, self._blocks.number(count)])])

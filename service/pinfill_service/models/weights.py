"""Matrix products and table look-ups over GGUF tensors as ONNX operators, computing with exactly the file's weights.

Quantised tensors become `MatMulNBits` (see `quant_blocks` for what their blocks become). Where a block has an offset,

    x @ w = MatMulNBits(x) + sums of x over each block @ offsets

Unquantised ones are products with the transposed matrix as it is stored; half-precision numbers are made float when the
session is made (onnxruntime folds constants), and so are scales.

A row's result does not depend, to the bit, on the rows around it if there are at least two: measured on onnxruntime
1.23.2 and 1.32 for every operator used here. (A single row takes other kernels: callers add a row of zeros.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from pinfill_service.models.external_data import GraphBuilder
from pinfill_service.models.weight_store import (
    PackedWeights,
    PlainWeights,
    Tensor,
    UnsupportedTensorError,
    WeightStore,
    dense,
)

__all__ = ["ACCURACY_LEVEL", "Projections", "UnsupportedTensorError", "dense"]

ACCURACY_LEVEL = 4  # int8 activations: 3-4x faster than float ones, KL 0.001
MS = "com.microsoft"


class Projections:
    """Emits products and look-ups for GGUF tensors; activations are [tokens, width].

    A tensor used twice, as token table and as output head, is stored once. Products over one input share their block
    sums.
    """

    def __init__(self, graph: GraphBuilder, accuracy_level: int) -> None:
        self._graph = graph
        self._accuracy_level = accuracy_level
        self._store = WeightStore(graph.data)
        self._block_sums: dict[tuple[str, int], str] = {}
        self._scales: dict[str, str] = {}

    def linear(self, x: str, tensors: Sequence[Tensor], name: str) -> str | None:
        """x @ concat(tensors).T as one product, or None when the tensors' types do not allow one.

        Raises UnsupportedTensorError.
        """
        weights = self._store.store(tensors, name)
        match weights:
            case None:
                return None
            case PlainWeights():
                matrix = self._as_float(self._graph.initializer(weights.weight), weights.weight.data_type)
                return self._graph.node("Gemm", [x, matrix], transB=1)
            case PackedWeights():
                return self._packed_product(x, weights)

    def lookup(self, ids: str, tensor: Tensor, name: str) -> str:
        """The rows of `tensor` that the flat int64 tensor `ids` names: [n] -> [n, columns], float.

        Raises UnsupportedTensorError.
        """
        weights = self._store.store([tensor], name)
        assert weights is not None  # only several tensors can be of several types
        if isinstance(weights, PlainWeights):
            rows = self._graph.node("Gather", [self._graph.initializer(weights.weight), ids])
            return self._as_float(rows, weights.weight.data_type)
        return self._packed_rows(ids, weights)

    def _as_float(self, x: str, data_type: int) -> str:
        return x if data_type == TensorProto.FLOAT else self._graph.node("Cast", [x], to=TensorProto.FLOAT)

    def _packed_product(self, x: str, weights: PackedWeights) -> str:
        graph = self._graph
        inputs = [x, graph.initializer(weights.quants), self._scale(weights)]
        if weights.zero_points is not None:
            inputs.append(graph.initializer(weights.zero_points))
        product = graph.node(
            "MatMulNBits", inputs, domain=MS, K=weights.columns, N=weights.rows,
            bits=weights.form.bits, block_size=weights.form.block, accuracy_level=self._accuracy_level,
        )  # fmt: skip
        if weights.offsets is None:
            return product
        offsets = graph.initializer(weights.offsets)
        return graph.node("Gemm", [self._sums(x, weights), offsets, product], transB=1)

    def _packed_rows(self, ids: str, weights: PackedWeights) -> str:
        graph, form = self._graph, weights.form
        shape = (weights.rows, weights.columns * form.bits // 8)
        table = graph.data.alias(f"{weights.quants.name}.rows", weights.quants, shape)
        inputs = [graph.initializer(table), ids, self._scale(weights)]
        if weights.zero_points is not None:
            inputs.append(graph.initializer(weights.zero_points))
        rows = graph.node(
            "GatherBlockQuantized", inputs, domain=MS,
            bits=form.bits, block_size=form.block, gather_axis=0, quantize_axis=1,
        )  # fmt: skip
        if weights.offsets is None:
            return rows
        offsets = graph.node("Gather", [graph.initializer(weights.offsets), ids])
        each = graph.node("Reshape", [offsets, self._shape(-1, weights.blocks, 1)])
        whole = graph.node("Add", [self._by_block(rows, weights), each])
        return graph.node("Reshape", [whole, self._shape(-1, weights.columns)])

    def _scale(self, weights: PackedWeights) -> str:
        """[rows, blocks], float. A float16 and an int8 factor multiply to a float without rounding."""
        name = weights.scales.name
        if name not in self._scales:
            scale = self._as_float(self._graph.initializer(weights.scales), TensorProto.FLOAT16)
            if weights.factors is not None:
                factors = self._as_float(self._graph.initializer(weights.factors), TensorProto.INT8)
                product = self._graph.node("Mul", [scale, factors])
                scale = self._graph.node("Reshape", [product, self._shape(weights.rows, weights.blocks)])
            self._scales[name] = scale
        return self._scales[name]

    def _sums(self, x: str, weights: PackedWeights) -> str:
        """The sum of every block of inputs: [tokens, columns] -> [tokens, blocks].

        A reduction and no product with an indicator matrix: it is faster at any width, 30 times so at 14,336.
        """
        key = (x, weights.form.block)
        if key not in self._block_sums:
            last_axis = self._graph.constant("axis.2", np.array([2], np.int64))
            blocks = self._by_block(x, weights)
            self._block_sums[key] = self._graph.node("ReduceSum", [blocks, last_axis], keepdims=0)
        return self._block_sums[key]

    def _by_block(self, x: str, weights: PackedWeights) -> str:
        return self._graph.node("Reshape", [x, self._shape(-1, weights.blocks, weights.form.block)])

    def _shape(self, *sizes: int) -> str:
        name = "shape." + ".".join("any" if size < 0 else str(size) for size in sizes)
        return self._graph.constant(name, np.array(sizes, np.int64))

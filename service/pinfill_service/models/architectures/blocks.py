"""What decoder graphs are made of. Activations are two-dimensional, [tokens + extra, width], except around attention.

Every matrix product runs on one row of zeros more than there are tokens, unless whoever runs the graph found out that
its processor can do without and sets `extra_rows` to 0. With a single row MLAS may take another kernel, whose sums
differ in the last bit; rounding activations to int8 turns that bit into up to 1.0 in a logit (measured on AVX2), and an
answer would depend on how many other requests happened to be decoded in the same step. With the extra row there are
never fewer than two, all kernels add in the same order, and a row's result does not depend, to the bit, on its
neighbours. (What norms and biases make of that row does not matter: it is dropped before anything mixes rows.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from pinfill_service.models.external_data import GraphBuilder
from pinfill_service.models.gguf_file import GgufError, GgufFile, GgufTensor
from pinfill_service.models.rope import TENSORS as ROPE_TENSORS
from pinfill_service.models.weights import Projections, dense

MS = "com.microsoft"


class Tensors:
    """The file's tensors by name, with the shapes the graph needs, and a record of which ones it took."""

    def __init__(self, file: GgufFile) -> None:
        self._file = file
        self._taken = set(ROPE_TENSORS)

    def __contains__(self, name: str) -> bool:
        return self._file.has_tensor(name)

    def matrix(self, name: str, columns: int, rows: int | None = None) -> GgufTensor:
        """[rows, columns]; any number of rows without one. Raises GgufError for another shape."""
        tensor = self._file.tensor(name)
        shape = tuple(int(size) for size in tensor.shape)
        if len(shape) != 2 or shape[0] != columns or rows not in (None, shape[1]):
            self._refuse(name, shape, f"{columns} x {'any' if rows is None else rows}")
        self._taken.add(name)
        return tensor

    def columns(self, name: str) -> int:
        return int(self._file.tensor(name).shape[0])

    def vector(self, name: str, size: int) -> NDArray[np.float32]:
        """[size] as float32. Raises GgufError for another shape."""
        tensor = self._file.tensor(name)
        if tuple(tensor.shape) != (size,):
            self._refuse(name, tuple(tensor.shape), str(size))
        self._taken.add(name)
        return dense(tensor)

    def check_all_taken(self) -> None:
        """Raises GgufError for a tensor that no part of the graph used: the file means more than the graph does."""
        for info in self._file.tensor_infos():
            if info.name not in self._taken:
                raise GgufError(
                    f"{self._file.path.name} has a tensor {info.name!r}, which {self._file.architecture} models "
                    "as Pinfill knows them do not have."
                )

    def _refuse(self, name: str, shape: tuple[int, ...], wanted: str) -> None:
        found = " x ".join(map(str, shape))
        raise GgufError(f"{self._file.path.name} has a tensor {name!r} of {found} numbers; {wanted} were expected.")


class Blocks:
    """Emits the parts that do not depend on the architecture."""

    def __init__(self, graph: GraphBuilder, tensors: Tensors, epsilon: float, accuracy_level: int) -> None:
        self.graph, self.tensors = graph, tensors
        self._epsilon = epsilon
        self.projections = Projections(graph, accuracy_level)
        graph.constant("first", np.array([0], np.int64))
        graph.constant("second", np.array([1], np.int64))
        graph.constant("minus_one", np.array([-1], np.int64))
        graph.constant("unbounded", np.array([np.iinfo(np.int64).max], np.int64))
        graph.input("extra_rows", TensorProto.INT64, [1])
        graph.constant("extra_rows", np.array([1], np.int64))
        none = graph.node("Equal", ["extra_rows", "first"])
        graph.node("Where", [none, "unbounded", graph.node("Neg", ["extra_rows"])], ["rows_end"])
        self._zeros: dict[int, str] = {}

    # Shapes

    def number(self, value: int) -> str:
        return self.graph.constant(f"number.{value}", np.array([value], np.int64))

    def shape(self, start: str, *sizes: int, name: str | None = None) -> str:
        """A shape that begins with the numbers of the tensor `start` and ends with `sizes`."""
        end = [self.number(size) for size in sizes]
        return self.graph.node("Concat", [start, *end], None if name is None else [name], axis=0)

    def flat(self, x: str, width: int) -> str:
        """[batch, tokens, width] -> [batch * tokens + extra, width], the last row zeros."""
        shape = self.graph.constant(f"flat.{width}", np.array([-1, width], np.int64))
        return self.pad(self.graph.node("Reshape", [x, shape]), width)

    def pad(self, x: str, width: int) -> str:
        """Appends the row of zeros: [rows, width] -> [rows + extra, width]."""
        if width not in self._zeros:
            self._zeros[width] = self.graph.node("ConstantOfShape", [self.shape("extra_rows", width)])
        return self.graph.node("Concat", [x, self._zeros[width]], axis=0)

    def unpad(self, x: str) -> str:
        """Drops the row of zeros again."""
        return self.graph.node("Slice", [x, "first", "rows_end", "first"])

    # Products

    def linear(self, x: str, name: str, columns: int, rows: int | None = None) -> str:
        """x @ `name`.weight.T, plus `name`.bias where the file has one."""
        tensor = self.tensors.matrix(f"{name}.weight", columns, rows)
        product = self.projections.linear(x, [tensor], name)
        assert product is not None  # only several tensors of different types cannot be one product
        return self._biased(product, [(name, int(tensor.shape[1]))])

    def joined(self, x: str, parts: list[tuple[str, int]], columns: int, name: str) -> list[str]:
        """Products of x with several matrices, (name, rows) each: as one, [all their rows], where types allow it."""
        tensors = [self.tensors.matrix(f"{part}.weight", columns, rows) for part, rows in parts]
        product = self.projections.linear(x, tensors, name)
        if product is None:
            return [self.linear(x, part, columns, rows) for part, rows in parts]
        return [self._biased(product, parts)]

    def _biased(self, product: str, parts: list[tuple[str, int]]) -> str:
        """Adds the biases of the parts, zeros for those that have none."""
        if not any(f"{name}.bias" in self.tensors for name, _ in parts):
            return product
        bias = np.concatenate([self._bias(name, rows) for name, rows in parts])
        return self.graph.node("Add", [product, self.graph.constant(f"{parts[0][0]}.bias", bias)])

    def _bias(self, name: str, rows: int) -> NDArray[np.float32]:
        name = f"{name}.bias"
        return self.tensors.vector(name, rows) if name in self.tensors else np.zeros(rows, np.float32)

    # Norms

    def norm(self, name: str, x: str, size: int) -> str:
        """RMS norm over the last dimension with the weights `name`."""
        scale = self.graph.constant(name, self.tensors.vector(name, size))
        return self.graph.node("SimplifiedLayerNormalization", [x, scale], axis=-1, epsilon=self._epsilon)

    def sum_norm(self, name: str, residual: str, delta: str | None, size: int) -> tuple[str, str]:
        """RMS norm of residual + delta; returns (normed, the sum)."""
        if delta is None:
            return self.norm(name, residual, size), residual
        scale = self.graph.constant(name, self.tensors.vector(name, size))
        outputs = [f"{name}.normed", "", "", f"{name}.residual"]
        inputs = [residual, delta, scale]
        self.graph.node("SkipSimplifiedLayerNormalization", inputs, outputs, domain=MS, epsilon=self._epsilon)
        return outputs[0], outputs[3]

    # Feed-forward

    def feed_forward(self, prefix: str, x: str, hidden: int, gate: str) -> str:
        """down(act(gate(x)) * up(x)). Files may keep gate and up as one matrix `ffn_up`, the gate's rows first."""
        inner = self.tensors.columns(f"{prefix}.ffn_down.weight")  # metadata may give it per model or per layer
        if f"{prefix}.ffn_gate.weight" in self.tensors:
            gated = self.linear(x, f"{prefix}.ffn_gate", hidden, inner)
            up = self.linear(x, f"{prefix}.ffn_up", hidden, inner)
        else:
            both = self.linear(x, f"{prefix}.ffn_up", hidden, 2 * inner)
            gated, up = self.split(both, [inner, inner])
        product = self.graph.node("Mul", [self._activated(gated, gate), up])
        return self.linear(product, f"{prefix}.ffn_down", inner, hidden)

    def split(self, x: str, sizes: list[int]) -> list[str]:
        """Along the last dimension."""
        lengths = self.graph.constant("split." + ".".join(map(str, sizes)), np.array(sizes, np.int64))
        outputs = [f"{x}.part{index}" for index in range(len(sizes))]
        self.graph.node("Split", [x, lengths], outputs, axis=-1)
        return outputs

    def _activated(self, x: str, gate: str) -> str:
        if gate == "gelu":
            return self.graph.node("Gelu", [x], approximate="tanh")
        return self.graph.node("QuickGelu", [x], domain=MS, alpha=1.0)  # x * sigmoid(x): SiLU

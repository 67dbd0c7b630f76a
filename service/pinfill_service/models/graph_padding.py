"""Makes a token's numbers independent of how many others are evaluated with it, in graphs of 4- and 8-bit products.

Kernels of products that round activations to int8 (`accuracy_level=4`) may work on rows in groups and sum those left
over in another order; the last bit that differs is enough to change how the next product rounds. With one row of zeros
more than there are tokens, it is that row, or none, that is left over (measured: two rows to a group on AVX-512, and
another kernel for a single row on AVX2).

Rows [batch, tokens, K] are flattened for it, [batch * tokens + 1, K], and brought back behind the product; products of
the same rows share them, and what works on each row by itself between two products (a gated feed-forward) stays in the
flat form.

The row makes decoding slower (by 40 % with blocks of 32), so only products get it whose rows are not independent here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto

from pinfill_service.engine.graph_facts import MICROSOFT
from pinfill_service.engine.graph_head import Wiring
from pinfill_service.engine.row_probe import QuantisedProduct
from pinfill_service.models.graph_editing import Editor, attribute, drop_unread, opset

INT8_ACTIVATIONS = 4  # the accuracy level
# Operators on each number by itself, whose two inputs have the same shape or are one number.
_ELEMENTWISE = {"Sigmoid", "Mul", "Tanh", "Gelu", "QuickGelu", "FastGelu", "Relu"}


def pad_products(model: ModelProto, depends: Callable[[QuantisedProduct], bool]) -> int:
    """Changes the graph in place; returns how many products got the row. Needs opset 15 (Shape with a range).

    `depends` says for which kinds of products the row is needed: see row_probe.py.
    """
    if opset(model) < 15:
        return 0
    padding = _Padding(model.graph, depends)
    padding.run()
    return padding.products


class _Padding:
    def __init__(self, graph: GraphProto, depends: Callable[[QuantisedProduct], bool]) -> None:
        self._graph, self._wiring, self._depends = graph, Wiring(graph), depends
        self._edit = Editor(graph)
        self._floats = {tensor.name for tensor in graph.initializer if tensor.data_type == 1}
        self._flat: dict[str, str] = {}  # the flat form of values that have one
        self._origin: dict[str, str] = {}  # the value that a flat form has its batch and token counts from
        self._width: dict[str, int] = {}
        self._shapes: dict[tuple[str, int], str] = {}
        self.products = 0

    def run(self) -> None:
        for node in self._graph.node:
            if self._needs_row(node):
                self._product(node)
            elif not self._row_by_row(node):
                self._edit.nodes.append(node)
        self._edit.finish()
        drop_unread(self._graph)

    def _needs_row(self, node: NodeProto) -> bool:
        """Whether it is a product of float rows, rounded to int8, whose rows are not independent here."""
        inputs = [*node.input, "", "", ""]
        level, block = attribute(node, "accuracy_level", 0), attribute(node, "block_size", 0)
        if node.op_type != "MatMulNBits" or node.domain != MICROSOFT or level != INT8_ACTIVATIONS:
            return False
        if inputs[2] not in self._floats or inputs[3] in self._floats or block < 16:
            return False
        bits = attribute(node, "bits", 4)
        return self._depends(QuantisedProduct(attribute(node, "K", 0), bits, block, level, bool(inputs[3])))

    def _product(self, node: NodeProto) -> None:
        """The product over the flat rows; its output as it was is made as well, in case it is read."""
        self.products += 1
        inner, outer = attribute(node, "K", 0), attribute(node, "N", 0)
        source, output = node.input[0], node.output[0]
        if source not in self._flat:
            rows = self._edit.node("Reshape", [source, self._edit.integers(-1, inner)])
            zeros = self._edit.constant(np.zeros((1, inner), np.float32))
            self._flat[source] = self._edit.node("Concat", [rows, zeros], axis=0)
            self._origin[source] = source
        flat = NodeProto()
        flat.CopyFrom(node)
        flat.input[0] = self._flat[source]
        self._made(flat, output, self._origin[source], outer)

    def _row_by_row(self, node: NodeProto) -> bool:
        """Adds the node in flat form when all it reads has one with the same counts; False when it has not."""
        first = node.input[0] if node.input else ""
        if node.op_type not in _ELEMENTWISE or first not in self._flat or first not in self._width:
            return False
        for name in node.input:
            same = self._origin.get(name) == self._origin[first] and self._width.get(name) == self._width[first]
            if not same and not self._is_number(name):
                return False
        flat = NodeProto()
        flat.CopyFrom(node)
        for at, name in enumerate(node.input):
            flat.input[at] = self._flat.get(name, name)
        self._made(flat, node.output[0], self._origin[first], self._width[first])
        return True

    def _is_number(self, name: str) -> bool:
        tensor = self._wiring.initializers.get(name)
        return tensor is not None and not tensor.dims

    def _made(self, flat: NodeProto, output: str, origin: str, width: int) -> None:
        """Adds a node in flat form and what brings its output back to [batch, tokens, width]."""
        edit = self._edit
        flat.output[0] = self._flat[output] = edit.fresh("flat")
        edit.nodes.append(flat)
        self._origin[output], self._width[output] = origin, width
        if (origin, width) not in self._shapes:
            lead = edit.node("Shape", [origin], start=0, end=-1)
            self._shapes[origin, width] = edit.node("Concat", [lead, edit.integers(width)], axis=0)
        first, last = edit.integers(0), edit.integers(-1)
        rows = edit.node("Slice", [self._flat[output], first, last, first])
        edit.node("Reshape", [rows, self._shapes[origin, width]], output=output)

"""Finds a decoder's output head, the product that makes logits, and its token table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto

PRODUCTS = {"MatMul", "Gemm", "MatMulNBits", "MatMulBnb4", "FusedMatMul"}
# What may stand between the product and the logits: scales, biases, soft caps. All work on each number by itself.
ELEMENTWISE = {"Cast", "Identity", "Mul", "Div", "Add", "Sub", "Tanh", "Min", "Max", "Clip"}
_TABLES = {"Gather": (0, 1), "GatherBlockQuantized": (0, 1)}  # positions of table and ids


@dataclass(frozen=True, slots=True)
class Head:
    """The last product and the nodes behind it, in the order from the product to the logits."""

    product: NodeProto
    after: tuple[NodeProto, ...]


class Wiring:
    """Who makes and who reads each value of a graph (not of its subgraphs)."""

    def __init__(self, graph: GraphProto) -> None:
        self.graph = graph
        self.initializers: dict[str, TensorProto] = {tensor.name: tensor for tensor in graph.initializer}
        self.maker = {output: node for node in graph.node for output in node.output if output}

    def is_constant(self, name: str) -> bool:
        """Whether the value comes from initializers and constants alone, over at most a few nodes."""
        pending, seen = [name], 0
        while pending:
            value, seen = pending.pop(), seen + 1
            if value and value not in self.initializers:
                node = self.maker.get(value)
                if node is None or seen > 50 or any(a.HasField("g") or a.graphs for a in node.attribute):
                    return False  # a subgraph may read anything
                pending += node.input
        return True

    def width(self, head: Head) -> int | None:
        """How many numbers the product makes for each token; None when its weights do not tell."""
        node = head.product
        number = {attribute.name: int(attribute.i) for attribute in node.attribute}
        if "N" in number:
            return number["N"]
        weight = self.initializers.get(node.input[1]) if len(node.input) > 1 else None
        if weight is None or len(weight.dims) != 2:
            return None
        return int(weight.dims[0 if number.get("transB") else 1])

    def table_rows(self, input_ids: str) -> int | None:
        """The rows of the token table; None when it is not found."""
        for node in self.graph.node:
            table, ids = _TABLES.get(node.op_type, (-1, -1))
            if table >= 0 and node.input[ids : ids + 1] == [input_ids]:
                return self._rows(node.input[table])
        return None

    def _rows(self, table: str) -> int | None:
        """A stored matrix's rows; the token table may be the output head's matrix, transposed."""
        maker = self.maker.get(table)
        transposed = maker is not None and maker.op_type == "Transpose"
        tensor = self.initializers.get(maker.input[0] if maker is not None and transposed else table)
        if tensor is None or len(tensor.dims) != 2:
            return None
        return int(tensor.dims[1 if transposed else 0])


def find_head(wiring: Wiring, logits: str) -> Head | str:
    """Walks back from the logits to the last product, or says in a few words why there is no way."""
    after: list[NodeProto] = []
    value = logits
    while len(after) < 20:
        node = wiring.maker.get(value)
        if node is None:
            return "the logits are not made by a node"
        if node.op_type in PRODUCTS and len(node.input) > 1:
            return Head(node, tuple(reversed(after)))
        data = node.input[:1] if node.op_type == "Reshape" else node.input  # a shape may come from anywhere
        open_inputs = [name for name in data if not wiring.is_constant(name)]
        if node.op_type not in ELEMENTWISE | {"Reshape"} or len(open_inputs) != 1:
            return f"the logits are made by {node.op_type}, behind which no product was found"
        after.append(node)
        value = open_inputs[0]
    return "there are too many steps between the output head and the logits"

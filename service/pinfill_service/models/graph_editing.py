"""Small tools for changing a parsed ONNX graph: new nodes with fresh names, in an order that stays topological."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper

PREFIX = "pinfill"


class NoWay(Exception):
    """The graph stays as it is; the message says why in a few words."""


def opset(model: ModelProto) -> int:
    """The version of ONNX' own operators that the model uses."""
    return max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)


def attribute(node: NodeProto, name: str, default: int) -> int:
    """A node's integer attribute."""
    return next((int(entry.i) for entry in node.attribute if entry.name == name), default)


class Editor:
    """Rebuilds a graph's list of nodes. Constants are shared; every name it makes begins with `pinfill`."""

    def __init__(self, graph: GraphProto) -> None:
        self._graph = graph
        self.nodes: list[NodeProto] = []
        self._constants: dict[str, str] = {}
        self._taken = {output for node in graph.node for output in node.output}
        self._taken |= {value.name for value in (*graph.input, *graph.initializer)}

    def fresh(self, what: str) -> str:
        """A name that the graph does not have."""
        name, count = f"{PREFIX}.{what}", 0
        while name in self._taken:
            count += 1
            name = f"{PREFIX}.{what}.{count}"
        self._taken.add(name)
        return name

    def constant(self, array: NDArray[Any]) -> str:
        """An initializer with these values, made once."""
        key = f"{array.dtype}{array.shape}{array.tobytes().hex() if array.any() else 0}"
        if key not in self._constants:
            self._constants[key] = self.fresh("constant")
            self._graph.initializer.append(numpy_helper.from_array(array, self._constants[key]))
        return self._constants[key]

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def node(self, op: str, inputs: Iterable[str], output: str | None = None, **attributes: Any) -> str:
        """Appends a node of ONNX' own operators and returns its output, whose name is a fresh one if none is given."""
        name = self.fresh(op.lower())
        output = output or name
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=name, **attributes))
        return output

    def finish(self) -> None:
        """Puts the collected nodes into the graph in place of its own."""
        del self._graph.node[:]
        self._graph.node.extend(self.nodes)


def drop_unread(graph: GraphProto) -> None:
    """Removes nodes that nothing reads any more."""
    read = {value.name for value in graph.output}
    kept = []
    for node in reversed(graph.node):
        if any(output in read for output in node.output):
            kept.append(node)
            read.update(_reads(node))
    del graph.node[:]
    graph.node.extend(reversed(kept))


def _reads(node: NodeProto) -> set[str]:
    """What a node reads, its subgraphs included."""
    names = set(node.input)
    for entry in node.attribute:
        for graph in (*([entry.g] if entry.HasField("g") else ()), *entry.graphs):
            names.update(value.name for value in graph.output)
            for inner in graph.node:
                names |= _reads(inner)
    return names

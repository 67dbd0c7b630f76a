"""Where a graph's tensors keep their bytes, and whether all of them are there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from pinfill_service.engine.layout_files import LayoutError, ModelFolder

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

# Bits of an element by onnx.TensorProto's type number; text (8) and types not listed have no fixed size.
_BITS = {1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16}
_BITS |= {17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2}
_EXTERNAL = 1  # TensorProto.DataLocation


class Place(NamedTuple):
    """Where a tensor's bytes are: a file beside the graph (the graph itself: inside it), position and count."""

    location: str
    offset: int
    length: int


def graphs_of(model: ModelProto) -> Iterator[GraphProto]:
    """The graph and all its subgraphs."""

    def subgraphs(nodes: Any) -> Iterator[GraphProto]:
        for node in nodes:
            for attribute in node.attribute:
                for graph in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                    yield graph
                    yield from subgraphs(graph.node)

    yield model.graph
    yield from subgraphs(model.graph.node)
    for function in model.functions:
        yield from subgraphs(function.node)


def nodes_of(model: ModelProto) -> Iterator[NodeProto]:
    """All nodes, those of subgraphs and of the model's own functions included."""
    for graph in graphs_of(model):
        yield from graph.node
    for function in model.functions:
        yield from function.node


def tensors_of(model: ModelProto) -> Iterator[TensorProto]:
    """Every stored tensor: initializers and constants in nodes."""
    for graph in graphs_of(model):
        yield from graph.initializer
        for sparse in graph.sparse_initializer:
            yield from (sparse.values, sparse.indices)
    for node in nodes_of(model):
        for attribute in node.attribute:
            yield from attribute.tensors
            if attribute.HasField("t"):
                yield attribute.t


class WeightCheck:
    """Checks one graph's tensors against the files of its folder. `name` is the graph's own file name."""

    def __init__(self, folder: ModelFolder, name: str) -> None:
        self._folder, self._name = folder, name
        self._sizes: dict[str, int] = {}

    def place(self, tensor: TensorProto) -> Place | None:
        """Where the tensor's bytes are, None when they stand in the message. Raises LayoutError when some lack."""
        wanted = self._wanted(tensor)
        if tensor.data_location != _EXTERNAL:
            if tensor.raw_data and wanted is not None and len(tensor.raw_data) != wanted:
                raise self._wrong(tensor, f"has {len(tensor.raw_data)} bytes where its shape wants {wanted}")
            return None
        if wanted is None:
            raise self._wrong(tensor, "is of a type that cannot stand in a file of its own")
        entries = {entry.key: entry.value for entry in tensor.external_data}
        if len(entries) != len(tensor.external_data) or "location" not in entries:
            raise self._wrong(tensor, "does not say clearly where its data are")
        offset, length = self._number(tensor, entries, "offset", 0), self._number(tensor, entries, "length", wanted)
        if length != wanted:
            raise self._wrong(tensor, f"has {length} bytes where its shape wants {wanted}")
        place = Place(entries["location"], offset, length)
        size = self._size(place.location)
        if offset + length > size:
            missing = offset + length - size
            raise LayoutError(f"{place.location} lacks {missing} bytes at its end: the download may not have finished")
        return place

    def _wanted(self, tensor: TensorProto) -> int | None:
        bits = _BITS.get(tensor.data_type)
        if any(dim < 0 for dim in tensor.dims):
            raise self._wrong(tensor, "has a negative size")
        return None if bits is None else -(-math.prod(tensor.dims) * bits // 8)

    def _number(self, tensor: TensorProto, entries: dict[str, str], key: str, default: int) -> int:
        text = entries.get(key, str(default))
        if not (text.isascii() and text.isdigit() and len(text) < 20):
            raise self._wrong(tensor, f"has an {key} that is no number")
        return int(text)

    def _size(self, location: str) -> int:
        if location not in self._sizes:
            path = self._folder.require(location, self._name)
            self._sizes[location] = path.stat().st_size
        return self._sizes[location]

    def _wrong(self, tensor: TensorProto, what: str) -> LayoutError:
        return LayoutError(f"{self._name} is damaged: its tensor {tensor.name[:200]!r} {what}")

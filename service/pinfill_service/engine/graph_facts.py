"""What a graph says about itself: inputs, outputs, operators, how KV is appended, where the weights are.

Read once when a model is loaded or imported, from the structure alone, and handed on as a value: nobody else has to
parse the graph again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pinfill_service.engine.graph_file import read_graph
from pinfill_service.engine.graph_head import Head, Wiring, find_head
from pinfill_service.engine.graph_rope import find_switch
from pinfill_service.engine.graph_weights import WeightCheck, nodes_of, tensors_of
from pinfill_service.engine.layout_files import LayoutError, ModelFolder

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

MICROSOFT = "com.microsoft"
RYZENAI = "com.ryzenai"  # operators of AMD's plugin; the provider's code decides whether it is there
_KNOWN_DOMAINS = {"", MICROSOFT, RYZENAI}

# (input, output) positions of past and present key and value of operators that write into the buffer they are given.
_IN_PLACE = {(MICROSOFT, "GroupQueryAttention"): ((3, 1), (4, 2)), (MICROSOFT, "SparseAttention"): ((3, 1), (4, 2))}
# Operators that scale a whole chunk by its largest value: a token's result depends on what it is evaluated with.
_WHOLE_CHUNK = {("", "DynamicQuantizeLinear"), (MICROSOFT, "DynamicQuantizeMatMul"), (MICROSOFT, "DynamicQuantizeLSTM")}


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """An input or output. `dtype` is ONNX' name in small letters; an open dimension is its name, or "" without one."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """Facts of one graph. `inputs` must be fed; `optional` ones have a default in the graph."""

    inputs: Mapping[str, TensorFacts]
    optional: Mapping[str, TensorFacts]
    outputs: Mapping[str, TensorFacts]
    operators: Mapping[tuple[str, str], int]  # (domain, operator) -> how many nodes, those of subgraphs included
    appended: frozenset[tuple[str, str]]  # (input, output) pairs where an operator appends in the same buffer
    weight_bytes: int
    data_files: frozenset[str]  # beside the graph; relative to its folder
    metadata: Mapping[str, str]
    head_width: int | None  # how many logits the output head computes for a token; None: it was not found
    rope_switch: int | None  # tokens beyond which the graph itself takes other position factors; None: it does not
    table_rows: int | None  # rows of the token table; None: it was not found

    @property
    def domains(self) -> frozenset[str]:
        return frozenset(domain for domain, _ in self.operators)

    @property
    def op_types(self) -> frozenset[str]:
        return frozenset(operator for _, operator in self.operators)

    @property
    def scales_whole_chunks(self) -> bool:
        """True: results depend on how a prompt is cut into chunks, so that reuse is close to a cold run, not equal."""
        return not _WHOLE_CHUNK.isdisjoint(self.operators)


def read_facts(folder: ModelFolder, graph: Path, *, input_ids: str, logits: str) -> GraphFacts:
    """The facts of `graph`, whose data files are checked to be there, inside the folder and long enough.

    `input_ids` and `logits` are the graph's names for these. Raises LayoutError.
    """
    return facts_of(read_graph(graph), folder.sub(graph.parent), graph.name, input_ids=input_ids, logits=logits)


def facts_of(model: ModelProto, folder: ModelFolder, name: str, *, input_ids: str, logits: str) -> GraphFacts:
    """The facts of a parsed graph of file `name` in `folder`."""
    graph = model.graph
    operators = Counter((_domain(node), str(node.op_type)) for node in nodes_of(model))
    local = {function.domain for function in model.functions}
    if unknown := {domain for domain, _ in operators} - _KNOWN_DOMAINS - local:
        wanted = ", ".join(sorted(repr(domain[:100]) for domain in unknown))
        raise LayoutError(f"{name} uses operators of {wanted}, which this version does not have")
    check = WeightCheck(folder, name)
    places = {place for place in map(check.place, tensors_of(model)) if place is not None}
    defaults = {tensor.name for tensor in graph.initializer}
    declared = [_tensor_facts(value) for value in graph.input]
    wiring = Wiring(graph)
    head = find_head(wiring, logits)
    switch = find_switch(wiring)
    return GraphFacts(
        inputs={item.name: item for item in declared if item.name not in defaults},
        optional={item.name: item for item in declared if item.name in defaults},
        outputs={item.name: item for item in map(_tensor_facts, graph.output)},
        operators=operators,
        appended=_appended(graph),
        weight_bytes=sum(place.length for place in places),
        data_files=frozenset(place.location for place in places) - {name},
        metadata={entry.key: entry.value for entry in model.metadata_props},
        head_width=wiring.width(head) if isinstance(head, Head) else None,
        rope_switch=None if switch is None else switch.length,
        table_rows=wiring.table_rows(input_ids),
    )


def _domain(node: NodeProto) -> str:
    return "" if node.domain == "ai.onnx" else str(node.domain)


def _tensor_facts(value: ValueInfoProto) -> TensorFacts:
    from onnx import TensorProto

    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or kind.elem_type not in TensorProto.DataType.values():
        raise LayoutError(f"the graph's {value.name[:200]!r} is not a tensor")
    shape = tuple(int(d.dim_value) if d.dim_value > 0 else str(d.dim_param) for d in kind.shape.dim)
    return TensorFacts(str(value.name), str(TensorProto.DataType.Name(kind.elem_type)).lower(), shape)


def _appended(graph: GraphProto) -> frozenset[tuple[str, str]]:
    pairs = set()
    inputs, outputs = {value.name for value in graph.input}, {value.name for value in graph.output}
    for node in graph.node:
        positions = _IN_PLACE.get((node.domain, node.op_type), ())
        for past, present in positions:
            if past < len(node.input) and present < len(node.output):
                pairs.add((node.input[past], node.output[present]))
        if node.domain == RYZENAI:  # all of these operators that take KV share the buffer; their signatures vary
            pairs |= {(past, present) for past in node.input for present in node.output}
    return frozenset((past, present) for past, present in pairs if past in inputs and present in outputs)

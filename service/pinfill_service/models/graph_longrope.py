"""Takes a switch between position factors out of a graph, and lets the engine choose for each sequence.

The two pairs of tables become one, the short factors' rows before the long factors'. Positions are given to the
attention operator: where a token stands, plus the number of short rows when `rope_offset` says so. That is the contract
of our own graphs (architectures/decoder.py); the default of `rope_offset` is 0, the short factors.
"""

from __future__ import annotations

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from pinfill_service.engine.graph_head import Wiring
from pinfill_service.engine.graph_rope import RopeSwitch, find_switch
from pinfill_service.models.graph_editing import Editor, NoWay, drop_unread, opset

OFFSET, SWITCH = "rope_offset", "pinfill.rope_switch"
_SEQLENS, _COSINES, _POSITIONS = 5, 7, 9  # among GroupQueryAttention's inputs


def choose_rope_outside(model: ModelProto, input_ids: str) -> bool:
    """Changes the graph in place; False when it has no switch. Raises NoWay, having changed nothing."""
    wiring = Wiring(model.graph)
    switch = find_switch(wiring)
    if switch is None:
        return False
    if opset(model) < 13:
        raise NoWay(f"its operators are too old (opset {opset(model)})")
    readers = _readers(model.graph, switch.node)
    tables = [_tables(switch, at) for at in range(2)]
    if tables[0][0].dims[0] < switch.length:
        raise NoWay("its tables are shorter than the length at which it switches")
    edit = Editor(model.graph)
    model.graph.input.append(helper.make_tensor_value_info(OFFSET, TensorProto.INT64, ["offsets", 1]))
    model.graph.initializer.append(numpy_helper.from_array(np.zeros((1, 1), np.int64), OFFSET))
    positions: str | None = None
    for node in model.graph.node:
        if node.output[:1] == switch.node.output[:1]:
            _join_tables(edit, model.graph, switch, tables)
            continue
        if any(node is reader for reader in readers):
            seqlens = node.input[_SEQLENS]
            positions = positions or _positions(edit, input_ids, seqlens, int(tables[0][0].dims[0]))
            node.input.extend([""] * (_POSITIONS + 1 - len(node.input)))
            node.input[_POSITIONS] = positions
        edit.nodes.append(node)
    edit.finish()
    drop_unread(model.graph)
    model.metadata_props.add(key=SWITCH, value=str(switch.length))
    return True


def _readers(graph: GraphProto, switch: NodeProto) -> list[NodeProto]:
    """The attention operators that read the tables; nothing else may, and none may have positions already."""
    made = set(switch.output)
    readers = [node for node in graph.node if made.intersection(node.input)]
    lengths = {node.input[_SEQLENS] for node in readers if len(node.input) > _COSINES}
    for node in readers:
        taken = len(node.input) > _POSITIONS and node.input[_POSITIONS]
        tables = list(node.input[_COSINES : _COSINES + 2])
        if node.op_type != "GroupQueryAttention" or taken or tables != list(switch.output) or len(lengths) != 1:
            raise NoWay("its tables of position factors are not read by attention operators alone")
    return readers


def _tables(switch: RopeSwitch, at: int) -> tuple[TensorProto, TensorProto]:
    """The stored tables, short and long, of the switch's output number `at`."""
    short, long = (_stored(arm, at) for arm in (switch.short, switch.long))
    if short.data_type != long.data_type or len(short.dims) != 2 or list(short.dims[1:]) != list(long.dims[1:]):
        raise NoWay("its two tables of position factors do not fit together")
    return short, long


def _stored(arm: GraphProto, at: int) -> TensorProto:
    name = arm.output[at].name if at < len(arm.output) else ""
    tensors = {tensor.name: tensor for tensor in arm.initializer}
    for node in arm.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                tensors[node.output[0]] = attribute.t
    if name not in tensors:
        raise NoWay("its tables of position factors are not stored as they are")
    return tensors[name]


def _join_tables(
    edit: Editor, graph: GraphProto, switch: RopeSwitch, tables: list[tuple[TensorProto, TensorProto]]
) -> None:
    for output, pair in zip(switch.node.output, tables, strict=True):
        names = []
        for tensor in pair:
            stored = graph.initializer.add()
            stored.CopyFrom(tensor)
            stored.name = edit.fresh("rope")
            names.append(stored.name)
        edit.node("Concat", names, output=output, axis=0)


def _positions(edit: Editor, input_ids: str, seqlens: str, short_rows: int) -> str:
    """Rows of the table for each token: [batch, tokens]. `seqlens` holds each row's last position."""
    one = edit.constant(np.array(1, np.int64))
    zero = edit.constant(np.array(0, np.int64))
    count = edit.node("Gather", [edit.node("Shape", [input_ids]), one], axis=0)
    last = edit.node("Reshape", [edit.node("Cast", [seqlens], to=TensorProto.INT64), edit.integers(-1, 1)])
    first = edit.node("Sub", [edit.node("Add", [last, one]), count])
    absolute = edit.node("Add", [first, edit.node("Range", [zero, count, one])])
    chosen = edit.node("Mul", [edit.node("Min", [OFFSET, one]), edit.constant(np.array(short_rows, np.int64))])
    return edit.node("Add", [absolute, chosen])

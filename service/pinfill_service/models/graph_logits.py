"""Gives a graph an input that says how many positions, counted from the end, get logits."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, shape_inference

from pinfill_service.engine.graph_head import ELEMENTWISE, PRODUCTS, Head, Wiring, find_head
from pinfill_service.models.graph_editing import Editor, NoWay, opset

KEEP = "num_logits_to_keep"  # a scalar; without a value, all positions are kept
# What may stand between hidden states and logits: what works on each row by itself, and arithmetic with shapes.
_SHAPES = {"Reshape", "Shape", "Gather", "Concat", "Unsqueeze", "Squeeze", "Slice"}


def keep_last_logits(model: ModelProto, logits: str) -> None:
    """Puts a slice of the hidden states before the output head, in place. Raises NoWay, having changed nothing."""
    if any(value.name == KEEP for value in model.graph.input):
        raise NoWay("it has that input already")
    if opset(model) < 13:
        raise NoWay(f"its operators are too old (opset {opset(model)})")
    wiring = Wiring(model.graph)
    head = find_head(wiring, logits)
    if isinstance(head, str):
        raise NoWay(head)
    output = next(value for value in model.graph.output if value.name == logits)
    if len(output.type.tensor_type.shape.dim) != 3:
        raise NoWay("its logits are not [batch, tokens, vocabulary]")
    hidden = _hidden_states(model, wiring, head)
    _insert(model, hidden, _between(wiring, hidden, logits))
    output.type.tensor_type.shape.dim[1].dim_param = "logits_length"


def _hidden_states(model: ModelProto, wiring: Wiring, head: Head) -> str:
    """The value [batch, tokens, hidden] that the head reads, perhaps in another shape."""
    value = str(head.product.input[0])
    if not any(node.op_type == "Reshape" for node in head.after):
        return value  # a product and what works on each number keep the number of dimensions
    maker = wiring.maker.get(value)
    if maker is not None and maker.op_type == "Reshape":
        value = str(maker.input[0])
    try:
        inferred = shape_inference.infer_shapes(model).graph
    except shape_inference.InferenceError as error:
        raise NoWay("its shapes contradict each other") from error
    known = (entry for entry in (*inferred.value_info, *inferred.input) if entry.name == value)
    if next((len(entry.type.tensor_type.shape.dim) for entry in known), 0) != 3:
        raise NoWay("the shape of what its output head reads is not known")
    return value


def _between(wiring: Wiring, hidden: str, logits: str) -> set[int]:
    """Positions in the graph's list of the nodes between hidden states and logits.

    Raises NoWay when they read, or are read by, anything else: then fewer rows would change more than the logits.
    """
    nodes = list(wiring.graph.node)
    position = {output: at for at, node in enumerate(nodes) for output in node.output}
    found: set[int] = set()
    pending = [logits]
    while pending:
        value = pending.pop()
        if not value or value == hidden or wiring.is_constant(value):
            continue
        at = position.get(value)
        if at is None or nodes[at].op_type not in PRODUCTS | ELEMENTWISE | _SHAPES:
            raise NoWay("its output head depends on more than the hidden states")
        if at not in found:
            found.add(at)
            pending += nodes[at].input
    made = {output for at in found for output in nodes[at].output if output}
    if any(made.intersection(node.input) for at, node in enumerate(nodes) if at not in found):
        raise NoWay("a part of its output head is read elsewhere")
    return found


def _insert(model: ModelProto, hidden: str, between: set[int]) -> None:
    graph = model.graph
    edit = Editor(graph)
    graph.input.append(helper.make_tensor_value_info(KEEP, TensorProto.INT64, []))
    graph.initializer.append(numpy_helper.from_array(np.array(np.iinfo(np.int32).max, np.int64), KEEP))
    kept: str | None = None
    for at, node in enumerate(graph.node):
        if at in between and hidden in node.input:
            kept = kept or _kept(edit, hidden)
            copied = NodeProto()
            copied.CopyFrom(node)
            copied.input[:] = [kept if name == hidden else name for name in node.input]
            node = copied
        edit.nodes.append(node)
    edit.finish()


def _kept(edit: Editor, hidden: str) -> str:
    """The last positions: [batch, tokens, hidden] -> [batch, min(tokens, kept), hidden]."""
    start = edit.node("Reshape", [edit.node("Neg", [KEEP]), edit.integers(-1)])
    end = edit.integers(np.iinfo(np.int64).max)
    return edit.node("Slice", [hidden, start, end, edit.integers(1)])

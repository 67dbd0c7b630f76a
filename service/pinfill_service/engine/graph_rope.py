"""Finds out whether a graph itself switches between two sets of position factors (LongRoPE), and at which length.

onnxruntime-genai's builder writes `If(Greater(total length, 4096))` with a pair of tables in either arm. KV made with
one set must not be continued with the other, and a long prompt that is evaluated in chunks begins with the wrong one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pinfill_service.engine.graph_head import Wiring
from pinfill_service.engine.layout_files import LayoutError

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

# The position of the cosine table among the inputs.
_COSINES = {"GroupQueryAttention": 7, "RotaryEmbedding": 2}


@dataclass(frozen=True, slots=True)
class RopeSwitch:
    """`node` gives the tables of `long` when there are more tokens than `length`, else those of `short`."""

    node: NodeProto
    length: int
    long: GraphProto
    short: GraphProto


def find_switch(wiring: Wiring) -> RopeSwitch | None:
    """Raises LayoutError for a switch whose condition is not understood."""
    for reader in wiring.graph.node:
        cosines = _COSINES.get(reader.op_type, len(reader.input))
        maker = wiring.maker.get(reader.input[cosines]) if cosines < len(reader.input) else None
        if maker is not None and maker.op_type == "If":
            return _switch(wiring, maker)
    return None


def _switch(wiring: Wiring, node: NodeProto) -> RopeSwitch:
    condition = wiring.maker.get(node.input[0]) if node.input else None
    arms = {attribute.name: attribute.g for attribute in node.attribute}
    if condition is not None and condition.op_type == "Greater" and len(condition.input) == 2:
        length = _number(wiring, condition.input[1])
        if length is not None and {"then_branch", "else_branch"} <= arms.keys():
            return RopeSwitch(node, length, arms["then_branch"], arms["else_branch"])
    raise LayoutError("the graph switches between position factors under a condition that this version does not know")


def _number(wiring: Wiring, name: str) -> int | None:
    """A constant's value, when it is one positive number."""
    from onnx import numpy_helper

    maker = wiring.maker.get(name)
    stored = [a.t for a in maker.attribute if a.name == "value"] if maker is not None else []
    tensor = wiring.initializers.get(name) or next(iter(stored), None)
    if (
        tensor is None
        or tensor.data_type not in (6, 7)
        or tensor.data_location
        or np.prod(tensor.dims, dtype=object) != 1
    ):
        return None
    value = int(numpy_helper.to_array(tensor).item())
    return value if 0 < value < 1 << 31 else None

"""Windows that mean the same on every onnxruntime.

`local_window_size` of GroupQueryAttention counts the token itself since onnxruntime 1.24, as everybody else does; 1.23
did not count it, and let every token see one more (onnxruntime pull request 25927). Graphs made here count it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from pinfill_service.engine.providers import load_onnxruntime

_HEAD_SIZE = 16


@cache
def counts_itself() -> bool:
    """Whether the installed onnxruntime counts the token itself, found out with a window of 1 over 2 tokens."""
    session = load_onnxruntime().InferenceSession(_probe().SerializeToString(), providers=["CPUExecutionProvider"])
    token = np.ones((1, 1, _HEAD_SIZE), np.float32)
    past = np.zeros((1, 1, 1, _HEAD_SIZE), np.float32)
    feeds = {"x": token, "past": past, "last": np.array([1], np.int32), "total": np.array(2, np.int32)}
    (output,) = session.run(["y"], feeds)
    return bool(np.allclose(output, token))  # otherwise mixed with the zeros of the token before


def _probe() -> onnx.ModelProto:
    node = helper.make_node(
        "GroupQueryAttention", ["x", "x", "x", "past", "past", "last", "total"], ["y", "key", "value"],
        domain="com.microsoft", num_heads=1, kv_num_heads=1, local_window_size=1,
    )  # fmt: skip
    value = helper.make_tensor_value_info
    inputs = [
        value("x", TensorProto.FLOAT, [1, 1, _HEAD_SIZE]),
        value("past", TensorProto.FLOAT, [1, 1, 1, _HEAD_SIZE]),
        value("last", TensorProto.INT32, [1]),
        value("total", TensorProto.INT32, []),
    ]
    outputs = [value("y", TensorProto.FLOAT, [1, 1, _HEAD_SIZE])]
    outputs += [value(name, TensorProto.FLOAT, [1, 1, 2, _HEAD_SIZE]) for name in ("key", "value")]
    graph = helper.make_graph([node], "probe", inputs, outputs)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def without_itself(graph: Path) -> bytes:
    """The graph for an onnxruntime that does not count the token itself. Its weights stay in their files."""
    model: Any = onnx.load(graph, load_external_data=False)
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.op_type == "GroupQueryAttention" and attribute.name == "local_window_size" and attribute.i > 0:
                attribute.i -= 1
    serialized: bytes = model.SerializeToString()
    return serialized

"""Tries whether this machine's kernels give a row of a quantised product the same bits whatever rows are beside it.

They differ: with AVX-512 VNNI, rows are worked on in pairs when blocks have 64 numbers or more, and the odd one out is
summed in another order; with blocks of 16 and 32 there is no difference. The last bit matters where activations are
rounded to int8: it becomes up to 1.0 in a logit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from pinfill_service.engine.providers import load_onnxruntime

_ROWS, _COLUMNS = 8, 64  # kernels work on tiles of at most 4 x 16
_TRIED = (1, 2, 3, 5)


@dataclass(frozen=True, slots=True)
class QuantisedProduct:
    """What decides which kernel a MatMulNBits over float rows takes."""

    inner: int  # K
    bits: int
    block: int
    level: int  # accuracy_level
    zero_points: bool


@cache
def rows_depend(product: QuantisedProduct) -> bool:
    """Whether a row's result depends on the number of rows. Raises RuntimeMissingError."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((_ROWS, product.inner)).astype(np.float32)
    session = _session(product, random)
    together = session.run(None, {"x": rows})[0]
    return any(not np.array_equal(session.run(None, {"x": rows[:count]})[0], together[:count]) for count in _TRIED)


def _session(product: QuantisedProduct, random: np.random.Generator) -> Any:
    blocks = -(-product.inner // product.block)
    weights = random.integers(0, 256, (_COLUMNS, blocks, product.block * product.bits // 8), np.uint8)
    arrays = {"w": weights, "s": random.random((_COLUMNS, blocks), np.float32)}
    if product.zero_points:
        arrays["z"] = random.integers(0, 256, (_COLUMNS, -(-blocks * product.bits // 8)), np.uint8)
    node = helper.make_node(
        "MatMulNBits", ["x", *arrays], ["y"], domain="com.microsoft",
        K=product.inner, N=_COLUMNS, bits=product.bits, block_size=product.block, accuracy_level=product.level,
    )  # fmt: skip
    shapes = (("x", product.inner), ("y", _COLUMNS))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", size]) for name, size in shapes)
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(
        helper.make_graph([node], "probe", [x], [y], tensors), opset_imports=opsets, ir_version=10
    )
    onnxruntime = load_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

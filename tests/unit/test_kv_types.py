"""KV as float16 and int8, as a graph has it: the fixture's attention is rewritten to keep its KV that way."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.layout import read_layout
from pinfill_service.engine.session import DecoderSession
from tests.support.models import LLAMA
from tests.unit.test_session import REFERENCE, load, run

PROMPT = REFERENCE["oga-llama-fp32"]["prompt_ids"]
_SCALES = 12  # k_scale and v_scale are the operator's inputs 12 and 13


def retyped(folder: Path, kind: int) -> None:
    """Rewrites the graph so that its KV has another type."""
    path = folder / "model.onnx"
    model = onnx.load(path, load_external_data=False)
    for value in (*model.graph.input, *model.graph.output):
        if value.name.startswith(("past_key_values.", "present.")):
            value.type.tensor_type.elem_type = kind
    nodes = list(model.graph.node)
    del model.graph.node[:]
    for node in nodes:
        if node.op_type != "GroupQueryAttention":
            model.graph.node.append(node)
        elif kind == TensorProto.FLOAT16:
            _half(model.graph, node)
        else:
            _quantised(model.graph, node)
    onnx.save(model, path)


def _half(graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    """Q, K, V and the RoPE tables become half precision before the operator, its output float after it."""
    for position in (0, 1, 2, 7, 8):
        if position < len(node.input) and node.input[position]:
            name = node.input[position]
            cast = f"{node.name}.{position}.half"
            graph.node.append(helper.make_node("Cast", [name], [cast], to=TensorProto.FLOAT16))
            node.input[position] = cast
    output, node.output[0] = node.output[0], f"{node.name}.attended.half"
    graph.node.append(node)
    graph.node.append(helper.make_node("Cast", [node.output[0]], [output], to=TensorProto.FLOAT))


def _quantised(graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    node.input.extend([""] * (_SCALES - len(node.input)))
    for name in ("k_scale", "v_scale"):
        graph.initializer.append(numpy_helper.from_array(np.array([0.04], np.float32), f"{node.name}.{name}"))
        node.input.append(f"{node.name}.{name}")
    for name in ("k_quant_type", "v_quant_type"):
        node.attribute.append(helper.make_attribute(name, "PER_TENSOR"))
    node.attribute.append(helper.make_attribute("kv_cache_bit_width", 8))
    graph.node.append(node)


@pytest.fixture(params=[TensorProto.FLOAT16, TensorProto.INT8], ids=["float16", "int8"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[DecoderSession, KvSlots]:
    folder = Path(shutil.copytree(LLAMA, tmp_path / "model"))
    retyped(folder, request.param)
    return load(folder)


def test_its_type_is_the_graphs_and_its_size_follows(model: tuple[DecoderSession, KvSlots]) -> None:
    session, kv = model
    plain, _ = load(LLAMA)
    size = session.tensors[0].dtype.itemsize
    assert size in (1, 2)
    assert kv.bytes_per_token * 4 == sum(tensor.bytes_per_token for tensor in plain.tensors) * size


def test_reuse_is_exact_and_the_answer_close_to_full_precision(model: tuple[DecoderSession, KvSlots]) -> None:
    session, kv = model
    plain, _ = load(LLAMA)
    whole = run(session, 0, PROMPT)
    for start in range(0, len(PROMPT), 6):
        chunked = run(session, 1, PROMPT[start : start + 6])
    kv.fork(0, 2, 0, 20)
    forked = run(session, 2, PROMPT[20:])
    span = kv.export(0, 0, 15)
    kv.truncate(2, 0)
    kv.load(span, 2)
    restored = run(session, 2, PROMPT[15:])
    for other in (chunked, forked, restored):
        assert np.array_equal(whole, other)
    reference = run(plain, 0, PROMPT)
    assert np.abs(whole - reference).max() < 0.1 * np.abs(reference).max()


def test_the_layout_says_what_it_is(model: tuple[DecoderSession, KvSlots], tmp_path: Path) -> None:
    assert read_layout(tmp_path / "model").appends_in_place

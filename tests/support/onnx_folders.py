"""Model folders in layouts for which there is no fixture, made from those that have one; and a way to run them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, external_data_helper, helper

from pinfill_service.engine.layout import ModelLayout
from tests.support.models import MODELS

OPTIMUM = MODELS / "optimum-llama-fp32"
LFM2 = MODELS / "oga-lfm2-fp32"
INT4 = MODELS / "oga-qwen3-int4"


def edit_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


def edit_graph(path: Path, change: Callable[[ModelProto], object]) -> None:
    """Changes a graph, whose data files stay as they are."""
    model = onnx.load(path, load_external_data=False)
    change(model)
    path.write_bytes(model.SerializeToString())


def transformers_js(target: Path, suffixes: Mapping[str, int], source: Path = OPTIMUM) -> Path:
    """A folder with onnx/model{suffix}.onnx for each suffix, padded with that many bytes of unused weights."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.onnx"))
    (target / "onnx").mkdir()
    for suffix, padding in suffixes.items():
        model = onnx.load(source / "model.onnx")
        if padding:
            unused = TensorProto(name="unused", data_type=TensorProto.UINT8, dims=[padding], raw_data=bytes(padding))
            model.graph.initializer.append(unused)
        onnx.save(model, target / "onnx" / f"model{suffix}.onnx")
    return target


def in_chunks(graph: Path) -> None:
    """Moves a graph's weights to two files beside it, named as transformers.js names them."""
    model = onnx.load(graph)
    names = (f"{graph.name}_data", f"{graph.name}_data_1")
    files = [bytearray(), bytearray()]
    for at, tensor in enumerate(tensor for tensor in model.graph.initializer if len(tensor.raw_data) > 500):
        file = files[at % 2]
        external_data_helper.set_external_data(tensor, names[at % 2], len(file), len(tensor.raw_data))
        file += tensor.raw_data
        tensor.ClearField("raw_data")
    for name, file in zip(names, files, strict=True):
        graph.with_name(name).write_bytes(file)
    graph.write_bytes(model.SerializeToString())


def merged(target: Path, source: Path = OPTIMUM) -> Path:
    """A folder with a merged decoder, as optimum writes it: an If over `use_cache_branch` with the graph in both arms.

    The arm without cache reads an empty slice of the past instead of the past itself.
    """
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.onnx"))
    model = onnx.load(source / "model.onnx")
    graph = model.graph
    arms = {"then_branch": _arm(graph, "with", empty=False), "else_branch": _arm(graph, "without", empty=True)}
    switch = helper.make_node("If", ["use_cache_branch"], [value.name for value in graph.output], **arms)
    del graph.node[:]
    graph.node.append(switch)
    graph.input.append(helper.make_tensor_value_info("use_cache_branch", TensorProto.BOOL, [1]))
    onnx.save(model, target / "decoder_model_merged.onnx")
    return target


def _arm(graph: GraphProto, prefix: str, *, empty: bool) -> GraphProto:
    past = [value.name for value in graph.input if value.name.startswith("past")]
    renamed = {output: f"{prefix}/{output}" for node in graph.node for output in node.output if output}
    nodes: list[NodeProto] = []
    if empty:
        renamed |= {name: f"{prefix}/{name}" for name in past}
        for name, value in (("zero", [0]), ("axis", [2])):
            nodes.append(helper.make_node("Constant", [], [f"{prefix}/{name}"], value_ints=value))
        bounds = [f"{prefix}/zero", f"{prefix}/zero", f"{prefix}/axis"]
        nodes += [helper.make_node("Slice", [name, *bounds], [renamed[name]]) for name in past]
    for node in graph.node:
        copied = NodeProto()
        copied.CopyFrom(node)
        copied.input[:] = [renamed.get(name, name) for name in node.input]
        copied.output[:] = [renamed.get(name, name) for name in node.output]
        copied.name = f"{prefix}/{node.name}"
        nodes.append(copied)
    outputs = []
    for value in graph.output:
        copied_value = onnx.ValueInfoProto()
        copied_value.CopyFrom(value)
        copied_value.name = renamed[value.name]
        outputs.append(copied_value)
    return helper.make_graph(nodes, prefix, [], outputs)


def logits(layout: ModelLayout, ids: NDArray[np.int64], keep: int | None = None) -> NDArray[Any]:
    """Logits [batch, kept, vocabulary] of a run of `ids` [batch, tokens] without any past."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(layout.graph), options, providers=["CPUExecutionProvider"])
    batch, tokens = ids.shape
    feeds: dict[str, NDArray[Any]] = {
        layout.names.input_ids: ids,
        layout.names.attention_mask: np.ones((batch, tokens), np.int64),
        layout.names.position_ids: np.tile(np.arange(tokens), (batch, 1)),
        layout.names.use_cache_branch: np.array([False]),
    }
    if keep is not None:
        feeds["num_logits_to_keep"] = np.array(keep, np.int64)
    for item in session.get_inputs():
        if item.name not in feeds:
            size = [d if isinstance(d, int) else 0 for d in item.shape]
            shape = [batch, size[1], *size[2:3], *([layout.head_size] if len(size) == 4 else [])]
            feeds[item.name] = np.zeros(shape, np.float16 if item.type == "tensor(float16)" else np.float32)
    wanted = {item.name for item in (*session.get_inputs(), *session.get_overridable_initializers())}
    result = session.run([layout.names.logits], {name: array for name, array in feeds.items() if name in wanted})[0]
    assert isinstance(result, np.ndarray)
    return result

"""Graphs that switch between two sets of position factors: run up to there as they are, and beyond once taken in."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.layout import LayoutError, read_layout
from pinfill_service.engine.session import DecoderSession
from pinfill_service.models.folder_import import import_folder
from pinfill_service.models.graph_editing import NoWay
from pinfill_service.models.graph_longrope import choose_rope_outside
from tests.support.models import LLAMA
from tests.support.onnx_folders import edit_graph, logits

SWITCH = 40
IDS = np.random.default_rng(5).integers(3, 500, 70)


def add_switch(model: ModelProto) -> None:
    """Puts the tables behind an If, as onnxruntime-genai's builder does."""
    graph = model.graph
    kept = [tensor for tensor in graph.initializer if tensor.name not in ("cos_cache", "sin_cache")]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    total = "/model/attn_mask_reformat/attn_mask_subgraph/Gather/output_0"
    graph.initializer.append(numpy_helper.from_array(np.array(SWITCH, np.int64), "limit"))
    condition = helper.make_node("Greater", [total, "limit"], ["is_long"])
    arms = {"then_branch": arm("large", 512, 50_000.0), "else_branch": arm("small", SWITCH, 10_000.0)}
    switch = helper.make_node("If", ["is_long"], ["cos_cache", "sin_cache"], **arms)
    at = next(at for at, node in enumerate(graph.node) if total in node.output) + 1
    nodes = [*graph.node[:at], condition, switch, *graph.node[at:]]
    del graph.node[:]
    graph.node.extend(nodes)


def arm(name: str, rows: int, base: float) -> onnx.GraphProto:
    angles = np.arange(rows)[:, None] / base ** (np.arange(0, 16, 2) / 16)
    nodes, outputs = [], []
    for kind, table in (("cos", np.cos(angles)), ("sin", np.sin(angles))):
        tensor = numpy_helper.from_array(table.astype(np.float32))
        nodes.append(helper.make_node("Constant", [], [f"{kind}_{name}"], value=tensor))
        outputs.append(helper.make_tensor_value_info(f"{kind}_{name}", TensorProto.FLOAT, table.shape))
    return helper.make_graph(nodes, name, [], outputs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(LLAMA, tmp_path / "source"))
    edit_graph(folder / "model.onnx", add_switch)
    return folder


def test_a_graph_that_switches_itself_is_run_up_to_there(folder: Path) -> None:
    layout = read_layout(folder)
    assert (layout.context_length, layout.facts.rope_switch) == (SWITCH, SWITCH)


@pytest.mark.parametrize("tokens", [1, 30, SWITCH, SWITCH + 1, 70])
def test_once_taken_in_it_gives_the_same_at_every_length(folder: Path, tmp_path: Path, tokens: int) -> None:
    """Evaluated at once by the original, in chunks of 7 and token by token by the copy."""
    done = import_folder(folder, tmp_path / "target")
    assert "Position factors for long prompts are chosen for each request." in done
    layout = read_layout(tmp_path / "target")
    assert (layout.context_length, layout.facts.rope_switch) == (512, None)
    expected = logits(read_layout(folder), IDS[None, :tokens])[0, -1]
    session = DecoderSession(layout, threads=1)
    kv = KvSlots(session.tensors, 2, layout.context_length)
    session.attach(kv)
    assert session.rope_switch == SWITCH
    for slot, size in ((0, 7), (1, 1)):
        session.use_long_rope(slot, tokens > SWITCH)
        for start in range(0, tokens, size):
            result = session.prefill(slot, IDS[start : min(start + size, tokens)], 1)
        assert np.abs(result[-1] - expected).max() < 1e-4


def test_sequences_on_either_side_are_decoded_together(folder: Path, tmp_path: Path) -> None:
    import_folder(folder, tmp_path / "target")
    layout, original = read_layout(tmp_path / "target"), read_layout(folder)
    session = DecoderSession(layout, threads=1)
    session.attach(KvSlots(session.tensors, 2, layout.context_length))
    session.use_long_rope(1, True)
    session.prefill(0, IDS[:20], 1)
    session.prefill(1, IDS[:50], 1)
    together = session.decode(0, 2, [int(IDS[20]), int(IDS[50])])
    for row, tokens in ((0, 21), (1, 51)):
        assert np.abs(together[row] - logits(original, IDS[None, :tokens])[0, -1]).max() < 1e-4


def other_condition(model: ModelProto) -> None:
    next(node for node in model.graph.node if node.op_type == "Greater").op_type = "Less"


def test_a_condition_that_is_not_understood_is_refused(folder: Path) -> None:
    edit_graph(folder / "model.onnx", other_condition)
    with pytest.raises(LayoutError, match="condition that this version does not know"):
        read_layout(folder)


def positions_given(model: ModelProto) -> None:
    node = next(node for node in model.graph.node if node.op_type == "GroupQueryAttention")
    node.input[9] = "input_ids"


def computed_table(model: ModelProto) -> None:
    node = next(node for node in model.graph.node if node.op_type == "If")
    node.attribute[0].g.node[0].op_type = "Identity"


def short_table(model: ModelProto) -> None:
    limit = next(tensor for tensor in model.graph.initializer if tensor.name == "limit")
    limit.CopyFrom(numpy_helper.from_array(np.array(100, np.int64), "limit"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (positions_given, "not read by attention operators alone"),
        (computed_table, "not stored as they are"),
        (short_table, "shorter than the length"),
    ],
)
def test_what_cannot_be_taken_out_stays(folder: Path, change: Callable[[ModelProto], None], words: str) -> None:
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    change(model)
    before = model.SerializeToString()
    with pytest.raises(NoWay, match=words):
        choose_rope_outside(model, "input_ids")
    assert model.SerializeToString() == before

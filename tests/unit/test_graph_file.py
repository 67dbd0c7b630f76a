"""The reader that steps over weights: what it keeps is what ONNX reads, and what it does not follow it refuses."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import ModelProto, external_data_helper

from pinfill_service.engine import graph_file
from pinfill_service.engine.graph_file import read_graph
from pinfill_service.engine.graph_weights import tensors_of
from pinfill_service.engine.layout import LayoutError
from tests.support.models import LLAMA
from tests.support.onnx_folders import OPTIMUM, merged


def with_weights(model: ModelProto, folder: Path) -> ModelProto:
    """The model with every referenced tensor's bytes back in it."""
    for tensor in tensors_of(model):
        if external_data_helper.uses_external_data(tensor):
            external_data_helper.load_external_data_for_tensor(tensor, str(folder))
            tensor.ClearField("data_location")
            del tensor.external_data[:]
    return model


@pytest.mark.parametrize("folder", [OPTIMUM, LLAMA])
def test_a_model_is_what_onnx_reads(folder: Path) -> None:
    expected = with_weights(onnx.load(folder / "model.onnx", load_external_data=False), folder)
    assert with_weights(read_graph(folder / "model.onnx"), folder) == expected


def test_large_weights_are_left_out_in_subgraphs_too(tmp_path: Path) -> None:
    path = merged(tmp_path / "merged") / "decoder_model_merged.onnx"
    model = onnx.load(path)
    arm = model.graph.node[0].attribute[0].g
    arm.initializer.append(
        onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(model.graph.initializer[0]), "inner")
    )
    onnx.save(model, path)
    structure = read_graph(path)
    assert max(len(tensor.raw_data) for tensor in tensors_of(structure)) <= graph_file.LARGE_BYTES
    assert with_weights(structure, path.parent) == onnx.load(path)


def test_more_structure_than_any_model_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_file, "MAX_STRUCTURE_BYTES", 10_000)
    with pytest.raises(LayoutError, match="beside weights"):
        read_graph(LLAMA / "model.onnx")


def test_more_fields_than_any_model_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_file, "_MAX_FIELDS", 1000)
    (tmp_path / "model.onnx").write_bytes(b"\x08\x01" * 1001)
    with pytest.raises(LayoutError, match="not an ONNX graph"):
        read_graph(tmp_path / "model.onnx")

"""Graphs that onnxruntime-genai's builder wrote, against PyTorch's numbers for the same weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.layout import LayoutError, read_layout
from pinfill_service.engine.session import DecoderSession
from tests.support.models import LLAMA, MODELS

REFERENCE = json.loads((MODELS / "reference.json").read_text())
NAMES = ("oga-llama-fp32", "oga-qwen3-fp32")


@pytest.fixture(params=NAMES)
def model(request: pytest.FixtureRequest) -> tuple[DecoderSession, KvSlots, dict[str, Any]]:
    layout = read_layout(MODELS / request.param)
    session = DecoderSession(layout, threads=1)
    kv = KvSlots(session.tensors, 3, layout.context_length)
    session.attach(kv)
    return session, kv, REFERENCE[request.param]


def greedy(session: DecoderSession, slot: int, logits: np.ndarray, count: int = 24) -> list[int]:
    tokens = []
    for _ in range(count):
        tokens.append(int(logits.argmax()))
        logits = session.decode(slot, slot + 1, [tokens[-1]])[0]
    return tokens


def run(session: DecoderSession, slot: int, ids: list[int]) -> np.ndarray:
    return session.prefill(slot, np.array(ids, np.int64), 1)[-1]


Model = tuple[DecoderSession, KvSlots, dict[str, Any]]


def check(model: Model, slot: int, logits: np.ndarray) -> None:
    session, _, reference = model
    assert np.abs(logits[:16] - np.array(reference["last_logits_first_16"])).max() < 1e-4
    assert greedy(session, slot, logits) == reference["greedy_24"]


def test_one_shot(model: Model) -> None:
    check(model, 0, run(model[0], 0, model[2]["prompt_ids"]))


def test_chunked(model: Model) -> None:
    ids = model[2]["prompt_ids"]
    for start in range(0, len(ids), 7):
        logits = run(model[0], 1, ids[start : start + 7])
    check(model, 1, logits)


@pytest.mark.parametrize("length", [1, 5, 13, 28])
def test_truncated(model: Model, length: int) -> None:
    session, kv, reference = model
    ids = reference["prompt_ids"]
    run(session, 0, [*ids[:length], 9, 9, 9, 9])
    kv.truncate(0, length)
    check(model, 0, run(session, 0, ids[length:]))


def test_forked_and_restored(model: Model) -> None:
    session, kv, reference = model
    ids = reference["prompt_ids"]
    run(session, 0, ids)
    span = kv.export(0, 0, 20)
    kv.fork(0, 2, 0, 20)
    check(model, 2, run(session, 2, ids[20:]))
    kv.truncate(2, 0)
    kv.load(span, 2)
    check(model, 2, run(session, 2, ids[20:]))


def test_rows_of_different_length_are_decoded_together(model: Model) -> None:
    session, kv, reference = model
    logits = run(session, 0, reference["prompt_ids"])
    run(session, 1, [5, 6, 7])
    run(session, 2, [8] * 40)
    tokens = []
    for _ in range(24):
        tokens.append(int(logits.argmax()))
        logits = session.decode(0, 3, [tokens[-1], None, 3])[0]
    assert tokens == reference["greedy_24"]
    assert (kv.length(1), kv.length(2)) == (3, 64)


def test_a_graph_with_an_input_nobody_knows_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(LLAMA, tmp_path / "model"))
    graph = onnx.load(folder / "model.onnx", load_external_data=False)
    graph.graph.input.append(onnx.helper.make_tensor_value_info("pixel_values", onnx.TensorProto.FLOAT, [1]))
    onnx.save(graph, folder / "model.onnx")
    with pytest.raises(LayoutError, match="pixel_values"):
        DecoderSession(read_layout(folder), threads=1)


def test_a_graph_without_kv_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(LLAMA, tmp_path / "model"))
    config = json.loads((folder / "genai_config.json").read_text())
    config["model"]["decoder"]["inputs"]["past_key_names"] = "cache.%d.k"
    (folder / "genai_config.json").write_text(json.dumps(config))
    with pytest.raises(LayoutError, match=r"cache\.0\.k"):
        DecoderSession(read_layout(folder), threads=1)


def test_a_failed_run_leaves_the_lengths_as_they_were(model: Model) -> None:
    session, kv, reference = model
    run(session, 0, reference["prompt_ids"])
    with pytest.raises(Exception, match=r"indices|out of"):
        run(session, 0, [10**6])
    assert kv.length(0) == 30

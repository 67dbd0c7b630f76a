"""Graphs that other programs wrote, against PyTorch's numbers for the same weights.

onnxruntime-genai's builder (KV appended in place; one with convolution state) and optimum (KV grows by concatenation).
"""

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
NAMES = ("oga-llama-fp32", "oga-qwen3-fp32", "oga-lfm2-fp32", "optimum-llama-fp32", "optimum-qwen3-fp32")
Model = tuple[DecoderSession, KvSlots, dict[str, Any]]


def load(folder: Path, slots: int = 3) -> tuple[DecoderSession, KvSlots]:
    layout = read_layout(folder)
    session = DecoderSession(layout, threads=1)
    kv = KvSlots(session.tensors, slots, layout.context_length, session.states)
    session.attach(kv)
    return session, kv


@pytest.fixture(params=NAMES)
def model(request: pytest.FixtureRequest) -> Model:
    return *load(MODELS / request.param), REFERENCE[request.param]


def greedy(session: DecoderSession, slot: int, logits: np.ndarray, count: int = 24) -> list[int]:
    tokens = []
    for _ in range(count):
        tokens.append(int(logits.argmax()))
        logits = session.decode(slot, slot + 1, [tokens[-1]])[0]
    return tokens


def run(session: DecoderSession, slot: int, ids: list[int]) -> np.ndarray:
    return session.prefill(slot, np.array(ids, np.int64), 1)[-1]


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
    """By moving the cursor back; a model with state goes back to a checkpoint."""
    session, kv, reference = model
    ids = reference["prompt_ids"]
    run(session, 0, ids[:length])
    checkpoint = kv.checkpoint(0)
    run(session, 0, [9, 9, 9, 9])
    if kv.has_state:
        kv.restore(0, checkpoint)
    else:
        kv.truncate(0, length)
    check(model, 0, run(session, 0, ids[length:]))


def test_forked_and_restored(model: Model) -> None:
    session, kv, reference = model
    ids = reference["prompt_ids"]
    run(session, 0, ids[:20])
    checkpoint = kv.checkpoint(0)
    run(session, 0, ids[20:])
    span = kv.export(0, 0, 20)
    kv.fork(0, 2, 0, 20)
    kv.restore(2, checkpoint)
    check(model, 2, run(session, 2, ids[20:]))
    kv.truncate(2, 0)
    kv.load(span, 2)
    kv.restore(2, checkpoint)
    check(model, 2, run(session, 2, ids[20:]))


def test_slots_take_turns(model: Model) -> None:
    """What one slot's run left behind is not taken for another's."""
    session, kv, reference = model
    ids = reference["prompt_ids"]
    run(session, 0, ids[:-4])
    run(session, 1, [7, 8, 9])
    for token in ids[-4:-1]:
        session.decode(0, 1, [token])
        session.decode(1, 2, [5])
    check(model, 0, run(session, 0, ids[-1:]))
    assert kv.length(1) == 6


def test_rows_of_different_length_are_decoded_together(model: Model) -> None:
    session, kv, reference = model
    logits = run(session, 0, reference["prompt_ids"])
    run(session, 1, [5, 6, 7])
    run(session, 2, [8] * 40)
    state = kv.checkpoint(1)
    tokens = []
    for _ in range(24):
        tokens.append(int(logits.argmax()))
        for first, last in session.groups([0, 2]):
            rows = [{0: tokens[-1], 2: 3}.get(slot) for slot in range(first, last)]
            result = session.decode(first, last, rows)
            if first == 0:
                logits = result[0]
    assert tokens == reference["greedy_24"]
    assert (kv.length(1), kv.length(2)) == (3, 64)
    for before, after in zip(state.state, kv.checkpoint(1).state, strict=True):
        assert np.array_equal(before, after), "a row that did not run has another state"


def test_state_of_another_length_is_refused(model: Model) -> None:
    session, kv, reference = model
    if not kv.has_state:
        pytest.skip("this model has no state beside KV")
    run(session, 0, reference["prompt_ids"])
    kv.truncate(0, 10)
    with pytest.raises(RuntimeError, match="state"):
        run(session, 0, [5, 6])
    assert kv.length(0) == 10


def test_four_bit_weights_give_the_same_however_the_prompt_is_cut() -> None:
    session, kv = load(MODELS / "oga-qwen3-int4")
    ids = REFERENCE["oga-qwen3-fp32"]["prompt_ids"]
    whole = run(session, 0, ids)
    for start in range(0, len(ids), 6):
        chunked = run(session, 1, ids[start : start + 6])
    run(session, 2, [*ids[:13], 9, 9])
    kv.truncate(2, 13)
    assert np.array_equal(whole, chunked)
    assert np.array_equal(whole, run(session, 2, ids[13:]))


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

"""GGUF files become folders that compute the same, or are refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType as Quant

from pinfill_service.models.gguf_file import GgufError
from pinfill_service.models.gguf_import import convert_gguf
from tests.support.tiny_gguf import TinyLlama
from tests.support.tiny_session import converted
from tests.support.tiny_variants import MIXED

IDS = [5, 250, 17, 17, 3, 99, 42, 128, 200, 7, 64]


@pytest.mark.parametrize(
    ("tiny", "tolerance"),
    [
        (TinyLlama(), 2e-5),
        (TinyLlama(tied=False), 2e-5),
        (TinyLlama(types=MIXED), 2e-5),
        (TinyLlama(types=MIXED, tied=False), 2e-5),
        (TinyLlama(types={"token_embd.weight": Quant.F16, "ffn_up.weight": Quant.F16}), 2e-5),
        (TinyLlama(heads=4, kv_heads=4, rope_base=100_000.0), 2e-5),
        (TinyLlama(heads=4, kv_heads=1, types={"attn_k.weight": Quant.Q8_0, "attn_v.weight": Quant.Q4_0}), 2e-5),
    ],
)
def test_the_graph_computes_what_the_paper_says(tiny: TinyLlama, tolerance: float, tmp_path: Path) -> None:
    session, _ = converted(tiny, tmp_path, accuracy_level=0)
    logits = session.prefill(0, np.array(IDS, np.int64), len(IDS))
    np.testing.assert_allclose(logits, tiny.logits(IDS), atol=tolerance)


def test_rounding_activations_stays_close(tmp_path: Path) -> None:
    tiny = TinyLlama(types=MIXED)
    session, _ = converted(tiny, tmp_path)
    logits, reference = session.prefill(0, np.array(IDS, np.int64), len(IDS)), tiny.logits(IDS)
    assert np.sqrt(np.mean((logits - reference) ** 2)) < 0.03 * reference.std()


@pytest.mark.parametrize("cuts", [[], [5], [2, 4, 9], [9]])
def test_chunks_give_the_logits_of_one_run_to_the_bit(tmp_path: Path, cuts: list[int]) -> None:
    session, kv = converted(TinyLlama(types=MIXED), tmp_path)
    whole = session.prefill(0, np.array(IDS, np.int64), 1)
    for start, end in zip([0, *cuts], [*cuts, len(IDS)], strict=True):
        chunked = session.prefill(1, np.array(IDS[start:end], np.int64), 1)
    assert np.array_equal(whole, chunked)
    assert all(np.array_equal(array[0, :, : len(IDS)], array[1, :, : len(IDS)]) for _, array in kv.tensors())


def test_a_row_decodes_to_the_same_bits_alone_and_among_others(tmp_path: Path) -> None:
    session, kv = converted(TinyLlama(types=MIXED), tmp_path)
    for slot in (0, 1):
        session.prefill(slot, np.array(IDS, np.int64), 1)
    kv.truncate(1, 4)  # rows of different length
    together = session.decode(0, 2, [33, 44])[0]
    kv.truncate(0, len(IDS))
    assert np.array_equal(session.decode(0, 1, [33])[0], together)


def test_a_row_that_does_not_run_is_left_as_it_was(tmp_path: Path) -> None:
    session, kv = converted(TinyLlama(types=MIXED), tmp_path)
    for slot in (0, 1):
        session.prefill(slot, np.array(IDS, np.int64), 1)
    before = [array[1, :, : len(IDS)].copy() for _, array in kv.tensors()]
    session.decode(0, 2, [33, None])
    assert kv.length(0) == len(IDS) + 1 and kv.length(1) == len(IDS)
    assert all(
        np.array_equal(old, array[1, :, : len(IDS)]) for old, (_, array) in zip(before, kv.tensors(), strict=True)
    )


def test_truncating_anywhere_and_going_on_equals_a_cold_run_to_the_bit(tmp_path: Path) -> None:
    session, kv = converted(TinyLlama(types=MIXED), tmp_path)
    cold = session.prefill(0, np.array(IDS, np.int64), 1)
    for length in range(len(IDS) - 1):
        kv.truncate(1, 0)
        session.prefill(1, np.array([*IDS[:length], 9, 9, 9], np.int64), 1)
        kv.truncate(1, length)
        assert np.array_equal(session.prefill(1, np.array(IDS[length:], np.int64), 1), cold)


def test_forked_and_restored_kv_equal_a_cold_run_to_the_bit(tmp_path: Path) -> None:
    session, kv = converted(TinyLlama(types=MIXED), tmp_path)
    cold = session.prefill(0, np.array(IDS, np.int64), 1)
    span = kv.export(0, 0, 7)
    kv.fork(0, 1, 0, 8)
    assert np.array_equal(session.prefill(1, np.array(IDS[8:], np.int64), 1), cold)
    kv.truncate(1, 0)
    kv.load(span, 1)
    assert np.array_equal(session.prefill(1, np.array(IDS[7:], np.int64), 1), cold)


@pytest.mark.parametrize(
    ("tiny", "sentence"),
    [
        (TinyLlama(types={"ffn_down.weight": Quant.TQ1_0}, feed_forward=256), "TQ1_0"),
        (TinyLlama(metadata={"tokenizer.ggml.pre": "martian"}), "martian"),
        (TinyLlama(metadata={"tokenizer.ggml.model": "spiece"}), "spiece"),
        (TinyLlama(metadata={"merges": ["ab cd"]}), "a merge"),
    ],
)
def test_what_cannot_be_exact_is_refused_in_one_sentence(tiny: TinyLlama, sentence: str, tmp_path: Path) -> None:
    path = tiny.write(tmp_path / "m.gguf")
    with pytest.raises(GgufError, match=sentence) as caught:
        convert_gguf(path, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", [0.0, 0.01, 0.1, 0.3, 0.6, 0.99])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, part: float) -> None:
    whole = TinyLlama(types=MIXED).write(tmp_path / "whole.gguf").read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(GgufError, match=r"cut\.gguf"):
        convert_gguf(path, tmp_path)


def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"PK\x03\x04" + bytes(1000))
    with pytest.raises(GgufError, match=r"x\.gguf"):
        convert_gguf(path, tmp_path)
    with pytest.raises(GgufError, match="cannot be read"):
        convert_gguf(tmp_path / "missing.gguf", tmp_path)


def test_the_table_is_stored_once_and_shared_with_the_output_head(tmp_path: Path) -> None:
    tiny = TinyLlama(types={"token_embd.weight": Quant.Q8_0}, vocabulary=4096)
    convert_gguf(tiny.write(tmp_path / "m.gguf"), tmp_path)
    gguf, data = (tmp_path / name for name in ("m.gguf", "model.onnx.data"))
    assert data.stat().st_size < 1.1 * gguf.stat().st_size


def test_the_folder_names_everything_onnxruntime_genai_needs(tmp_path: Path) -> None:
    convert_gguf(TinyLlama().write(tmp_path / "m.gguf"), tmp_path)
    model = json.loads((tmp_path / "genai_config.json").read_text())["model"]
    assert (model["type"], model["context_length"], model["eos_token_id"]) == ("llama", 128, 2)
    assert model["decoder"]["num_key_value_heads"] == 2 and model["decoder"]["head_size"] == 16
    tokenizer = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert tokenizer["bos_token"] == "<|im_start|>" and tokenizer["add_bos_token"] is False

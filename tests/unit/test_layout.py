"""Model folders of onnxruntime-genai: what is read, what is refused; and what the fingerprint covers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from pinfill_service.engine.layout import LayoutError, fingerprint, read_layout
from tests.support.models import LLAMA, MODELS
from tests.support.onnx_folders import INT4, LFM2, edit_graph, edit_json


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(LLAMA, tmp_path / "model"))


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    edit_json(folder / "genai_config.json", change)


def refused(folder: Path, words: str) -> None:
    with pytest.raises(LayoutError, match=words) as caught:
        read_layout(folder)
    assert "\n" not in str(caught.value)


def test_everything_is_named_by_the_configuration(folder: Path) -> None:
    layout = read_layout(folder)
    assert (layout.context_length, layout.vocab_size, layout.head_size) == (512, 512, 16)
    assert layout.eos_ids == (2,) and layout.bos_id == 1
    assert layout.names.past_key % 3 == "past_key_values.3.key"
    assert (layout.source, layout.kv_layers, layout.appends_in_place) == ("onnxruntime-genai", (0, 1), True)


def test_facts_of_the_graph(folder: Path) -> None:
    facts = read_layout(folder).facts
    assert facts.inputs["past_key_values.1.value"].shape == ("batch_size", 2, "past_sequence_length", "kv_cache_dim")
    assert (facts.inputs["input_ids"].dtype, facts.outputs["logits"].dtype) == ("int64", "float")
    assert facts.operators["com.microsoft", "GroupQueryAttention"] == 2
    assert (facts.data_files, facts.weight_bytes) == ({"model.onnx.data"}, 460_032)
    assert (facts.head_width, facts.table_rows) == (512, 512)
    assert not facts.optional and not facts.scales_whole_chunks


def test_states_and_layers_without_kv_are_found() -> None:
    layout = read_layout(LFM2)
    assert (layout.names.states, layout.kv_layers) == ((("past.%d.conv", "present.%d.conv"),), (1,))


def test_states_are_found_when_the_configuration_does_not_name_them(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(LFM2, tmp_path / "model"))
    edit(folder, lambda c: c["model"]["decoder"]["inputs"].pop("past_conv_names"))
    assert read_layout(folder).names.states == (("past.%d.conv", "present.%d.conv"),)


def test_four_bit_weights() -> None:
    layout = read_layout(INT4)
    assert layout.facts.operators["com.microsoft", "MatMulNBits"] == 11
    assert (layout.facts.head_width, layout.vocab_size) == (512, 512)


def test_several_eos_ids(folder: Path) -> None:
    edit(folder, lambda config: config["model"].update(eos_token_id=[2, 5]))
    assert read_layout(folder).eos_ids == (2, 5)


def test_harmless_session_entries_are_taken_over_and_no_others(folder: Path) -> None:
    options = {
        "log_id": "x",
        "provider_options": [{"RyzenAI": {"library": "evil.so"}}],
        "custom_ops_library": "evil.so",
        "ep.context_file_path": "/etc/cron.d/x",
        "session.model_external_initializers_file_folder_path": "/",
        "session.set_denormal_as_zero": 1,
        "session.disable_prepacking": True,
    }
    edit(folder, lambda config: config["model"]["decoder"].update(session_options=options))
    expected = {"session.set_denormal_as_zero": "1", "session.disable_prepacking": "1"}
    assert read_layout(folder).session_options == expected


def test_the_graph_decides_how_kv_is_kept(folder: Path) -> None:
    edit(folder, lambda config: config["search"].update(past_present_share_buffer=False))
    assert read_layout(folder).appends_in_place


def test_one_tensor_that_is_made_otherwise_makes_all_of_them_grow(folder: Path) -> None:
    def detour(model: ModelProto) -> None:
        node = next(node for node in model.graph.node if "present.1.value" in node.output)
        node.output[2] = "inner"
        model.graph.node.append(helper.make_node("Identity", ["inner"], ["present.1.value"]))

    edit_graph(folder / "model.onnx", detour)
    layout = read_layout(folder)
    assert not layout.appends_in_place and layout.fixed_kv_length is None


def fix_length(model: ModelProto) -> None:
    for value in (*model.graph.input, *model.graph.output):
        if "key" in value.name or "value" in value.name:
            value.type.tensor_type.shape.dim[2].dim_value = 256


def test_kv_of_a_fixed_length(folder: Path) -> None:
    edit_graph(folder / "model.onnx", fix_length)
    layout = read_layout(folder)
    assert (layout.fixed_kv_length, layout.context_length, layout.appends_in_place) == (256, 256, True)


def test_a_shape_that_the_graph_states_goes_before_the_configuration(folder: Path) -> None:
    edit(folder, lambda c: c["model"].update(vocab_size=99) or c["model"]["decoder"].update(head_size=8))

    def state(model: ModelProto) -> None:
        for value in (*model.graph.input, *model.graph.output):
            if "key" in value.name or "value" in value.name:
                value.type.tensor_type.shape.dim[3].dim_value = 16

    edit_graph(folder / "model.onnx", state)
    layout = read_layout(folder)
    assert (layout.vocab_size, layout.head_size) == (512, 16)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c["model"].pop("decoder"), "malformed"),
        (lambda c: c["model"].update(context_length="many"), "malformed: context_length"),
        (lambda c: c["model"].update(context_length=-5), "malformed: context_length"),
        (lambda c: c["model"].update(context_length=1 << 70), "malformed: context_length"),
        (lambda c: c["model"].update(context_length=True), "malformed: context_length"),
        (lambda c: c["model"].pop("context_length"), "context length"),
        (lambda c: c["model"].update(eos_token_id=["</s>"]), "malformed: eos_token_id"),
        (lambda c: c.update(model=[1, 2]), "malformed"),
        (lambda c: c["model"]["decoder"].update(filename="../../etc/passwd"), "outside its folder"),
        (lambda c: c["model"]["decoder"].update(filename="/etc/passwd"), "outside its folder"),
        (lambda c: c["model"]["decoder"].update(filename="C:\\model.onnx"), "outside its folder"),
        (lambda c: c["model"]["decoder"].update(filename="a\0b"), "outside its folder"),
        (lambda c: c["model"]["decoder"].update(filename="missing.onnx"), "'missing.onnx', which is not there"),
        (lambda c: c["model"]["decoder"].update(filename="x" * 900), "cannot be opened"),
        (lambda c: c["model"]["decoder"].update(pipeline=[{}]), "pipeline"),
        (lambda c: c["model"]["decoder"].update(num_key_value_heads=4), "4 KV heads, the graph has 2"),
        (lambda c: c["model"]["decoder"]["inputs"].update(past_key_names="cache.%d.k"), r"no input 'cache\.0\.k'"),
        (lambda c: c["model"]["decoder"]["inputs"].update(past_key_names="%s%d"), "one %d"),
        (lambda c: c["model"]["decoder"]["inputs"].update(past_key_names="%999999999d"), "one %d"),
        (lambda c: c["model"]["decoder"]["outputs"].update(present_key_names="other.%d"), r"output 'other\.0'"),
        (lambda c: c["model"]["decoder"]["inputs"].update(past_names="past_%d"), "one tensor"),
        (lambda c: c["model"].update(encoder={"filename": "model.onnx"}), "encoder-decoder"),
        (lambda c: c["model"].update(vision={"filename": "model.onnx"}), "vision"),
        (lambda c: c["model"].update(speech={"filename": "model.onnx"}), "audio"),
    ],
)
def test_what_the_configuration_says_and_cannot_be_run(
    folder: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    edit(folder, change)
    refused(folder, words)


def add_input(name: str) -> Callable[[ModelProto], object]:
    value = helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])
    return lambda model: model.graph.input.append(value)


def rename_input(model: ModelProto) -> None:
    model.graph.input[0].name = "inputs_embeds"


def change_dim(name: str, dim: int, size: int) -> Callable[[ModelProto], None]:
    def change(model: ModelProto) -> None:
        value = next(v for v in (*model.graph.input, *model.graph.output) if v.name == name)
        value.type.tensor_type.shape.dim[dim].dim_value = size

    return change


def external(tensor: str, key: str, text: str) -> Callable[[ModelProto], None]:
    def change(model: ModelProto) -> None:
        found = next(t for t in model.graph.initializer if t.name == tensor)
        next(entry for entry in found.external_data if entry.key == key).value = text

    return change


def fixed_and_growing(model: ModelProto) -> None:
    fix_length(model)
    for node in model.graph.node:
        node.domain = "" if node.op_type == "GroupQueryAttention" else node.domain


HEAD = "lm_head.MatMul.weight"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (add_input("pixel_values"), "vision model"),
        (add_input("audio_features"), "audio model"),
        (add_input("encoder_hidden_states"), "encoder-decoder"),
        (add_input("strange"), "'strange'"),
        (add_input("strange.0.thing"), r"'strange\.0\.thing'"),
        (rename_input, "embeddings"),
        (lambda m: setattr(m.graph.node[0], "domain", "my.operators"), r"my\.operators"),
        (change_dim("past_key_values.0.key", 1, 3), "KV heads"),
        (change_dim("present.1.value", 1, 3), "KV heads"),
        (change_dim("logits", 2, 300), "300 logits, but its output head computes 512"),
        (fixed_and_growing, "fixed length"),
        (lambda m: m.graph.output.pop(0), "no output 'logits'"),
        (external(HEAD, "location", "../model.onnx.data"), "outside its folder"),
        (external(HEAD, "location", "/etc/passwd"), "outside its folder"),
        (external(HEAD, "location", "*/_ORT_MEM_ADDR_/*"), "not there"),
        (external(HEAD, "location", "more.data"), r"'more\.data', which is not there"),
        (external(HEAD, "offset", "460000"), r"model\.onnx\.data lacks \d+ bytes"),
        (external(HEAD, "offset", "-4"), "no number"),
        (external(HEAD, "length", "12"), "has 12 bytes where its shape wants 131072"),
        (lambda m: m.graph.initializer[0].dims.insert(0, 1 << 40), "bytes where its shape wants"),
        (lambda m: m.metadata_props.add(key="pinfill.window", value="x"), "metadata"),
        (lambda m: m.metadata_props.add(key="pinfill.window", value="8"), "lacks the metadata"),
    ],
)
def test_what_the_graph_says_and_cannot_be_run(
    folder: Path, change: Callable[[ModelProto], object], words: str
) -> None:
    edit_graph(folder / "model.onnx", change)
    refused(folder, words)


def test_operators_that_the_model_brings_along_are_no_strangers(folder: Path) -> None:
    def define(model: ModelProto) -> None:
        body = [helper.make_node("Identity", ["x"], ["y"])]
        opset = [helper.make_opsetid("", 21)]
        model.functions.append(helper.make_function("own.part", "Same", ["x"], ["y"], body, opset))
        model.graph.node.append(helper.make_node("Same", ["logits"], ["again"], domain="own.part"))

    edit_graph(folder / "model.onnx", define)
    assert "own.part" in read_layout(folder).facts.domains


def test_operators_of_the_plugin_are_left_to_the_provider(folder: Path) -> None:
    def theirs(model: ModelProto) -> None:
        for node in model.graph.node:
            if node.op_type == "GroupQueryAttention":
                node.domain, node.op_type = "com.ryzenai", "GQO"

    edit_graph(folder / "model.onnx", theirs)
    layout = read_layout(folder)
    assert "com.ryzenai" in layout.facts.domains and layout.appends_in_place


def test_a_truncated_graph_and_truncated_data(folder: Path) -> None:
    content = (folder / "model.onnx").read_bytes()
    for size in (0, 1, 100, len(content) // 2, len(content) - 1):
        (folder / "model.onnx").write_bytes(content[:size])
        refused(folder, "not an ONNX graph, or a part of it is missing")
    (folder / "model.onnx").write_bytes(content)
    data = (folder / "model.onnx.data").read_bytes()
    (folder / "model.onnx.data").write_bytes(data[:-10])
    refused(folder, "lacks 10 bytes at its end: the download may not have finished")


@pytest.mark.parametrize("name", ["model.onnx", "model.onnx.data", "genai_config.json"])
def test_links_out_of_the_folder_are_refused(folder: Path, tmp_path: Path, name: str) -> None:
    shutil.move(folder / name, tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    refused(folder, "is a link out of the folder")


def test_links_of_a_hugging_face_snapshot_are_followed(tmp_path: Path) -> None:
    cache = tmp_path / "models--org--name"
    snapshot = cache / "snapshots" / "0123abc"
    snapshot.mkdir(parents=True)
    (cache / "blobs").mkdir()
    for at, file in enumerate(LLAMA.iterdir()):
        shutil.copy(file, cache / "blobs" / f"{at}")
        (snapshot / file.name).symlink_to(f"../../blobs/{at}")
    assert read_layout(snapshot).kv_layers == (0, 1)
    (snapshot / "model.onnx").unlink()
    (snapshot / "model.onnx").symlink_to(LLAMA / "model.onnx")
    refused(snapshot, "is a link out of the folder")


def test_folders_that_are_none(tmp_path: Path) -> None:
    refused(tmp_path, r"no genai_config\.json and no config\.json")
    refused(tmp_path / "missing", "is not a folder")
    (tmp_path / "genai_config.json").write_text("{not json")
    refused(tmp_path, "cannot be read")
    (tmp_path / "genai_config.json").write_text('{"a":' * 100_000)
    refused(tmp_path, "nested too deeply|cannot be read")
    (tmp_path / "genai_config.json").write_text("[" + " " * (17 << 20) + "]")
    refused(tmp_path, "larger than 16 MiB")
    (tmp_path / "genai_config.json").write_bytes(b"\xff\xfe{}")
    refused(tmp_path, "cannot be read")
    (tmp_path / "genai_config.json").write_text('{"a": ' + "9" * 10_000 + "}")
    refused(tmp_path, "cannot be read")


def test_a_folder_of_folders_says_which_one_to_take(tmp_path: Path) -> None:
    shutil.copytree(LLAMA, tmp_path / "cpu" / "int4")
    refused(tmp_path, "cpu/int4")


def test_there_is_no_dtype_to_choose() -> None:
    with pytest.raises(LayoutError, match="no dtype"):
        read_layout(LLAMA, dtype="q4")


def test_reading_a_graph_with_gigabytes_inside_does_not_read_them(tmp_path: Path) -> None:
    """A weight of 3 GB, all of it a hole in the file, is stepped over."""
    folder = Path(shutil.copytree(LLAMA, tmp_path / "model"))
    size = 3 << 30

    def varint(value: int) -> bytes:
        return bytes([value & 0x7F | 0x80]) + varint(value >> 7) if value > 0x7F else bytes([value])

    head = TensorProto(name="huge", data_type=TensorProto.UINT8, dims=[size]).SerializeToString()
    head += b"\x4a" + varint(size)  # raw_data
    tensor = b"\x2a" + varint(len(head) + size) + head  # graph.initializer
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"\x3a" + varint(len(tensor) + size) + tensor)  # model.graph: parts of a message are merged
        file.truncate(file.tell() + size)
    assert read_layout(folder).facts.weight_bytes == 460_032 + size


def test_any_change_that_can_change_an_answer_changes_the_fingerprint(folder: Path) -> None:
    seen = {fingerprint(folder)}
    for name in ("model.onnx", "model.onnx.data", "tokenizer.json", "chat_template.jinja", "genai_config.json"):
        path = folder / name
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        seen.add(fingerprint(folder))
    (folder / "weights of any name").write_bytes(b"1")
    seen.add(fingerprint(folder))
    assert len(seen) == 7


def test_a_copy_elsewhere_has_the_same_fingerprint_and_notes_do_not_count(folder: Path) -> None:
    (folder / "README.md").write_text("hello")
    (folder / "pinfill.json").write_text("{}")
    assert fingerprint(folder) == fingerprint(LLAMA)


def test_every_fixture_is_read_and_onnx_agrees_with_the_facts() -> None:
    for folder in (path for path in MODELS.iterdir() if path.is_dir()):
        layout = read_layout(folder)
        model = onnx.load(layout.graph)
        assert set(layout.facts.inputs) == {value.name for value in model.graph.input}
        large = [t for t in model.graph.initializer if len(t.raw_data) > 1024 or folder.name.startswith("oga")]
        assert layout.facts.weight_bytes == sum(len(tensor.raw_data) for tensor in large)

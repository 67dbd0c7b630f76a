"""Taking model folders in: what is copied, what is left behind, what is refused; and the copy runs as before."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto

from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.layout import LayoutError, read_layout
from pinfill_service.engine.session import DecoderSession
from pinfill_service.models.folder_import import import_folder, inspect_folder
from tests.support.models import LLAMA, MODELS
from tests.support.onnx_folders import (
    LFM2,
    OPTIMUM,
    edit_graph,
    edit_json,
    in_chunks,
    logits,
    merged,
    transformers_js,
)

IDS = np.random.default_rng(1).integers(3, 500, (1, 19))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(LLAMA, tmp_path / "source"))


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def content(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names(folder)}


@pytest.mark.parametrize("name", sorted(path.name for path in MODELS.iterdir() if path.is_dir()))
def test_a_model_computes_the_same_after_its_import(tmp_path: Path, name: str) -> None:
    before = content(MODELS / name)
    done = import_folder(MODELS / name, tmp_path / "target")
    assert "Logits are computed only where they are asked for." in done
    old, new = read_layout(MODELS / name), read_layout(tmp_path / "target")
    assert np.abs(logits(new, IDS) - logits(old, IDS)).max() <= 1e-5
    assert (new.kv_layers, new.names, new.appends_in_place) == (old.kv_layers, old.names, old.appends_in_place)
    assert content(MODELS / name) == before


REFERENCE = json.loads((MODELS / "reference.json").read_text())


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_a_model_that_was_taken_in_answers_as_pytorch_does(tmp_path: Path, name: str) -> None:
    import_folder(MODELS / name, tmp_path / "target")
    layout, reference = read_layout(tmp_path / "target"), REFERENCE[name]
    session = DecoderSession(layout, threads=1)
    session.attach(KvSlots(session.tensors, 1, layout.context_length, states=session.states))
    for start in range(0, len(reference["prompt_ids"]), 7):
        row = session.prefill(0, np.array(reference["prompt_ids"][start : start + 7], np.int64), 1)[-1]
    assert np.abs(row[:16] - np.array(reference["last_logits_first_16"])).max() < 1e-4
    tokens = []
    for _ in range(24):
        tokens.append(int(row.argmax()))
        row = session.decode(0, 1, [tokens[-1]])[0]
    assert tokens == reference["greedy_24"]


def test_weights_inside_a_graph_move_to_a_file_beside_it(tmp_path: Path) -> None:
    import_folder(OPTIMUM, tmp_path / "target")
    layout = read_layout(tmp_path / "target")
    assert layout.facts.data_files == {"model.onnx.inline.data"}
    assert layout.graph.stat().st_size < 150_000
    theirs = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(OPTIMUM / "model.onnx").graph.initializer}
    ours = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(layout.graph).graph.initializer}
    assert all(np.array_equal(ours[name], array) for name, array in theirs.items())


def test_a_merged_decoder_is_taken_in(tmp_path: Path) -> None:
    source = merged(tmp_path / "source")
    (sentence,) = import_folder(source, tmp_path / "target")
    assert "as the graph does it" in sentence
    assert np.array_equal(logits(read_layout(tmp_path / "target"), IDS), logits(read_layout(OPTIMUM), IDS))


def test_only_the_chosen_precision_is_taken(tmp_path: Path) -> None:
    source = transformers_js(tmp_path / "source", {"": 0, "_q4": 0, "_fp16": 0})
    for suffix in ("", "_q4"):
        in_chunks(source / "onnx" / f"model{suffix}.onnx")
    plan = inspect_folder(source)
    assert plan.layout.variant == "q4"
    import_folder(source, tmp_path / "q4")
    rest = {path.name for path in OPTIMUM.iterdir()} - {"model.onnx"}
    graph = {f"onnx/model_q4.onnx{end}" for end in ("", "_data", "_data_1")}
    assert names(tmp_path / "q4") == rest | graph == {path.as_posix() for path in plan.files}
    import_folder(source, tmp_path / "fp32", dtype="fp32")
    assert read_layout(tmp_path / "fp32").variant == "fp32"
    assert np.abs(logits(read_layout(tmp_path / "q4"), IDS) - logits(read_layout(OPTIMUM), IDS)).max() <= 1e-5


def test_what_is_left_behind(folder: Path, tmp_path: Path) -> None:
    for name in (".cache/x", ".gitattributes", "pinfill.json", "model.safetensors", "old.onnx", "pytorch_model.bin"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"1")
    (folder / "docs").mkdir()
    (folder / "docs" / "LICENSE").write_text("mine")
    (folder / "link.json").symlink_to("genai_config.json")
    import_folder(folder, tmp_path / "target")
    assert names(tmp_path / "target") == names(LLAMA) | {"docs/LICENSE", "link.json"}
    assert not (tmp_path / "target" / "link.json").is_symlink()


def test_a_read_only_original_gives_a_copy_that_can_be_changed(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        path.chmod(0o444)
    import_folder(folder, tmp_path / "target")
    assert all(path.stat().st_mode & 0o200 for path in (tmp_path / "target").iterdir())


def test_a_snapshot_of_hugging_faces_cache_becomes_files(tmp_path: Path) -> None:
    snapshot = tmp_path / "models--org--name" / "snapshots" / "0123abc"
    blobs = tmp_path / "models--org--name" / "blobs"
    source = transformers_js(tmp_path / "source", {"_q4": 0})
    in_chunks(source / "onnx" / "model_q4.onnx")
    (snapshot / "onnx").mkdir(parents=True)
    blobs.mkdir()
    for at, name in enumerate(sorted(names(source))):
        shutil.copy(source / name, blobs / f"{at}")
        (snapshot / name).symlink_to(blobs / f"{at}")
    import_folder(snapshot, tmp_path / "target")
    assert names(tmp_path / "target") == names(source)
    assert not any(path.is_symlink() for path in (tmp_path / "target").rglob("*"))
    shutil.rmtree(blobs.parent)
    assert logits(read_layout(tmp_path / "target"), IDS).shape == (1, 19, 512)


def test_progress_counts_every_byte_and_may_cancel(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    import_folder(OPTIMUM, tmp_path / "target", progress=lambda *event: seen.append(event))
    size = inspect_folder(OPTIMUM).size
    assert {(stage, total) for stage, _, total in seen} == {("copy", size)}
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert 0.8 * size < seen[-1][1] <= size

    def cancel(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_folder(OPTIMUM, tmp_path / "other", progress=cancel)


def test_exact_leaves_products_alone(tmp_path: Path) -> None:
    def open_level(model: ModelProto) -> None:
        for node in model.graph.node:
            kept = [attribute for attribute in node.attribute if attribute.name != "accuracy_level"]
            del node.attribute[:]
            node.attribute.extend(kept)

    source = Path(shutil.copytree(MODELS / "oga-qwen3-int4", tmp_path / "source"))
    edit_graph(source / "model.onnx", open_level)
    assert len(import_folder(source, tmp_path / "exact", exact=True)) == 1
    assert "11 products round" in import_folder(source, tmp_path / "fast")[1]


def test_a_graph_for_the_plugin_stays_as_it_is(folder: Path, tmp_path: Path) -> None:
    def theirs(model: ModelProto) -> None:
        for node in model.graph.node:
            node.domain = "com.ryzenai" if node.op_type == "GroupQueryAttention" else node.domain

    edit_graph(folder / "model.onnx", theirs)
    (sentence,) = import_folder(folder, tmp_path / "target")
    assert "AMD" in sentence
    assert content(tmp_path / "target") == content(folder)


# What is refused, before anything is written


def refused(source: Path, target: Path, words: str) -> None:
    with pytest.raises(LayoutError, match=words) as caught:
        import_folder(source, target)
    assert "\n" not in str(caught.value) and not target.exists()


def test_links_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (folder / "extra.json").symlink_to(tmp_path / "secret")
    refused(folder, tmp_path / "target", "link out of the folder; copy the folder with 'cp -rL'")


def test_links_to_folders(folder: Path, tmp_path: Path) -> None:
    (folder / "more").symlink_to(tmp_path)
    refused(folder, tmp_path / "target", "link out of the folder")
    (folder / "more").unlink()
    (folder / "more").symlink_to(folder)
    refused(folder, tmp_path / "target", "'more' is not an ordinary file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_ordinary_file(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe.json")
    refused(folder, tmp_path / "target", "'pipe.json' is not an ordinary file")


def test_a_tokenizer_of_another_model(folder: Path, tmp_path: Path) -> None:
    edit_json(folder / "tokenizer.json", lambda t: t["model"]["vocab"].update({"more": 512}))
    refused(folder, tmp_path / "target", "token ids up to 512, but the graph knows 512 tokens")


def test_special_tokens_beyond_the_vocabulary_are_another_parts(folder: Path, tmp_path: Path) -> None:
    token = {"id": 512, "content": "<image>", "special": True}
    edit_json(folder / "tokenizer.json", lambda t: t["added_tokens"].append(token))
    import_folder(folder, tmp_path / "target")
    edit_json(folder / "tokenizer.json", lambda t: t["added_tokens"].append({**token, "id": 513, "special": False}))
    refused(folder, tmp_path / "other", "token ids up to 513")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        "{}",
        '{"model": {"vocab": {"a": "b"}}}',
        '{"model": {"vocab": 5}}',
        '{"added_tokens": [{}], "model": {}}',
    ],
)
def test_a_malformed_tokenizer(folder: Path, tmp_path: Path, text: str) -> None:
    (folder / "tokenizer.json").write_text(text)
    refused(folder, tmp_path / "target", r"tokenizer\.json is malformed")


def test_a_missing_tokenizer(folder: Path, tmp_path: Path) -> None:
    (folder / "tokenizer.json").unlink()
    refused(folder, tmp_path / "target", r"has no tokenizer\.json")


def test_a_unigram_vocabulary_is_a_list(folder: Path) -> None:
    def as_list(tokenizer: dict[str, dict[str, object]]) -> None:
        tokenizer["model"]["vocab"] = [["a", 0.0]] * 600

    edit_json(folder / "tokenizer.json", as_list)
    with pytest.raises(LayoutError, match="ids up to 599"):
        inspect_folder(folder)


def test_the_plan_names_every_byte() -> None:
    plan = inspect_folder(LFM2)
    assert plan.size == sum(path.stat().st_size for path in LFM2.iterdir())
    assert {path.as_posix() for path in plan.files} == names(LFM2)

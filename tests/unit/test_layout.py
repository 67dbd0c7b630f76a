"""Model folders: what is read, what is refused, what the fingerprint covers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinfill_service.engine.layout import LayoutError, fingerprint, read_layout
from tests.support.models import LLAMA


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(LLAMA, tmp_path / "model"))


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "genai_config.json"
    config = json.loads(path.read_text())
    change(config)
    path.write_text(json.dumps(config))


def test_everything_is_named_by_the_configuration(folder: Path) -> None:
    layout = read_layout(folder)
    assert (layout.context_length, layout.vocab_size, layout.head_size) == (512, 512, 16)
    assert layout.eos_ids == (2,) and layout.bos_id == 1
    assert layout.names.past_key % 3 == "past_key_values.3.key"


def test_several_eos_ids(folder: Path) -> None:
    edit(folder, lambda config: config["model"].update(eos_token_id=[2, 5]))
    assert read_layout(folder).eos_ids == (2, 5)


def test_session_configuration_entries_are_taken_over(folder: Path) -> None:
    options = {"log_id": "x", "provider_options": [], "session.set_denormal_as_zero": 1}
    edit(folder, lambda config: config["model"]["decoder"].update(session_options=options))
    assert read_layout(folder).session_options == {"session.set_denormal_as_zero": "1"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c["model"].pop("decoder"), "malformed"),
        (lambda c: c["model"].update(context_length="many"), "malformed"),
        (lambda c: c.update(model=[1, 2]), "malformed"),
        (lambda c: c["model"]["decoder"].update(filename="../../etc/passwd"), "outside its folder"),
        (lambda c: c["model"]["decoder"].update(filename="missing.onnx"), "has no missing.onnx"),
        (lambda c: c["model"]["decoder"]["inputs"].update(past_conv_names="past.%d.conv"), "recurrent state"),
        (lambda c: c["search"].update(past_present_share_buffer=False), "concatenation"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_sentence(
    folder: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    edit(folder, change)
    with pytest.raises(LayoutError, match=words) as caught:
        read_layout(folder)
    assert "\n" not in str(caught.value)


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(LayoutError, match=r"no genai_config\.json"):
        read_layout(tmp_path)
    (tmp_path / "genai_config.json").write_text("{not json")
    with pytest.raises(LayoutError, match="cannot be read"):
        read_layout(tmp_path)


def test_any_change_that_can_change_an_answer_changes_the_fingerprint(folder: Path) -> None:
    seen = {fingerprint(folder)}
    for name in ("model.onnx", "model.onnx.data", "tokenizer.json", "chat_template.jinja", "genai_config.json"):
        path = folder / name
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        seen.add(fingerprint(folder))
    assert len(seen) == 6


def test_a_copy_elsewhere_has_the_same_fingerprint_and_notes_do_not_count(folder: Path) -> None:
    (folder / "README.md").write_text("hello")
    assert fingerprint(folder) == fingerprint(LLAMA)

"""What is told about a model comes from its graph and its template, not from guesses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinfill_service.commands.models_show import kv_line
from pinfill_service.engine.graph_facts import TensorFacts
from pinfill_service.engine.layout import ModelLayout, Names, read_layout
from pinfill_service.models.library import ModelLibrary
from pinfill_service.models.model_facts import kv_facts, model_facts, shows_tools
from pinfill_service.settings import Settings
from tests.support.chat_templates import HERMES
from tests.support.models import LLAMA

KEY, VALUE = Names().past_key, Names().past_value


def layout(
    tensors: Mapping[str, tuple[str, tuple[int | str, ...]]], layers: tuple[int, ...], **changed: Any
) -> ModelLayout:
    """The layout of a real folder, with these inputs instead of its own; `metadata` is the graph's."""
    real = read_layout(LLAMA)
    inputs = {name: TensorFacts(name, dtype, shape) for name, (dtype, shape) in tensors.items()}
    facts = replace(real.facts, inputs=inputs, metadata=changed.pop("metadata", {}))
    return replace(real, facts=facts, kv_layers=layers, head_size=16, **changed)


def kv(layers: int, heads: int = 2, size: int | str = 16, dtype: str = "float") -> dict[str, Any]:
    shape = ("batch", heads, "past", size)
    return {pattern % layer: (dtype, shape) for layer in range(layers) for pattern in (KEY, VALUE)}


def test_bytes_per_token_are_counted_layer_by_layer_and_by_type() -> None:
    tensors = kv(2) | {KEY % 2: ("float16", ("b", 4, "past", 8)), VALUE % 2: ("int8", ("b", 4, "past", 32))}

    facts = kv_facts(layout(tensors, (0, 1, 2)))

    assert facts.bytes_per_token == {"float32": 2 * 2 * 2 * 16 * 4, "float16": 4 * 8 * 2, "int8": 4 * 32}
    assert facts.layers == 3
    assert kv_line(facts).startswith("appends in place, 512 bytes of float32 + 64 bytes of float16 + 128 bytes of int8")


def test_a_head_size_that_the_graph_leaves_open_is_the_layouts() -> None:
    assert kv_facts(layout(kv(1, size="head_size"), (0,))).bytes_per_token == {"float32": 2 * 2 * 16 * 4}


def test_kinds_of_kv() -> None:
    assert kv_facts(layout(kv(1), (0,), appends_in_place=False)).kind == "grows by concatenation"
    fixed = kv_facts(layout(kv(1), (0,), fixed_kv_length=2048))
    assert (fixed.kind, fixed.fixed_length) == ("fixed length", 2048)
    assert "fixed length of 2,048 tokens" in kv_line(fixed)


def test_windows_are_told() -> None:
    metadata = {"pinfill.window": "512", "pinfill.windowed_layers": "0,2"}
    facts = kv_facts(layout(kv(3), (0, 1, 2), metadata=metadata))
    assert (facts.window, facts.windowed_layers) == (512, 2)
    assert "a window of 512 in 2 of 3 layers" in kv_line(facts)
    assert kv_facts(layout(kv(3), (0, 1, 2), metadata={"pinfill.windowed_layers": ""})).window is None


def test_states_that_cannot_be_cut_back_are_told() -> None:
    states = {f"past_conv.{layer}": ("float", ("batch", 64, 3)) for layer in (0, 2)}
    names = Names(states=(("past_conv.%d", "present_conv.%d"),))
    one = {name.replace("0", "1"): tensor for name, tensor in kv(1).items()}
    facts = kv_facts(layout(one | states, (1,), names=names))
    assert facts.states == ("past_conv.0", "past_conv.2") and facts.state_bytes == 2 * 64 * 3 * 4


def test_a_real_folder(tmp_path: Path) -> None:
    library = ModelLibrary(tmp_path)
    library.folder.mkdir()
    shutil.copytree(LLAMA, library.folder / "mine")

    facts = model_facts(library.describe("mine"), None, Settings.from_flags(provider="cpu"))

    assert facts.files == {path.name: path.stat().st_size for path in LLAMA.iterdir()}
    assert facts.context_length == read_layout(LLAMA).context_length
    assert (facts.provider, facts.provider_reason) == ("CPUExecutionProvider", "CPU: the settings ask for it")


def test_a_provider_that_cannot_be_had_is_told_with_the_reason(tmp_path: Path) -> None:
    library = ModelLibrary(tmp_path)
    library.folder.mkdir()
    shutil.copytree(LLAMA, library.folder / "mine")
    settings = Settings.from_flags(provider=str(tmp_path / "absent.so"))
    facts = model_facts(library.describe("mine"), None, settings)
    assert facts.provider is None and "absent.so" in facts.provider_reason


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (HERMES, True),
        ("{% if tools %}{{ tools | tojson }}{% endif %}{{ messages[0].content }}", False),
        ("{# tools #}{{ messages[0].content }}", False),
        ("{{ raise_exception('no tools') if tools else '' }}", False),
        ("{{ broken", False),
        ([{"name": "default", "template": "x"}, {"name": "tool_use", "template": HERMES}], True),
    ],
)
def test_tools_are_supported_when_prompts_show_them_and_calls(tmp_path: Path, template: Any, expected: bool) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    assert shows_tools(tmp_path) is expected

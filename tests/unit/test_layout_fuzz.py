"""Folders with damage of every kind: they are read, or refused with a LayoutError, and nothing else happens."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from onnx import ModelProto

from pinfill_service.engine.layout import LayoutError, Names
from pinfill_service.models.folder_import import inspect_folder
from pinfill_service.models.graph_cleanup import clean
from tests.support.models import LLAMA
from tests.support.onnx_folders import LFM2, OPTIMUM

few = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["../x", "/etc/passwd", "%d", "%s", "%", "a\0b", "past.%d.conv", 1 << 31, 1 << 200, -1, 1e308]),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner), max_leaves=4
)


def survives(folder: Path) -> None:
    """Reads the folder; a refusal is one line."""
    try:
        plan = inspect_folder(folder)
    except LayoutError as error:
        assert str(error).strip() and "\n" not in str(error) and len(str(error)) < 2000
    else:
        assert plan.layout.vocab_size > 0 and plan.layout.context_length > 0 and plan.layout.kv_layers


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything in a JSON value."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield from places(child, (*at, key))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("fuzz")
    sources = {"genai": LLAMA, "states": LFM2, "optimum": OPTIMUM}
    return {name: Path(shutil.copytree(source, base / name)) for name, source in sources.items()}


CONFIGURATIONS = [
    ("genai", "genai_config.json"),
    ("states", "genai_config.json"),
    ("optimum", "config.json"),
    ("optimum", "generation_config.json"),
    ("genai", "tokenizer.json"),
]


@pytest.mark.parametrize(("kind", "file"), CONFIGURATIONS)
@few
@given(data=st.data())
def test_mutated_configurations(folders: dict[str, Path], kind: str, file: str, data: st.DataObject) -> None:
    path = folders[kind] / file
    original = path.read_text()
    values = json.loads(original)
    spots = [spot for spot in places(values) if spot and (file != "tokenizer.json" or len(spot) < 3)]
    for _ in range(data.draw(st.integers(1, 3))):
        spot = data.draw(st.sampled_from(spots))
        parent = values
        try:
            for key in spot[:-1]:
                parent = parent[key]
            parent[spot[-1]] = data.draw(VALUES)
        except (LookupError, TypeError):
            continue  # an earlier mutation has taken this place away
    try:
        path.write_text(json.dumps(values))
        survives(folders[kind])
    finally:
        path.write_text(original)


@pytest.mark.parametrize(("kind", "file"), CONFIGURATIONS)
@few
@given(data=st.data())
def test_mutated_text(folders: dict[str, Path], kind: str, file: str, data: st.DataObject) -> None:
    damaged(folders[kind] / file, folders[kind], data)


@pytest.mark.parametrize("kind", ["genai", "states", "optimum"])
@few
@given(data=st.data())
def test_mutated_graphs(folders: dict[str, Path], kind: str, data: st.DataObject) -> None:
    damaged(folders[kind] / "model.onnx", folders[kind], data)


def damaged(path: Path, folder: Path, data: st.DataObject) -> None:
    """Cuts, doubles, removes and overwrites pieces of a file."""
    original = path.read_bytes()
    content = bytearray(original)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(content) - 1)))
        size = data.draw(st.integers(1, 40))
        match data.draw(st.sampled_from(["cut", "double", "remove", "overwrite", "flip"])):
            case "cut":
                del content[at:]
            case "double":
                content[at:at] = content[at : at + size]
            case "remove":
                del content[at : at + size]
            case "overwrite":
                content[at : at + size] = data.draw(st.binary(max_size=size))
            case "flip" if content:
                content[at] ^= 1 << (size % 8)
    try:
        path.write_bytes(content)
        survives(folder)
    finally:
        path.write_bytes(original)


@few
@given(st.binary(max_size=300))
@example(b"\x3a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")
@example(b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
@example(b"\x0b" * 200)
def test_graphs_of_any_bytes(folders: dict[str, Path], content: bytes) -> None:
    path = folders["genai"] / "model.onnx"
    original = path.read_bytes()
    try:
        path.write_bytes(content)
        survives(folders["genai"])
    finally:
        path.write_bytes(original)


def test_graphs_in_graphs_in_graphs(folders: dict[str, Path]) -> None:
    """Deeper than any parser should follow."""
    path = folders["genai"] / "model.onnx"
    original = path.read_bytes()

    def field(number: int, content: bytes) -> bytes:
        size, length = b"", len(content)
        while length > 127:
            size, length = size + bytes([length & 127 | 128]), length >> 7
        return bytes([number << 3 | 2]) + size + bytes([length]) + content

    graph = field(2, b"x" * 2000)
    for _ in range(300):
        graph = field(1, field(5, field(6, graph)))
    try:
        path.write_bytes(field(7, graph))
        survives(folders["genai"])
    finally:
        path.write_bytes(original)


@few
@given(data=st.data())
def test_cleaning_survives_what_was_read(data: st.DataObject) -> None:
    """Nodes moved, swapped and rewired: the clean-up leaves alone what it does not understand."""
    model: ModelProto = onnx.load(data.draw(st.sampled_from([LLAMA, OPTIMUM])) / "model.onnx", load_external_data=False)
    nodes = model.graph.node
    values = [output for node in nodes for output in node.output if output]
    for _ in range(data.draw(st.integers(1, 4))):
        node = nodes[data.draw(st.integers(len(nodes) - 12, len(nodes) - 1))]
        if node.input and data.draw(st.booleans()):
            node.input[data.draw(st.integers(0, len(node.input) - 1))] = data.draw(st.sampled_from(values))
        elif data.draw(st.booleans()):
            del node.input[:]
        else:
            node.op_type = data.draw(st.sampled_from(["MatMulNBits", "Reshape", "MatMul", "Sigmoid", "Gemm", "Mul"]))
            node.domain = data.draw(st.sampled_from(["", "com.microsoft"]))
    assert clean(model, Names(), exact=data.draw(st.booleans()))

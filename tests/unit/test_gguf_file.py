"""GGUF files are read as they are meant, or refused in one sentence, whatever their bytes are."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType as Quant
from gguf import GGUFReader, GGUFWriter
from gguf import GGUFValueType as Kind
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinfill_service.models.gguf_file import GgufError, GgufFile
from tests.support.raw_gguf import F32, Q4_0, Q4_K, RawGguf, array, number, string, strings, tensor, text, u32
from tests.support.tiny_gguf import TinyLlama


def refused(path: Path) -> str:
    """The sentence a file is refused with."""
    with pytest.raises(GgufError) as caught:
        GgufFile(path)
    return one_sentence(str(caught.value))


def one_sentence(message: str) -> str:
    assert message.endswith(".") and "\n" not in message and len(message) < 400
    return message


def use(path: Path) -> None:
    """Touches everything that a file may say and hold."""
    file = GgufFile(path)
    assert isinstance(file.quantisation, str)
    for key in list(file._metadata):  # all of them, also those that nobody asks for by name
        for read in (file.get, file.require, file.integer, file.number, file.text, file.flag):
            try_to(read, key)
        try_to(file.integers, key)
    for info in file.tensor_infos():
        found = file.tensor(info.name)
        assert found.data.nbytes == found.n_bytes
        assert int(found.data.view(np.uint8).sum(dtype=np.int64)) >= 0


def try_to(read: Callable[[str], Any], key: str) -> None:
    try:
        read(key)
    except GgufError as error:
        one_sentence(str(error))


# What is right


@pytest.mark.parametrize("kind", [Quant.F32, Quant.F16, Quant.Q4_0, Quant.Q8_0])
def test_it_reads_what_the_reference_reader_reads(tmp_path: Path, kind: Quant) -> None:
    path = TinyLlama(types={"ffn_up.weight": kind, "token_embd.weight": Quant.Q8_0}).write(tmp_path / "m.gguf")
    reference = GGUFReader(path)
    file = GgufFile(path)

    keys = [key for key in reference.fields if not key.startswith("GGUF.")]
    assert {key: file.get(key) for key in keys} == {key: reference.fields[key].contents() for key in keys}
    for expected in reference.tensors:
        found = file.tensor(expected.name)
        assert (found.name, found.tensor_type, found.n_bytes) == (expected.name, expected.tensor_type, expected.n_bytes)
        assert found.shape == tuple(expected.shape)
        np.testing.assert_array_equal(found.data, expected.data)
    assert [info.name for info in file.tensor_infos()] == [expected.name for expected in reference.tensors]
    assert file.size_bytes == path.stat().st_size


def test_every_type_of_value_is_read(tmp_path: Path) -> None:
    writer = GGUFWriter(tmp_path / "m.gguf", "llama")
    values = {"uint8": 255, "int8": -128, "uint16": 65535, "int16": -32768, "uint32": 1 << 31, "int32": -5,
              "uint64": 1 << 63, "int64": -(1 << 62), "float32": 0.5, "float64": 1e300, "bool": True,
              "string": "Grüße 😀"}  # fmt: skip
    for name, value in values.items():
        getattr(writer, f"add_{name}")(f"x.{name}", value)
    lists = {"x.texts": ["a", "", "é"], "x.floats": [0.5, -1.0], "x.flags": [True, False], "x.whole": [1, -2]}
    for key, value in lists.items():
        writer.add_array(key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()

    file = GgufFile(tmp_path / "m.gguf")

    assert {name: file.get(f"x.{name}") for name in values} == values
    assert {key: file.get(key) for key in lists} == lists


def test_the_smallest_file_is_right(tmp_path: Path) -> None:
    file = GgufFile(RawGguf().write(tmp_path / "m.gguf"))

    assert file.architecture == "llama" and file.integer("llama.block_count") == 2
    assert file.tensor("a").data.shape == (2, 4) and file.tensor("b").data.shape == (4,)
    assert file.has_tensor("b") and not file.has_tensor("c")
    with pytest.raises(GgufError, match="no tensor 'c'"):
        file.tensor("c")


def test_the_quantisation_is_named_by_the_file_or_by_what_most_bytes_are(tmp_path: Path) -> None:
    named = RawGguf(keys=[("general.file_type", u32(15))]).write(tmp_path / "named.gguf")
    unknown = RawGguf(keys=[("general.file_type", u32(9999))]).write(tmp_path / "unknown.gguf")
    empty = RawGguf(keys=[], tensors=[], data=b"").write(tmp_path / "empty.gguf")

    assert [GgufFile(path).quantisation for path in (named, unknown, empty)] == ["Q4_K_M", "F32", "?"]


def test_a_header_is_read_without_an_object_for_each_of_its_texts(tmp_path: Path) -> None:
    count = 100_000
    path = RawGguf(keys=[("tokenizer.ggml.tokens", strings(*["some token"] * count))]).write(tmp_path / "m.gguf")
    tracemalloc.start()
    try:
        file = GgufFile(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 10 * count  # bytes; an object would have 50, and other threads of this process allocate too
    assert len(file.require("tokenizer.ggml.tokens")) == count


# Kinds of values

MIXED = RawGguf(
    keys=[
        ("general.architecture", string("llama")),
        ("llama.block_count", string("two")),
        ("llama.rope.freq_base", number(Kind.FLOAT32, "f", float("nan"))),
        ("llama.attention.head_count_kv", u32(4)),
        ("llama.context_length", array(Kind.UINT32, 2, bytes(8))),
        ("tokenizer.ggml.tokens", array(Kind.UINT8, 3, bytes(3))),
        ("tokenizer.ggml.merges", strings(b"\xff\xfe")),
        ("tokenizer.ggml.scores", array(Kind.FLOAT32, 1, struct.pack("<f", float("inf")))),
        ("tokenizer.ggml.eos_token_id", number(Kind.FLOAT64, "d", 2.0)),
        ("tokenizer.ggml.add_bos_token", u32(1)),
        ("tokenizer.chat_template", array(Kind.BOOL, 1, b"\1")),
        ("other.key", string("free")),
    ]
)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("llama.block_count", "a text in 'llama.block_count' where a whole number was expected"),
        ("llama.rope.freq_base", "not finite"),
        ("llama.context_length", "a list of 2 numbers"),
        ("tokenizer.ggml.tokens", "a list of 3 numbers in .* where a list of texts was expected"),
        ("tokenizer.ggml.merges", "not UTF-8"),
        ("tokenizer.ggml.scores", "not finite"),
        ("tokenizer.ggml.eos_token_id", "a whole number was expected"),
        ("tokenizer.ggml.add_bos_token", "true or false was expected"),
        ("tokenizer.chat_template", "a list of 1 flags .* where a text was expected"),
    ],
)
def test_a_known_key_of_the_wrong_kind_is_refused_by_every_way_to_read_it(tmp_path: Path, key: str, words: str) -> None:
    file = GgufFile(MIXED.write(tmp_path / "m.gguf"))
    for read in (file.get, file.require):
        with pytest.raises(GgufError, match=words):
            read(key)


def test_typed_reading(tmp_path: Path) -> None:
    file = GgufFile(MIXED.write(tmp_path / "m.gguf"))

    assert file.get("other.key") == "free" and file.get("absent", 7) == 7
    assert file.integers("llama.attention.head_count_kv") == [4] == file.integers("absent", [4])
    assert file.integers("llama.context_length") == [0, 0]
    assert (file.integer("absent", 0), file.number("absent", 0.5), file.flag("absent", False)) == (0, 0.5, False)
    assert file.text("absent", "") == ""
    for read in (file.require, file.integer, file.number, file.text, file.flag, file.integers):
        with pytest.raises(GgufError, match="no 'absent' in its metadata"):
            read("absent")
    with pytest.raises(GgufError, match=r"a text in 'other.key' where a number was expected"):
        file.number("other.key")


# What is wrong

FAR = 1 << 60

WRONG: dict[str, tuple[RawGguf | bytes, str]] = {
    "nothing": (b"", "does not begin with 'GGUF'"),
    "another format": (b"PK\3\4" + bytes(100), "does not begin with 'GGUF'"),
    "a page of text": (b"<!DOCTYPE html>" + bytes(100), "does not begin with 'GGUF'"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "Git LFS pointer"),
    "magic alone": (b"GGUF", "ends before its header does"),
    "version 1": (RawGguf(version=1), "version 1"),
    "version 4": (RawGguf(version=4), "version 4"),
    "big-endian": (RawGguf(version=3 << 24), "big-endian"),
    "too many keys": (RawGguf(key_count=FAR), "keys, which do not fit"),
    "too many tensors": (RawGguf(tensor_count=FAR), "tensors, which do not fit"),
    "a few more keys": (RawGguf(key_count=3), "damaged|ends before"),
    "a few more tensors": (RawGguf(tensor_count=4), "damaged|ends before"),
    "key without name": (RawGguf(keys=[("", u32(1))]), "key whose name takes 0 bytes"),
    "key of a huge name": (RawGguf(keys=[("k" * 70_000, u32(1))]), "takes 70,000 bytes"),
    "key that is not UTF-8": (RawGguf(keys=[(b"\xff\xff", u32(1))]), "key whose name is not UTF-8"),
    "key twice": (RawGguf(keys=[("k", u32(1)), ("k", u32(2))]), "the key 'k' twice"),
    "unknown kind": (RawGguf(keys=[("k", struct.pack("<II", 99, 0))]), "unknown type 99 in 'k'"),
    "unknown kind in a list": (RawGguf(keys=[("k", struct.pack("<IIQI", 9, 77, 1, 0))]), "unknown type 77"),
    "text longer than the file": (RawGguf(keys=[("k", struct.pack("<IQ", 8, FAR))]), "ends before its header"),
    "list longer than the file": (RawGguf(keys=[("k", array(Kind.FLOAT64, FAR, b""))]), "ends before its header"),
    "too many texts": (RawGguf(keys=[("k", array(Kind.STRING, FAR, b""))]), "more than any vocabulary"),
    "texts beyond the end": (RawGguf(keys=[("k", array(Kind.STRING, 1_000_000, b""))]), "ends before|damaged"),
    "lists in a list": (RawGguf(keys=[("k", array(Kind.ARRAY, 1, array(Kind.ARRAY, 1, b"")))]), "arrays inside an"),
    "alignment 0": (RawGguf(keys=[("general.alignment", u32(0))]), "alignment of 0"),
    "alignment 33": (RawGguf(keys=[("general.alignment", u32(33))]), "alignment of 33"),
    "alignment 2 GiB": (RawGguf(keys=[("general.alignment", u32(1 << 31))]), "alignment of"),
    "alignment as text": (RawGguf(keys=[("general.alignment", string("32"))]), "alignment that is not a number"),
    "tensor without name": (RawGguf(tensors=[tensor("", (4,))]), "tensor whose name takes 0 bytes"),
    "tensor of a huge name": (RawGguf(tensors=[tensor("t" * 300, (4,))]), "takes 300 bytes"),
    "tensor twice": (RawGguf(tensors=[tensor("a", (4,)), tensor("a", (4,), offset=32)]), "the tensor 'a' twice"),
    "no dimension": (RawGguf(tensors=[tensor("a", ())]), "0 dimensions"),
    "five dimensions": (RawGguf(tensors=[tensor("a", (1, 1, 1, 1, 1))]), "5 dimensions"),
    "a dimension of 0": (RawGguf(tensors=[tensor("a", (4, 0))]), "'a' of 4 x 0 weights"),
    "a product that wraps": (RawGguf(tensors=[tensor("a", (1 << 32, 1 << 32))]), "weights, which F32 cannot hold"),
    "a part of a block": (RawGguf(tensors=[tensor("a", (48, 2), Q4_0)]), "48 x 2 weights, which Q4_0 cannot hold"),
    "a part of a superblock": (RawGguf(tensors=[tensor("a", (128,), Q4_K)]), "which Q4_K cannot hold"),
    "unknown tensor type": (RawGguf(tensors=[tensor("odd", (32,), 4)]), "the tensor 'odd' as ggml type 4"),
    "type from the future": (RawGguf(tensors=[tensor("odd", (32,), 4321)]), "as ggml type 4321"),
    "offset between two": (RawGguf(tensors=[tensor("a", (4,), offset=8)]), "no multiple of 32"),
    "same bytes": (RawGguf(tensors=[tensor("a", (4, 4)), tensor("b", (4,), offset=32)]), "'a' and 'b' in the same"),
    "offset far away": (RawGguf(tensors=[tensor("a", (4,), offset=FAR)]), "far outside the file"),
    "17 bytes less": (RawGguf().content()[:-17], "17 bytes are missing. The download may not"),
    "no weights": (RawGguf(data=b""), "48 bytes are missing"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_broken_or_hostile_header_is_refused(tmp_path: Path, case: str) -> None:
    raw, words = WRONG[case]
    path = tmp_path / "m.gguf"
    path.write_bytes(raw if isinstance(raw, bytes) else raw.content())

    message = refused(path)

    assert message.startswith("m.gguf ")
    assert any(word in message for word in words.split("|"))


def test_a_name_from_the_file_never_breaks_the_line(tmp_path: Path) -> None:
    path = RawGguf(tensors=[tensor("\n\x1b[31m" + "x" * 200, (4,), 99)]).write(tmp_path / "m.gguf")
    message = refused(path)
    assert "\x1b" not in message and "..." in message


def test_every_place_where_a_file_may_end_is_told_as_missing_bytes(tmp_path: Path) -> None:
    content = TinyLlama(layers=1, hidden=32, vocabulary=260).write(tmp_path / "whole.gguf").read_bytes()
    path = tmp_path / "m.gguf"
    for length in [*range(4, 1000, 7), *range(1000, len(content), len(content) // 50)]:
        path.write_bytes(content[:length])
        assert "download" in refused(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_what_is_no_ordinary_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    assert "is not a file" in refused(tmp_path / "pipe.gguf")
    assert "is not a file" in refused(tmp_path)
    assert "No such file" in refused(tmp_path / "absent.gguf")


# Split files


def split(folder: Path, names: list[list[str]], **changed: bytes) -> list[Path]:
    """A model in several files, one tensor of four floats for each name; `changed` replaces metadata values."""
    folder.mkdir(exist_ok=True)
    paths = []
    for index, part in enumerate(names):
        keys = {
            "split.no": number(Kind.UINT16, "H", index),
            "split.count": number(Kind.UINT16, "H", len(names)),
            "split.tensors.count": number(Kind.INT32, "i", sum(map(len, names))),
        } | {f"split.{key}": value for key, value in changed.items()}
        if index == 0:
            keys["general.architecture"] = string("llama")
        raw = RawGguf(
            keys=[*keys.items()],
            tensors=[tensor(name, (4,), F32, 32 * at) for at, name in enumerate(part)],
            data=b"".join(struct.pack("<4f", *[len(name)] * 4).ljust(32, b"\0") for name in part),
        )
        paths.append(raw.write(folder / f"model-{index + 1:05}-of-{len(names):05}.gguf"))
    return paths


def test_any_part_opens_the_whole_model(tmp_path: Path) -> None:
    parts = split(tmp_path, [["a", "bb"], ["ccc"], []])
    for part in parts:
        file = GgufFile(part)
        assert file.parts == tuple(parts)
        assert file.architecture == "llama"
        assert [float(file.tensor(name).data[0]) for name in ("a", "bb", "ccc")] == [1.0, 2.0, 3.0]
        assert file.size_bytes == sum(path.stat().st_size for path in parts)


@pytest.mark.skipif(shutil.which("llama-gguf-split") is None, reason="llama-gguf-split is not installed")
@pytest.mark.parametrize("options", [[], ["--no-tensor-first-split"]])
def test_what_llama_cpp_splits_is_read_as_one(tmp_path: Path, options: list[str]) -> None:
    whole = TinyLlama().write(tmp_path / "whole.gguf")
    command = ["llama-gguf-split", "--split", "--split-max-tensors", "6", *options, str(whole), str(tmp_path / "part")]
    subprocess.run(command, check=True, capture_output=True)

    expected, file = GgufFile(whole), GgufFile(sorted(tmp_path.glob("part-*"))[-1])

    assert len(file.parts) > 2
    assert file.get("tokenizer.ggml.tokens") == expected.get("tokenizer.ggml.tokens")
    assert [info.name for info in file.tensor_infos()] == [info.name for info in expected.tensor_infos()]
    for info in expected.tensor_infos():
        np.testing.assert_array_equal(file.tensor(info.name).data, expected.tensor(info.name).data)


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    parts = split(tmp_path, [["a"], ["b"], ["c"]])
    parts[1].unlink()
    assert "model-00002-of-00003.gguf is missing" in refused(parts[0])
    assert "model-00002-of-00003.gguf is missing" in refused(parts[2])


def test_a_broken_part_is_named(tmp_path: Path) -> None:
    parts = split(tmp_path, [["a"], ["b"]])
    parts[1].write_bytes(parts[1].read_bytes()[:-20])
    assert refused(parts[0]).startswith("model-00002-of-00002.gguf is not complete")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"count": u32(3)}, "does not say that it is part 1 of 2"),
        ({"no": u32(1)}, "does not say that it is part 1 of 2"),
        ({"count": string("2")}, "a text in 'split.count' where a whole number was expected"),
        ({"tensors.count": u32(5)}, "hold 2 tensors, not 5"),
    ],
)
def test_parts_that_say_something_else_than_their_names_are_refused(
    tmp_path: Path, changed: dict[str, bytes], words: str
) -> None:
    assert words in refused(split(tmp_path, [["a"], ["b"]], **changed)[0])


def test_a_tensor_in_two_parts_is_refused(tmp_path: Path) -> None:
    assert "that another part has, too" in refused(split(tmp_path, [["a"], ["a"]])[0])


def test_parts_with_other_names_are_refused(tmp_path: Path) -> None:
    first = split(tmp_path, [["a"], ["b"]])[0]
    renamed = first.rename(tmp_path / "model.gguf")
    assert "one of 2 files" in refused(renamed) and "-00001-of-00002.gguf" in refused(renamed)


@pytest.mark.parametrize("name", ["model-00003-of-00002.gguf", "model-00000-of-00002.gguf", "m-00001-of-00000.gguf"])
def test_impossible_part_names_are_refused(tmp_path: Path, name: str) -> None:
    path = RawGguf().write(tmp_path / name)
    assert "is no part of" in refused(path)


def test_one_file_may_be_named_as_the_only_part(tmp_path: Path) -> None:
    assert GgufFile(RawGguf().write(tmp_path / "m-00001-of-00001.gguf")).architecture == "llama"


# Anything at all


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A folder to write into, and the bytes of a small but complete model."""
    folder = tmp_path_factory.mktemp("fuzz")
    tiny = TinyLlama(layers=1, hidden=32, heads=2, kv_heads=1, vocabulary=260, types={"ffn_up.weight": Quant.Q8_0})
    return folder / "m.gguf", tiny.write(folder / "whole.gguf").read_bytes()


@st.composite
def changes(draw: st.DrawFn) -> list[tuple[int, int, bytes]]:
    """Replacements (position, bytes taken out, bytes put in), mostly in the header and often of counts and lengths."""
    edges = st.sampled_from(
        [0, 1, 2, 8, 31, 255, 65_535, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 60, (1 << 64) - 1]
    )
    wide = st.tuples(st.just(8), edges.map(lambda value: struct.pack("<Q", value)))
    narrow = st.tuples(st.just(4), edges.map(lambda value: struct.pack("<I", value & 0xFFFFFFFF)))
    free = st.tuples(st.integers(0, 40), st.binary(max_size=40))
    spots = st.one_of(st.integers(0, 700), st.integers(0, 8_000))
    return [(at, *change) for at, change in draw(st.lists(st.tuples(spots, wide | narrow | free), max_size=4))]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=changes(), end=st.one_of(st.none(), st.integers(0, 20_000)))
def test_a_damaged_file_is_used_or_refused_and_nothing_else(
    whole: tuple[Path, bytes], changes: list[tuple[int, int, bytes]], end: int | None
) -> None:
    path, content = whole
    for at, taken, put in changes:
        content = content[:at] + put + content[at + taken :]
    path.write_bytes(content[:end])
    try_to(lambda _: use(path), "")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rest=st.binary(max_size=300), version=st.sampled_from([2, 3]), counts=st.tuples(*[st.integers(0, 8)] * 2))
def test_random_bytes_behind_a_right_beginning_are_used_or_refused(
    whole: tuple[Path, bytes], rest: bytes, version: int, counts: tuple[int, int]
) -> None:
    path, _ = whole
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", version, *counts) + rest)
    try_to(lambda _: use(path), "")


def test_texts_are_counted_in_all_lists_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinfill_service.models.gguf_header.MAX_STRINGS", 5)
    path = RawGguf(keys=[("one", strings(*"abc")), ("two", strings(*"abc"))]).write(tmp_path / "m.gguf")
    assert "'two' holds 3 texts" in refused(path)


def test_a_header_beyond_all_measure_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinfill_service.models.gguf_header.MAX_HEADER_BYTES", 100)
    path = RawGguf(keys=[("k", string("x" * 200))]).write(tmp_path / "m.gguf")
    assert "a header of more than" in refused(path)


def test_a_text_of_the_right_length_is_not_mistaken_for_the_next_key(tmp_path: Path) -> None:
    hidden = text("llama.block_count") + u32(9)
    path = RawGguf(keys=[("note", string(hidden)), ("llama.block_count", u32(2))]).write(tmp_path / "m.gguf")
    assert GgufFile(path).integer("llama.block_count") == 2

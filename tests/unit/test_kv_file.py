"""KV files: what is written comes back to the bit, and whatever is wrong with a file is found before it is used."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.cache.kv_file import Identity, KvContent, KvFileError, open_kv_file, write_kv_file

IDENTITY = Identity("model", "onnxruntime 1.32 CPU", "kv 4x2x8 float32")
ROUNDS = 16


def content(count: int = 40, start: int = 10, pieces: int = 3) -> KvContent:
    rng = np.random.default_rng(count)
    cuts = sorted(rng.choice(np.arange(1, count - start), pieces - 1, replace=False)) if pieces > 1 else []
    big = rng.standard_normal((4, 2, count - start, 8)).astype(np.float32)
    half = rng.standard_normal((2, 1, count - start, 4)).astype(np.float16)
    groups = [np.split(big, cuts, axis=2), np.split(half, cuts, axis=2)]
    states = {20: [rng.standard_normal((6, 2)).astype(np.float32)], count: [np.ones((6, 2), np.float32)]}
    return KvContent("", rng.integers(0, 1000, count).astype(np.int32), start, groups, states)


def write(folder: Path, **options: int) -> tuple[Path, KvContent]:
    path, made = folder / "a.safetensors", content(**options)
    write_kv_file(path, IDENTITY, made)
    return path, made


@pytest.mark.parametrize("pieces", [1, 3])
def test_what_is_written_comes_back(tmp_path: Path, pieces: int) -> None:
    path, made = write(tmp_path, pieces=pieces)
    file = open_kv_file(path, IDENTITY)
    file.verify()
    assert np.array_equal(file.content.token_ids, made.token_ids)
    assert (file.content.start, file.content.namespace) == (10, "")
    for (array,), parts in zip(file.content.groups, made.groups, strict=True):
        assert np.array_equal(array, np.concatenate(parts, axis=2))
    assert list(file.content.states) == [20, 40]
    assert np.array_equal(file.content.states[20][0], made.states[20][0])


def test_another_program_can_read_it(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    path, made = write(tmp_path)
    tensors = safetensors.load_file(path)
    assert np.array_equal(tensors["kv.0"], np.concatenate(made.groups[0], axis=2))
    assert np.array_equal(tensors["token_ids"], made.token_ids)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
def test_only_this_user_can_read_it(tmp_path: Path) -> None:
    path, _ = write(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("sixteenth", range(ROUNDS))
def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path: Path, sixteenth: int) -> None:
    path, _ = write(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * sixteenth // ROUNDS])
    with pytest.raises(KvFileError):
        open_kv_file(path, IDENTITY)
    path.write_bytes(whole + b"\0")
    with pytest.raises(KvFileError, match="longer or shorter"):
        open_kv_file(path, IDENTITY)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 7))
def test_a_flipped_bit_anywhere_is_found(tmp_path_factory: pytest.TempPathFactory, at: int, bit: int) -> None:
    path, _ = write(tmp_path_factory.mktemp("kv"))
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 1 << bit
    path.write_bytes(data)
    with pytest.raises(KvFileError) as caught:
        open_kv_file(path, IDENTITY).verify()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["model", "runtime", "layout"])
def test_kv_of_something_else_is_refused(tmp_path: Path, field: str) -> None:
    path, _ = write(tmp_path)
    with pytest.raises(KvFileError, match="belongs to"):
        open_kv_file(path, replace(IDENTITY, **{field: "other"}))


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path)
    assert list(tmp_path.iterdir()) == []

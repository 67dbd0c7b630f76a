"""KV of a run of tokens as a safetensors file that proves what it is before a byte of it is used.

Tensors: `token_ids` [length] int32, the whole prefix; `kv.G` [tensors, heads, length - start, head_size] for every
group G of KV tensors with one shape; `state.L.S` for the model's non-truncatable state S behind the first L tokens.
Metadata: where the KV starts, everything that must be equal before tokens may match (`Identity`), the namespace, and a
SHA-256 of the header (with zeros where that stands) and all tensors' bytes. A file is written under another name,
flushed to the disk, and renamed: it is whole or not there.
Format: https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

FORMAT, VERSION = "pinfill-kv", "1"
SUFFIX, UNFINISHED = ".safetensors", ".unfinished"
_HEADER_BYTES = 1 << 20
_ALIGNMENT = 64  # of the first tensor, so that mapped arrays are aligned for every type
_DTYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I8": np.dtype("i1"),
    "I32": np.dtype("<i4"),
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}
_NO_DIGEST = "0" * 64

Array = NDArray[Any]


class KvFileError(ValueError):
    """The file must not be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What must be equal before stored KV may be reused: another kernel may differ in the last bit."""

    model: str  # SHA-256 over everything in the model's folder that can change an answer
    runtime: str  # onnxruntime's version, the execution provider, the processor
    layout: str  # shapes and types of KV and state


@dataclass(frozen=True, slots=True)
class KvContent:
    """The KV of `token_ids[start:]` and the states behind some lengths.

    `groups`: for each shape of KV tensors, consecutive pieces [tensors, heads, n, head_size] of it.
    """

    namespace: str
    token_ids: NDArray[np.int32]
    start: int
    groups: Sequence[Sequence[Array]]
    states: Mapping[int, Sequence[Array]]


@dataclass(frozen=True, slots=True)
class KvFile:
    """A memory-mapped file whose header is in order. Its arrays may be used once `verify` succeeded."""

    path: Path
    content: KvContent
    _header: bytes
    _data: NDArray[np.uint8]
    _mapping: mmap.mmap

    @property
    def size_bytes(self) -> int:
        return self._data.nbytes

    def verify(self) -> None:
        """Reads every byte and compares the checksum. Raises KvFileError."""
        stored = str(json.loads(self._header)["__metadata__"]["sha256"])
        digest = hashlib.sha256(self._header.replace(stored.encode(), _NO_DIGEST.encode(), 1))
        digest.update(self._data.data)
        if digest.hexdigest() != stored:
            raise KvFileError("its contents are damaged (the SHA-256 differs)")

    def release_pages(self) -> None:
        """What was read of the file counts as this process's memory no longer, where the system offers that.

        It stays in the system's cache, which gives it up when somebody needs the memory, and can be read again.
        """
        if hasattr(mmap, "MADV_DONTNEED"):
            self._mapping.madvise(mmap.MADV_DONTNEED)


# -- writing -------------------------------------------------------------------------------------------------------


def write_kv_file(path: Path, identity: Identity, content: KvContent) -> None:
    """Writes the file, readable by this user only. Raises OSError; then nothing is left of it."""
    unfinished = path.with_suffix(UNFINISHED)
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            _write(file, identity, content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Makes renames in it last, where the system can do that."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write(file: BinaryIO, identity: Identity, content: KvContent) -> None:
    metadata = {"format": FORMAT, "version": VERSION, **asdict(identity)}
    metadata |= {"namespace": content.namespace, "start": str(content.start), "sha256": _NO_DIGEST}
    header: dict[str, Any] = {"__metadata__": metadata}
    offset = 0
    for name, dtype, shape in _tensors(content):
        size = math.prod(shape) * dtype.itemsize
        header[name] = {"dtype": _CODES[dtype], "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % _ALIGNMENT)
    file.write(struct.pack("<Q", len(text)) + text)
    digest = hashlib.sha256(text)
    for block in _blocks(content):
        digest.update(block)
        file.write(block)
    file.seek(8 + text.index(_NO_DIGEST.encode()))
    file.write(digest.hexdigest().encode())


def _tensors(content: KvContent) -> Iterator[tuple[str, np.dtype[Any], list[int]]]:
    """Name, type and shape of every tensor, in file order."""
    yield "token_ids", _DTYPES["I32"], [len(content.token_ids)]
    for number, pieces in enumerate(content.groups):
        tensors, heads, _, head_size = pieces[0].shape
        count = sum(piece.shape[2] for piece in pieces)
        yield f"kv.{number}", pieces[0].dtype, [tensors, heads, count, head_size]
    for length, arrays in content.states.items():
        for number, array in enumerate(arrays):
            yield f"state.{length}.{number}", array.dtype, list(array.shape)


def _blocks(content: KvContent) -> Iterator[memoryview]:
    """The bytes of all tensors, in file order, without a copy of any whole tensor."""
    yield _bytes(np.asarray(content.token_ids, _DTYPES["I32"]))
    for pieces in content.groups:
        for tensor in range(pieces[0].shape[0]):
            for head in range(pieces[0].shape[1]):
                for piece in pieces:
                    yield _bytes(piece[tensor, head])
    for arrays in content.states.values():
        for array in arrays:
            yield _bytes(array)


def _bytes(array: Array) -> memoryview:
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1).data


# -- reading -------------------------------------------------------------------------------------------------------


def open_kv_file(path: Path, identity: Identity | None) -> KvFile:
    """Maps a file. Everything but the checksum is verified. Without an identity it is for looking at only.

    Raises KvFileError or OSError.
    """
    with path.open("rb") as file:
        text = _header_text(file, path.stat().st_size)
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header, start = _parse(text), 8 + len(text)
    metadata = header.pop("__metadata__", {})
    if identity is not None:
        _check_identity(metadata, identity)
    data: NDArray[np.uint8] = np.frombuffer(mapping, np.uint8)[start:]
    arrays: dict[str, Array] = {}
    end = 0
    for name, entry in header.items():
        arrays[name], end = _array(data, name, entry, end)
    if end != len(data):
        raise KvFileError("it is longer or shorter than it says")
    return KvFile(path, _content(arrays, metadata), text, data, mapping)


def _header_text(file: BinaryIO, size: int) -> bytes:
    prefix = file.read(8)
    length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else _HEADER_BYTES + 1
    if length > min(_HEADER_BYTES, size - 8):
        raise KvFileError("it is cut off, or no safetensors file")
    return file.read(length)


def _parse(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise KvFileError("its header is damaged") from error
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise KvFileError("it was not written by Pinfill")
    if metadata.get("version") != VERSION:
        raise KvFileError(f"it is of format version {metadata.get('version')}, this program reads {VERSION}")
    if not re.fullmatch("[0-9a-f]{64}", str(metadata.get("sha256"))):
        raise KvFileError("its header is damaged")
    return dict(header)


def _check_identity(metadata: Mapping[str, Any], identity: Identity) -> None:
    what = {"model": "another model", "runtime": "another runtime or processor", "layout": "KV of another shape"}
    for key, wanted in asdict(identity).items():
        if metadata.get(key) != wanted:
            raise KvFileError(f"it belongs to {what[key]}")


def _array(data: NDArray[np.uint8], name: str, entry: Any, position: int) -> tuple[Array, int]:
    """A tensor, which must begin where the one before it ended, and where it ends."""
    try:
        dtype, shape = _DTYPES[entry["dtype"]], [int(size) for size in entry["shape"]]
        begin, end = (int(offset) for offset in entry["data_offsets"])
    except (KeyError, TypeError, ValueError) as error:
        raise KvFileError(f"its header is damaged at {name!r:.50}") from error
    fits = begin == position and end <= len(data) and all(size >= 0 for size in shape)
    if not fits or math.prod(shape) * dtype.itemsize != end - begin:
        raise KvFileError(f"its tensor {name!r:.50} does not fit into it")
    array: Array = data[begin:end].view(dtype).reshape(shape)
    return array, end


def _content(arrays: Mapping[str, Array], metadata: Mapping[str, Any]) -> KvContent:
    groups: list[list[Array]] = []
    states: dict[int, list[Array]] = {}
    for name, array in arrays.items():
        if re.fullmatch(r"kv\.\d{1,3}", name) and array.ndim == 4:
            groups.append([array])
        elif found := re.fullmatch(r"state\.(\d{1,9})\.\d{1,3}", name):
            states.setdefault(int(found[1]), []).append(array)
        elif name != "token_ids":
            raise KvFileError(f"it holds a tensor {name!r:.50} that no such file has")
    ids, start = arrays.get("token_ids"), str(metadata.get("start"))
    if ids is None or ids.ndim != 1 or ids.dtype != _DTYPES["I32"] or not re.fullmatch(r"\d{1,9}", start):
        raise KvFileError("its token ids are missing or damaged")
    count = len(ids) - int(start)
    if count < 1 or not groups or any(pieces[0].shape[2] != count for pieces in groups):
        raise KvFileError("its KV does not cover its tokens")
    if any(not int(start) < length <= len(ids) for length in states):
        raise KvFileError("its states lie outside its tokens")
    return KvContent(str(metadata.get("namespace")), ids, int(start), groups, states)

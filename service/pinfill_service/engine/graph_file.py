"""Reads the structure of an .onnx file without its weights, however large the file is.

Weights stand inside the file (up to 2 GB) or in files beside it. Parsing them only to look at the graph would cost
seconds and twice their size in memory. So the file is mapped, and of every large tensor among the initializers
everything but the bytes is handed to the protobuf parser; the tensor then says where in the file its bytes are, in
ONNX's own way (`external_data` with the graph's own name as location). The wire format used here is documented at
protobuf.dev/programming-guides/encoding, the field numbers in onnx/onnx.proto.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pinfill_service.engine.layout_files import LayoutError

if TYPE_CHECKING:
    from onnx import ModelProto

LARGE_BYTES = 1024  # tensors below stay in the graph
MAX_STRUCTURE_BYTES = 128 << 20  # the largest graphs there are have about 10 MB of nodes
_MAX_DEPTH = 24  # messages in messages, on the way to an initializer in a subgraph
_MAX_FIELDS = 2_000_000  # nodes, tensors and the like: real graphs have thousands

# For each message: the fields that lead to initializers, and what they hold. Numbers are onnx.proto's.
_MODEL, _GRAPH, _NODE, _ATTRIBUTE, _TENSOR = range(5)
_INTO = {
    _MODEL: {7: _GRAPH},
    _GRAPH: {1: _NODE, 5: _TENSOR},
    _NODE: {5: _ATTRIBUTE},
    _ATTRIBUTE: {6: _GRAPH, 11: _GRAPH},
}
_RAW_DATA, _EXTERNAL_DATA, _DATA_LOCATION = 9, 13, 14
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class _Broken(ValueError):
    """The bytes are no protobuf message."""


def read_graph(path: Path) -> ModelProto:
    """The model with its large initializers as references. Raises LayoutError for what is no ONNX graph."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import ModelProto

    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            structure = b"".join(_Stripper(data, path.name).message(_MODEL, 0, len(data), 0))
        model: ModelProto = ModelProto.FromString(structure)
    except (OSError, ValueError, DecodeError, RecursionError) as error:
        if isinstance(error, LayoutError):
            raise
        raise LayoutError(f"{path.name} is not an ONNX graph, or a part of it is missing") from error
    if not model.HasField("graph"):
        raise LayoutError(f"{path.name} is not an ONNX graph, or a part of it is missing")
    return model


class _Stripper:
    """Copies a message piece by piece and leaves the bytes of large initializers out."""

    def __init__(self, data: mmap.mmap, location: str) -> None:
        self._data, self._location = data, location.encode()
        self._kept = self._fields = 0

    def message(self, kind: int, at: int, end: int, depth: int) -> Iterator[bytes]:
        """The pieces of the message in [at, end)."""
        if depth > _MAX_DEPTH:
            raise _Broken("nested too deeply")
        into, start = _INTO.get(kind, {}), at
        while at < end:
            field, wire, body, after = self._field(at, end)
            if (
                wire == _BYTES
                and after - body > LARGE_BYTES
                and (field in into or (kind, field) == (_TENSOR, _RAW_DATA))
            ):
                yield from self._copy(start, at)
                if field in into:
                    pieces = list(self.message(into[field], body, after, depth + 1))
                    yield _varint(field << 3 | _BYTES) + _varint(sum(map(len, pieces)))
                    yield from pieces
                else:
                    yield self._reference(body, after - body)
                start = after
            at = after
        yield from self._copy(start, end)

    def _copy(self, start: int, end: int) -> Iterator[bytes]:
        self._kept += end - start
        if self._kept > MAX_STRUCTURE_BYTES:
            raise LayoutError(f"{self._location.decode()} has more than {MAX_STRUCTURE_BYTES >> 20} MiB beside weights")
        if end > start:
            yield self._data[start:end]

    def _reference(self, offset: int, length: int) -> bytes:
        """The fields of a TensorProto that stand for its `raw_data`."""
        entries = ((b"location", self._location), (b"offset", b"%d" % offset), (b"length", b"%d" % length))
        fields = [_varint(_DATA_LOCATION << 3 | _VARINT), _varint(1)]
        for key, value in entries:
            entry = b"".join((b"\x0a", _varint(len(key)), key, b"\x12", _varint(len(value)), value))
            fields += [_varint(_EXTERNAL_DATA << 3 | _BYTES), _varint(len(entry)), entry]
        return b"".join(fields)

    def _field(self, at: int, end: int) -> tuple[int, int, int, int]:
        """(field number, wire type, where its body begins, where it ends)."""
        self._fields += 1
        if self._fields > _MAX_FIELDS:
            raise _Broken("more fields than any model has")
        tag, at = self._read_varint(at, end)
        field, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            _, after = self._read_varint(at, end)
        elif wire == _BYTES:
            length, at = self._read_varint(at, end)
            after = at + length
        elif wire in (_FIXED32, _FIXED64):
            after = at + (4 if wire == _FIXED32 else 8)
        else:
            raise _Broken(f"wire type {wire}")
        if after > end or field == 0:
            raise _Broken("a field goes beyond its message")
        return field, wire, at, after

    def _read_varint(self, at: int, end: int) -> tuple[int, int]:
        value = 0
        for shift in range(0, 70, 7):
            if at >= end:
                break
            byte = self._data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
        raise _Broken("a number goes beyond its message")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)

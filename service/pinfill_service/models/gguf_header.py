"""Walks over a GGUF file's header and believes nothing of it.

The walk keeps only where each value is: no object is made for the hundreds of thousands of strings of a vocabulary, and
every count, length and offset is compared with the file before it is used. What it returns can be read without
further checks. (`gguf.GGUFReader` trusts the file and makes several arrays for each string: 21 s and 1 GiB for a
vocabulary of 262,144 with its merges; this takes 60 ms.)

Format: docs/gguf.md of the ggml project. All numbers are little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise

from gguf import GGML_QUANT_SIZES, GGUFValueType
from gguf import GGMLQuantizationType as Quant

MAX_KEYS = 1 << 16
MAX_TENSORS = 1 << 17
MAX_KEY_BYTES = (1 << 16) - 1  # the format's own limit
MAX_NAME_BYTES = 255  # the format says 64; some programs write longer ones
MAX_HEADER_BYTES = 256 << 20  # the largest vocabularies with their merges take 20 MiB
MAX_STRINGS = 1 << 23  # in all arrays together
MAX_TENSOR_BYTES = 1 << 44
MAX_DIMENSIONS = 4
ALIGNMENTS = frozenset(1 << power for power in range(3, 21))
DEFAULT_ALIGNMENT = 32
LFS_POINTER = b"version https://git-lfs"

SCALAR_FORMATS = {
    GGUFValueType.UINT8: "<B",
    GGUFValueType.INT8: "<b",
    GGUFValueType.UINT16: "<H",
    GGUFValueType.INT16: "<h",
    GGUFValueType.UINT32: "<I",
    GGUFValueType.INT32: "<i",
    GGUFValueType.UINT64: "<Q",
    GGUFValueType.INT64: "<q",
    GGUFValueType.FLOAT32: "<f",
    GGUFValueType.FLOAT64: "<d",
    GGUFValueType.BOOL: "<?",
}
_SIZES = {kind: struct.calcsize(code) for kind, code in SCALAR_FORMATS.items()}
_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")


class GgufError(ValueError):
    """The file cannot be used; the message says why and fits on one line."""


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """Where a metadata value is: bytes `start` to `end` of the file, without lengths and types in front of it.

    `count` is 1 unless `is_array`; then `kind` is that of the elements.
    """

    kind: GGUFValueType
    is_array: bool
    count: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor: `shape` as (columns, rows, ...), `start` in bytes from the beginning of the file."""

    name: str
    tensor_type: Quant
    shape: tuple[int, ...]
    start: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Header:
    """Everything before the weights, by name, in the file's order."""

    metadata: dict[str, ValueInfo]
    tensors: dict[str, TensorInfo]


def read_header(view: memoryview, name: str) -> Header:
    """The header of the file whose bytes `view` holds. Raises GgufError; `name` is what its message calls the file."""
    return _Walk(view, name).run()


class _Walk:
    """One pass from the first byte to the first weight. `self._at` is the position in bytes."""

    def __init__(self, view: memoryview, name: str) -> None:
        self._view, self._name = view, name
        self._size = len(view)
        self._limit = min(self._size, MAX_HEADER_BYTES)
        self._at = 0
        self._strings_left = MAX_STRINGS

    def run(self) -> Header:
        try:
            return self._header()
        except struct.error:
            raise self._too_short() from None

    def _header(self) -> Header:
        self._check_beginning()
        tensor_count, key_count = self._u64(), self._u64()
        # A key takes at least 8 + 1 + 4 + 1 bytes, a tensor 8 + 1 + 4 + 8 + 4 + 8.
        for count, what, most, least in ((key_count, "keys", MAX_KEYS, 14), (tensor_count, "tensors", MAX_TENSORS, 33)):
            if count > most or count * least > self._size:
                raise self._error(
                    f"says it holds {count:,} {what}, which do not fit: it is damaged, or the download has not finished"
                )
        metadata: dict[str, ValueInfo] = {}
        for _ in range(key_count):
            key = self._name_of("key", MAX_KEY_BYTES)
            if key in metadata:
                raise self._error(f"has the key {_short(key)} twice in its metadata")
            metadata[key] = self._value(key)
        found = [self._tensor() for _ in range(tensor_count)]
        return Header(metadata, self._placed(found, self._alignment(metadata)))

    def _check_beginning(self) -> None:
        beginning = bytes(self._view[: len(LFS_POINTER)])
        if beginning == LFS_POINTER:
            raise self._error("is a Git LFS pointer, not the model itself: fetch that with 'git lfs pull'")
        if beginning[:4] != b"GGUF":
            raise self._error("is not a GGUF file: it does not begin with 'GGUF'")
        self._at = 4
        version = self._u32()
        if version not in (2, 3):
            if version & 0xFFFF == 0 and version >> 24 in (1, 2, 3):
                raise self._error("is a big-endian GGUF file: only little-endian ones can be read")
            raise self._error(f"is a GGUF file of version {version}: only versions 2 and 3 can be read")

    # Metadata

    def _value(self, key: str) -> ValueInfo:
        kind = self._kind(key)
        if kind is not GGUFValueType.ARRAY:
            return self._elements(key, kind, 1, is_array=False)
        kind = self._kind(key)
        if kind is GGUFValueType.ARRAY:
            raise self._error(f"holds arrays inside an array in {_short(key)}: such a file cannot be read")
        return self._elements(key, kind, self._u64(), is_array=True)

    def _kind(self, key: str) -> GGUFValueType:
        number = self._u32()
        try:
            return GGUFValueType(number)
        except ValueError:
            raise self._error(f"has a value of the unknown type {number} in {_short(key)}: it is damaged") from None

    def _elements(self, key: str, kind: GGUFValueType, count: int, *, is_array: bool) -> ValueInfo:
        start = self._at
        if kind is GGUFValueType.STRING:
            if is_array:
                self._skip_strings(key, count)
            else:
                length = self._u64()
                start = self._at
                self._skip(length)
        else:
            self._skip(count * _SIZES[kind])
        return ValueInfo(kind, is_array, count, start, self._at)

    def _skip_strings(self, key: str, count: int) -> None:
        self._strings_left -= count
        if self._strings_left < 0:
            raise self._error(f"says that {_short(key)} holds {count:,} texts: that is more than any vocabulary has")
        at, limit, view, length_at = self._at, self._limit, self._view, _U64.unpack_from
        for _ in range(count):
            at += 8 + length_at(view, at)[0]
            if at > limit:
                raise self._too_short()
        self._at = at

    def _alignment(self, metadata: dict[str, ValueInfo]) -> int:
        info = metadata.get("general.alignment")
        if info is None:
            return DEFAULT_ALIGNMENT
        if info.kind is not GGUFValueType.UINT32 or info.is_array:
            raise self._error("has an alignment that is not a number: it is damaged")
        alignment: int = _U32.unpack_from(self._view, info.start)[0]
        if alignment not in ALIGNMENTS:
            raise self._error(f"has an alignment of {alignment}, which is not a power of two from 8 to 1,048,576")
        return alignment

    # Tensors

    def _tensor(self) -> TensorInfo:
        """A tensor with `start` still counted from the first weight."""
        name = self._name_of("tensor", MAX_NAME_BYTES)
        dimensions = self._u32()
        if not 1 <= dimensions <= MAX_DIMENSIONS:
            raise self._error(f"has a tensor {_short(name)} of {dimensions:,} dimensions instead of 1 to 4")
        shape = tuple(self._u64() for _ in range(dimensions))
        number = self._u32()
        try:
            kind = Quant(number)
            block, block_bytes = GGML_QUANT_SIZES[kind]
        except (ValueError, KeyError):
            raise self._error(f"stores the tensor {_short(name)} as ggml type {number}, which is not known") from None
        elements = 1
        for length in shape:
            elements *= length
        n_bytes = elements // block * block_bytes
        if not 0 < n_bytes <= MAX_TENSOR_BYTES or shape[0] % block:
            shown = " x ".join(f"{length:,}" for length in shape)
            raise self._error(f"has a tensor {_short(name)} of {shown} weights, which {kind.name} cannot hold")
        return TensorInfo(name, kind, shape, self._u64(), n_bytes)

    def _placed(self, tensors: list[TensorInfo], alignment: int) -> dict[str, TensorInfo]:
        """The tensors by name, with `start` from the beginning of the file, after all checks of where they are."""
        data = -(-self._at // alignment) * alignment
        placed: dict[str, TensorInfo] = {}
        for info in tensors:
            if info.name in placed:
                raise self._error(f"has the tensor {_short(info.name)} twice")
            if info.start % alignment:
                raise self._error(f"has the tensor {_short(info.name)} at an offset that is no multiple of {alignment}")
            placed[info.name] = TensorInfo(info.name, info.tensor_type, info.shape, data + info.start, info.n_bytes)
        in_order = sorted(placed.values(), key=lambda info: info.start)
        for before, after in pairwise(in_order):
            if before.start + before.n_bytes > after.start:
                raise self._error(f"keeps {_short(before.name)} and {_short(after.name)} in the same bytes")
        if in_order:
            self._check_end(in_order[-1])
        return placed

    def _check_end(self, last: TensorInfo) -> None:
        missing = last.start + last.n_bytes - self._size
        if missing > MAX_TENSOR_BYTES:
            raise self._error(f"has the tensor {_short(last.name)} far outside the file: it is damaged")
        if missing > 0:
            raise self._error(f"is not complete: {missing:,} bytes are missing. The download may not have finished")

    # Bytes

    def _name_of(self, what: str, most: int) -> str:
        length = self._u64()
        if not 1 <= length <= most:
            raise self._error(f"has a {what} whose name takes {length:,} bytes instead of 1 to {most:,}: it is damaged")
        start = self._at
        self._skip(length)
        try:
            return str(self._view[start : self._at], "utf-8")
        except UnicodeDecodeError:
            raise self._error(f"has a {what} whose name is not UTF-8: it is damaged") from None

    def _skip(self, length: int) -> None:
        self._at += length
        if self._at > self._limit:
            raise self._too_short()

    def _u32(self) -> int:
        at = self._at
        self._skip(4)
        value: int = _U32.unpack_from(self._view, at)[0]
        return value

    def _u64(self) -> int:
        at = self._at
        self._skip(8)
        value: int = _U64.unpack_from(self._view, at)[0]
        return value

    def _too_short(self) -> GgufError:
        if self._limit < self._size:
            return self._error(f"has a header of more than {MAX_HEADER_BYTES >> 20} MiB: it is damaged")
        return self._error("ends before its header does: it is damaged, or the download has not finished")

    def _error(self, what: str) -> GgufError:
        return GgufError(f"{self._name} {what}.")


def _short(text: str) -> str:
    """A name from the file as it may appear in a message: quoted, without control characters, not too long."""
    return repr(text if len(text) <= 80 else text[:77] + "...")

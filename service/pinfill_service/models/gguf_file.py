"""A GGUF model, in one file or split into several: metadata and tensors, with anything wrong told in one sentence."""

from __future__ import annotations

import contextlib
import math
import re
import stat
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType as Quant
from gguf import GGUFValueType, LlamaFileType, quant_shape_to_byte_shape
from numpy.typing import NDArray

from pinfill_service.models.gguf_header import SCALAR_FORMATS, GgufError, Header, TensorInfo, ValueInfo, read_header
from pinfill_service.models.gguf_types import (
    FLAG,
    INTEGER,
    INTEGERS,
    NUMBER,
    NUMBERS,
    TEXT,
    Wanted,
    described,
    wanted,
)  # fmt: skip

__all__ = ["GgufError", "GgufFile", "GgufTensor", "model_stem", "part_paths"]

_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<suffix>\.gguf)", re.IGNORECASE)
_ITEM_TYPES = {
    Quant.F32: np.float32, Quant.F16: np.float16, Quant.F64: np.float64,
    Quant.I8: np.int8, Quant.I16: np.int16, Quant.I32: np.int32, Quant.I64: np.int64,
}  # fmt: skip
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """A tensor. `shape` is (columns, rows, ...); `data` a view of the mapped file, read when it is touched.

    `data` is [..., rows, columns] for plain types and [..., rows, bytes a row] of uint8 for all others.
    """

    info: TensorInfo
    data: NDArray[Any]

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def tensor_type(self) -> Quant:
        return self.info.tensor_type

    @property
    def shape(self) -> tuple[int, ...]:
        return self.info.shape

    @property
    def n_bytes(self) -> int:
        return self.info.n_bytes


class GgufFile:
    """A memory-mapped GGUF model. Tensors stay on disk until they are touched, metadata until it is asked for.

    `path` may be any part of a split model: all of them are opened, and metadata is the first one's. Raises GgufError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts = part_paths(path)
        self._opened = [_Part(part) for part in self.parts]
        self._metadata = self._opened[0].header.metadata
        self._holders: dict[str, _Part] = {}
        for part in self._opened:
            for name in part.header.tensors:
                if name in self._holders:
                    raise GgufError(f"{part.path.name} has the tensor {name!r} that another part has, too.")
                self._holders[name] = part
        self._check_split()

    @property
    def architecture(self) -> str:
        """general.architecture. Raises GgufError when there is none."""
        return self.text("general.architecture")

    @property
    def size_bytes(self) -> int:
        """Of all parts together."""
        return sum(len(part.buffer) for part in self._opened)

    @property
    def quantisation(self) -> str:
        """As llama.cpp names the mix ("Q4_K_M"); without a name, the type that most bytes are stored as."""
        with contextlib.suppress(ValueError):  # also GgufError: what only describes need not be right
            name: str = LlamaFileType(self.integer("general.file_type")).name
            return name.removeprefix("MOSTLY_").removeprefix("ALL_")
        counted: Counter[str] = Counter()
        for info in self.tensor_infos():
            counted[info.tensor_type.name] += info.n_bytes
        return counted.most_common(1)[0][0] if counted else "?"

    # Metadata

    def get(self, key: str, default: Any = None) -> Any:
        """A metadata value as Python data, or `default`.

        Raises GgufError for a well-known key that holds another kind of value than the format says, so that what this
        returns for such a key needs no further check.
        """
        if key not in self._metadata:
            return default
        want = wanted(key)
        return self._decoded(key) if want is None else self._read(key, want)

    def require(self, key: str) -> Any:
        """Like `get`, for a value that has to be there. Raises GgufError."""
        value = self.get(key)
        if value is None:
            raise self._lacks(key)
        return value

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number. Raises GgufError when it is another kind of value, or missing without a `default`."""
        return int(self._typed(key, INTEGER, default))

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number. Raises GgufError like `integer`."""
        return float(self._typed(key, NUMBER, default))

    def text(self, key: str, default: str | None = None) -> str:
        """A text. Raises GgufError like `integer`."""
        return str(self._typed(key, TEXT, default))

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false. Raises GgufError like `integer`."""
        return bool(self._typed(key, FLAG, default))

    def integers(self, key: str, default: list[int] | None = None) -> list[int]:
        """A list of whole numbers; one alone counts as a list of one. Raises GgufError like `integer`."""
        info = self._metadata.get(key)
        if info is not None and not info.is_array:
            return [self.integer(key)]
        return list(self._typed(key, INTEGERS, default))

    # Tensors

    def tensor(self, name: str) -> GgufTensor:
        """A tensor by name. Raises GgufError."""
        if name not in self._holders:
            raise GgufError(f"{self.path.name} has no tensor {name!r}.")
        return self._holders[name].tensor(name)

    def has_tensor(self, name: str) -> bool:
        return name in self._holders

    def tensor_infos(self) -> Iterator[TensorInfo]:
        """What the header says about every tensor, part after part."""
        for part in self._opened:
            yield from part.header.tensors.values()

    # How values are read

    def _typed(self, key: str, want: Wanted, default: Any) -> Any:
        if key in self._metadata:
            return self._read(key, want)
        if default is None:
            raise self._lacks(key)
        return default

    def _read(self, key: str, want: Wanted) -> Any:
        info = self._metadata[key]
        if not want.fits(info):
            raise GgufError(f"{self.path.name} has {described(info)} in {key!r} where {want.phrase} was expected.")
        value = self._decoded(key)
        if want in (NUMBER, NUMBERS) and not all(map(math.isfinite, value if info.is_array else [value])):
            raise GgufError(f"{self.path.name} has a number in {key!r} that is not finite.")
        return value

    def _decoded(self, key: str) -> Any:
        try:
            return self._opened[0].value(self._metadata[key])
        except UnicodeDecodeError:
            raise GgufError(f"{self.path.name} has a text in {key!r} that is not UTF-8.") from None

    def _lacks(self, key: str) -> GgufError:
        return GgufError(f"{self.path.name} has no {key!r} in its metadata.")

    def _check_split(self) -> None:
        """What the parts say about themselves has to fit their names and what was found in them."""
        count = len(self.parts)
        for index, part in enumerate(self._opened):
            said = [part.number(f"split.{key}", default) for key, default in (("count", 1), ("no", 0))]
            if count == 1 and said[0] > 1:
                raise GgufError(
                    f"{part.path.name} is one of {said[0]} files of a model. Give all of them their names back: "
                    f"NAME-00001-of-{said[0]:05}.gguf and so on."
                )
            if count > 1 and said != [count, index]:
                raise GgufError(f"{part.path.name} does not say that it is part {index + 1} of {count}: it is damaged.")
        total = self._opened[0].number("split.tensors.count", len(self._holders))
        if total != len(self._holders):
            raise GgufError(f"{self.path.name} and its other parts hold {len(self._holders):,} tensors, not {total:,}.")


class _Part:
    """One file, mapped, with its header read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.buffer = _mapped(path)
        self.header: Header = read_header(self.buffer.data, path.name)

    def tensor(self, name: str) -> GgufTensor:
        info = self.header.tensors[name]
        raw = self.buffer[info.start : info.start + info.n_bytes]
        shape = tuple(reversed(info.shape))
        if info.tensor_type in _ITEM_TYPES:
            return GgufTensor(info, raw.view(_ITEM_TYPES[info.tensor_type]).reshape(shape))
        return GgufTensor(info, raw.reshape(quant_shape_to_byte_shape(shape, info.tensor_type)))

    def number(self, key: str, default: int) -> int:
        """A whole number of this part's own metadata. Raises GgufError."""
        info = self.header.metadata.get(key)
        if info is None:
            return default
        if not INTEGER.fits(info):
            raise GgufError(f"{self.path.name} has {described(info)} in {key!r} where {INTEGER.phrase} was expected.")
        return int(self.value(info))

    def value(self, info: ValueInfo) -> Any:
        """Raises UnicodeDecodeError."""
        view = self.buffer.data[info.start : info.end]
        if info.kind is GGUFValueType.STRING:
            return _strings(view, info.count) if info.is_array else str(view, "utf-8")
        values = np.frombuffer(view, dtype=SCALAR_FORMATS[info.kind], count=info.count).tolist()
        return values if info.is_array else values[0]


def part_paths(path: Path) -> tuple[Path, ...]:
    """All files of the model that `path` is one of, by the names llama-gguf-split gives them.

    Only neighbours of `path` are named, never what a file's content says. Raises GgufError for one that is missing.
    """
    named = _PART.fullmatch(path.name)
    if named is None or int(named["count"]) == 1:
        return (path,)
    count = int(named["count"])
    if not 1 <= int(named["number"]) <= count:
        raise GgufError(f"{path.name} is no part of {count}: its name was changed.")
    parts = []
    for number in range(1, count + 1):
        part = path.with_name(f"{named['stem']}-{number:05}-of-{count:05}{named['suffix']}")
        if not part.is_file():
            raise GgufError(f"{part.name} is missing: the model is split into {count} files, all needed in one folder.")
        parts.append(part)
    return tuple(parts)


def model_stem(path: Path) -> str:
    """The file's name without its ending and without the numbers of a part."""
    named = _PART.fullmatch(path.name)
    return str(named["stem"]) if named else path.stem


def _mapped(path: Path) -> NDArray[np.uint8]:
    """The bytes of a file, mapped; empty ones as an empty array. Raises GgufError."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise GgufError(f"{path.name} is not a file.")
        return np.memmap(path, np.uint8, mode="r") if found.st_size else np.empty(0, np.uint8)
    except OSError as error:
        raise GgufError(f"{path.name} cannot be read: {error.strerror or error}.") from error


def _strings(view: memoryview, count: int) -> list[str]:
    strings, at, length_at = [], 0, _LENGTH.unpack_from
    for _ in range(count):
        start = at + 8
        at = start + length_at(view, at)[0]
        strings.append(str(view[start:at], "utf-8"))
    return strings

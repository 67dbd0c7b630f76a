"""Reads a GGUF file's metadata and tensors, and turns anything wrong with it into one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gguf import GGUFReader


class GgufError(ValueError):
    """The file cannot be used; the message says why and fits on one line."""


class GgufFile:
    """A memory-mapped GGUF file. Tensors stay on disk until they are touched."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._reader = GGUFReader(path)
        except OSError as error:
            raise GgufError(f"{path.name} cannot be read: {error.strerror or error}") from error
        except Exception as error:  # the reader trusts the file: any exception means that the file is broken
            raise GgufError(f"{path.name} is not a complete GGUF file ({type(error).__name__}: {error})") from error
        self._tensors = {tensor.name: tensor for tensor in self._reader.tensors}

    @property
    def architecture(self) -> str:
        return str(self.get("general.architecture"))

    def get(self, key: str, default: Any = None) -> Any:
        """A metadata value as Python data, or `default`."""
        field = self._reader.get_field(key)
        return default if field is None else field.contents()

    def require(self, key: str) -> Any:
        """A metadata value that has to be there. Raises GgufError."""
        value = self.get(key)
        if value is None:
            raise GgufError(f"{self.path.name} has no {key!r} in its metadata")
        return value

    def tensor(self, name: str) -> Any:
        """A tensor by name: `.data`, `.tensor_type`, `.shape` as (columns, rows). Raises GgufError."""
        if name not in self._tensors:
            raise GgufError(f"{self.path.name} has no tensor {name!r}")
        return self._tensors[name]

    def has_tensor(self, name: str) -> bool:
        return name in self._tensors

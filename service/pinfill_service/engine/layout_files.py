"""The files of a model folder, read with bounds: nothing outside the folder, no huge or deeply nested JSON."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MAX_JSON_BYTES = 16 << 20  # a configuration has some kilobytes


class LayoutError(ValueError):
    """The folder cannot be run; the message says why in one sentence."""


class ModelFolder:
    """One folder with a model.

    A file may be a link if it leads to a place in the folder; in a snapshot of Hugging Face's cache, every file is a
    link to the `blobs` folder beside `snapshots`, and those are fine, too.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        resolved = _resolve(path)
        self._roots = [resolved]
        if resolved.parent.name == "snapshots" and resolved.parent.parent.name.startswith("models--"):
            self._roots.append(resolved.parent.parent / "blobs")

    def find(self, name: str, by: str = "the folder") -> Path | None:
        """The ordinary file of that relative name, or None. Raises LayoutError when it leads out of the folder."""
        parts = name.replace("\\", "/").split("/")
        if not parts[0] or ".." in parts or ":" in parts[0] or not name.isprintable():
            raise LayoutError(f"{by} names a file outside its folder: {name[:200]!r}")
        path = self.path / name
        try:
            mode = path.lstat().st_mode
            resolved = path.resolve()
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RuntimeError) as error:
            raise LayoutError(f"{by} names a file that cannot be opened: {name[:200]!r}") from error
        if not any(resolved.is_relative_to(root) for root in self._roots):
            what = "is a link out of the folder; copy the folder with 'cp -rL', then use that"
            raise LayoutError(f"{name!r} {what}" if stat.S_ISLNK(mode) else f"{name!r} is reached by a link out of it")
        return path if resolved.is_file() else None

    def sub(self, path: Path) -> ModelFolder:
        """The folder `path` in this one; its files may be links to wherever this folder's may lead."""
        inner = ModelFolder(path)
        inner._roots = [*inner._roots, *self._roots[1:]]
        return inner

    def require(self, name: str, by: str) -> Path:
        """`find`, but a missing file raises LayoutError."""
        path = self.find(name, by)
        if path is None:
            raise LayoutError(f"{by} names {name[:200]!r}, which is not there: the folder is not complete")
        return path

    def config(self, name: str) -> Config | None:
        """The JSON object in a file; None when there is no such file. Raises LayoutError."""
        path = self.find(name)
        return None if path is None else Config.read(path, name)


def _resolve(path: Path) -> Path:
    try:
        resolved = path.resolve()
        if not resolved.is_dir():
            raise LayoutError(f"{path} is not a folder")
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, LayoutError):
            raise
        raise LayoutError(f"{path} cannot be opened: {error}") from error
    return resolved


class Config:
    """A JSON object that says where it is wrong: every access checks the type. Absent and null are the same."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values, self._where = values, where

    @classmethod
    def read(cls, path: Path, name: str) -> Config:
        """Raises LayoutError for what is not a JSON object of bearable size."""
        try:
            if path.stat().st_size > MAX_JSON_BYTES:
                raise LayoutError(f"{name} is larger than {MAX_JSON_BYTES >> 20} MiB: not a configuration")
            values = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            if isinstance(error, LayoutError):
                raise
            reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
            raise LayoutError(f"{name} cannot be read: {reason}") from error
        if not isinstance(values, dict):
            raise LayoutError(f"{name} is malformed: it is not a JSON object")
        return cls(values, name)

    def __contains__(self, key: str) -> bool:
        return self._values.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        return (key for key in self._values if key in self)

    def section(self, key: str) -> Config:
        """The object under `key`, empty when there is none."""
        value = self._values.get(key)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(key, "an object")
        return Config(value or {}, f"{self._where}: {key}")

    def text(self, key: str, default: str | None = None) -> str:
        value = self._values.get(key, default)
        if not isinstance(value, str) or len(value) > 1000:
            raise self.wrong(key, "a text")
        return value

    def flag(self, key: str) -> bool:
        """False when there is none."""
        value = self._values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return bool(value)

    def positive(self, key: str) -> int | None:
        """A whole number from 1 to 2^31 - 1, or None."""
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 1 << 31:
            raise self.wrong(key, "a positive whole number")
        return value

    def ids(self, key: str) -> tuple[int, ...]:
        """Token ids: one, a list, or none."""
        value = self._values.get(key)
        items = value if isinstance(value, list) else [] if value is None else [value]
        if any(isinstance(item, bool) or not isinstance(item, int) or not 0 <= item < 1 << 31 for item in items):
            raise self.wrong(key, "a token id or a list of them")
        return tuple(items)

    def raw(self, key: str) -> Any:
        return self._values.get(key)

    def wrong(self, key: str, wanted: str) -> LayoutError:
        return LayoutError(f"{self._where} is malformed: {key} must be {wanted}")

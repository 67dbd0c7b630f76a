"""`pinfill.json` in a model's folder: where the model came from and how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

SIDECAR = "pinfill.json"
# Raised when convert_gguf writes another graph: models from the catalogue are then made again by the next pull, and
# imported ones say that they should be.
CONVERTER = 2


class Sidecar(BaseModel):
    """What is known about a model. `source` is what it can be imported from again.

    `kind` is None in files that were written before there was such a field. `sha256` is that of the GGUF file, all
    parts one after another. `changes` says in sentences what an import did to a graph. `files` maps each relative path
    to its size in bytes.
    """

    model_config = ConfigDict(frozen=True)

    source: str
    from_catalog: bool
    kind: Literal["gguf", "folder"] | None = None
    licence: str | None = None
    sha256: str | None = None
    exact: bool = False
    dtype: str | None = None
    architecture: str | None = None
    quantisation: str | None = None
    changes: tuple[str, ...] = ()
    created: datetime | None = None
    converter: int = 0
    files: Mapping[str, int] = {}

    @property
    def is_outdated(self) -> bool:
        """Whether an older version converted it. (Folders are copied, not converted.)"""
        converted = self.kind == "gguf" or (self.kind is None and self.sha256 is not None)
        return converted and self.converter != CONVERTER

    def is_whole(self, folder: Path) -> bool:
        """Whether every file is there with its size."""
        return all(_size(folder / name) == size for name, size in self.files.items())

    def write(self, folder: Path) -> None:
        """Writes it beside the files, with their sizes, the time and this version's converter."""
        files = {path.relative_to(folder).as_posix(): _size(path) for path in folder.rglob("*") if path.is_file()}
        made = {"files": files, "created": datetime.now(UTC), "converter": CONVERTER}
        text = self.model_copy(update=made).model_dump_json(indent=2)
        (folder / SIDECAR).write_text(text, encoding="utf-8")


def read_sidecar(folder: Path) -> Sidecar | None:
    """None when there is none that can be read: the folder was put there by hand."""
    try:
        return Sidecar.model_validate_json((folder / SIDECAR).read_bytes())
    except (OSError, ValidationError):
        return None


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1

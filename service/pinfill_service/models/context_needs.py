"""How long a model's context is and what a token of it costs, for lists of models: read once for each folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pinfill_service.models.library import ModelLibrary, ModelNotFoundError


@dataclass(frozen=True, slots=True)
class ContextNeeds:
    """`length` in tokens, `bytes_per_token` of KV."""

    length: int
    bytes_per_token: int


def context_needs(library: ModelLibrary, name: str) -> ContextNeeds | None:
    """None for a model that cannot be run, or was removed meanwhile."""
    try:
        folder, sidecar = library.path(name), library.sidecar(name)
        stat = folder.stat()
    except (ModelNotFoundError, OSError):
        return None
    return _read(folder, sidecar.dtype if sidecar is not None else None, (stat.st_ino, stat.st_mtime_ns))


@lru_cache(maxsize=256)
def _read(folder: Path, dtype: str | None, _version: tuple[int, int]) -> ContextNeeds | None:
    """A folder gets its name by one rename, so that another model is another folder."""
    from pinfill_service.engine.layout import LayoutError, read_layout
    from pinfill_service.models.model_facts import kv_facts

    try:
        layout = read_layout(folder, dtype=dtype)
    except LayoutError:
        return None
    return ContextNeeds(layout.context_length, sum(kv_facts(layout).bytes_per_token.values()))

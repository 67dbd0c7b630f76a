"""One model that another program keeps on this machine, and what its header says about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pinfill_service.models.gguf_file import GgufError, GgufFile


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place where a model seems to be: a file or a folder, unless it is known already that there is a `problem`."""

    id: str
    program: str
    path: Path
    name: str  # what it might be called here
    notes: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model that `pinfill models import ID` takes, unless `problem` says why not."""

    id: str
    program: str
    path: Path
    name: str
    bytes: int | None
    architecture: str | None
    quantisation: str | None
    notes: tuple[str, ...]
    problem: str | None


def examine(candidate: Candidate) -> FoundModel:
    """Reads the header of a candidate's file, or the configuration of its folder; never the weights."""
    if candidate.problem is not None:
        return _found(candidate, problem=candidate.problem)
    return _examined_folder(candidate) if candidate.path.is_dir() else _examined_gguf(candidate)


def _examined_gguf(candidate: Candidate) -> FoundModel:
    from pinfill_service.models.architectures import architecture_of

    try:
        file = GgufFile(candidate.path)
        architecture = file.architecture
    except GgufError as error:
        return _found(candidate, problem=_about_it(candidate, error))
    problem = None
    try:
        architecture_of(file).read(file)
    except GgufError as error:
        problem = _about_it(candidate, error)
    return _found(candidate, file.size_bytes, architecture, file.quantisation, problem)


def _about_it(candidate: Candidate, error: Exception) -> str:
    """The error without the file's name in front, which for Ollama's is a row of digits."""
    text = str(error)
    name = candidate.path.name
    return f"it{text.removeprefix(name)}" if text.startswith(f"{name} ") else text


def _examined_folder(candidate: Candidate) -> FoundModel:
    from pinfill_service.engine.layout import LayoutError
    from pinfill_service.models.folder_import import inspect_folder

    try:
        plan = inspect_folder(candidate.path)
    except LayoutError as error:
        return _found(candidate, problem=str(error))
    return _found(candidate, plan.size, plan.layout.source, plan.layout.variant)


def _found(
    candidate: Candidate,
    size: int | None = None,
    architecture: str | None = None,
    quantisation: str | None = None,
    problem: str | None = None,
) -> FoundModel:
    return FoundModel(
        candidate.id, candidate.program, candidate.path, candidate.name, size, architecture, quantisation,
        candidate.notes, problem,
    )  # fmt: skip

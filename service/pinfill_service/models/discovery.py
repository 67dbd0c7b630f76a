"""Models that other programs keep on this machine, offered for import: LM Studio's, Ollama's, Hugging Face's cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from pinfill_service.models.catalog import ModelError
from pinfill_service.models.discovery_ollama import ollama_candidates
from pinfill_service.models.discovery_places import Machine, files_below, inside
from pinfill_service.models.found import Candidate, FoundModel, examine
from pinfill_service.models.gguf_file import model_stem

ONNX_MARKS = ("genai_config.json", "config.json")


class NotFoundHereError(ModelError):
    """No program on this machine has a model of that name."""

    code = "model_not_found"


def find_models(machine: Machine | None = None) -> list[FoundModel]:
    """Every model that was found, with its facts and, where it cannot be imported, the reason. Reads headers only."""
    machine = machine or Machine()
    return [examine(candidate) for source in _SOURCES.values() for candidate in source(machine)]


def names_found_model(text: str) -> bool:
    """Whether a text is written like a found model's id: `ollama:...`, `lmstudio:...` or `huggingface:...`."""
    return text.partition(":")[0] in _SOURCES and ":" in text


def find_model(model_id: str, machine: Machine | None = None) -> FoundModel:
    """The model of an id that `find_models` gives; Ollama's tag may be left out where it is `latest`.

    Raises NotFoundHereError for none, and ModelError with the reason for one that cannot be imported.
    """
    program = model_id.partition(":")[0]
    wanted = {model_id, f"{model_id}:latest"} if program == "ollama" else {model_id}
    for candidate in _SOURCES[program](machine or Machine()):
        if candidate.id in wanted:
            model = examine(candidate)
            if model.problem is not None:
                raise ModelError(f"{model.id} cannot be imported: {model.problem}")
            return model
    raise NotFoundHereError(f"There is no {model_id} on this machine. 'pinfill models found' lists what there is.")


def _lm_studio(machine: Machine) -> Iterator[Candidate]:
    for root in machine.lm_studio():
        for path in _models_among(files_below(root)):
            place = path.relative_to(root).as_posix()
            yield _candidate(f"lmstudio:{place}", "LM Studio", path, root)


def _hugging_face(machine: Machine) -> Iterator[Candidate]:
    for root in machine.hugging_face():
        for repository in sorted(root.glob("models--*--*")):
            snapshot = _newest_snapshot(repository)
            if snapshot is None:
                continue
            name = repository.name.removeprefix("models--").replace("--", "/", 1)
            for path in _models_among(files_below(snapshot)):
                place = path.relative_to(snapshot).as_posix()
                model_id = f"huggingface:{name}" if place == "." else f"huggingface:{name}/{place}"
                yield _candidate(model_id, "Hugging Face", path, root)


def _newest_snapshot(repository: Path) -> Path | None:
    """The folder of the revision that was fetched last; None when there is none."""
    folder = repository / "snapshots"
    if not os.path.isdir(folder):
        return None
    snapshots = [Path(entry) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    return max(snapshots, key=lambda snapshot: snapshot.stat().st_mtime_ns, default=None)


def _candidate(model_id: str, program: str, path: Path, root: Path) -> Candidate:
    problem = None if inside(path, root) else "it is a link out of the folder; import the file it leads to by its path."
    name = model_stem(path) if path.suffix.lower() == ".gguf" else model_id.rpartition(":")[2].split("/", 1)[-1]
    return Candidate(model_id, program, path, name, problem=problem)


def _models_among(files: Iterator[Path]) -> Iterator[Path]:
    """GGUF files, of split ones the first part that is there, and folders that hold an ONNX model."""
    seen: set[Path] = set()
    for path in files:
        found = None
        if path.suffix.lower() == ".gguf":
            found = path.with_name(model_stem(path))
        elif path.name in ONNX_MARKS and _has_graph(path.parent):
            found = path = path.parent
        if found is not None and found not in seen:
            seen.add(found)
            yield path


def _has_graph(folder: Path) -> bool:
    return any(folder.glob("*.onnx")) or any(folder.glob("onnx/*.onnx"))


_SOURCES: dict[str, Callable[[Machine], Iterator[Candidate]]] = {
    "lmstudio": _lm_studio,
    "ollama": ollama_candidates,
    "huggingface": _hugging_face,
}

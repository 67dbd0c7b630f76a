"""Takes a folder with an ONNX model in, whichever program wrote it: checks it, copies what is needed, cleans its graph.

Nothing of the source is changed, and nothing is written before all checks have passed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinfill_service.engine.graph_facts import RYZENAI
from pinfill_service.engine.layout import LayoutError, ModelLayout, read_layout
from pinfill_service.engine.layout_files import ModelFolder
from pinfill_service.models.download import CHUNK, Progress
from pinfill_service.models.sidecar import SIDECAR

_MAX_TOKENIZER_BYTES = 128 << 20  # the largest ones have 35 MB
_MAX_FILES = 10_000
# Weights of other programs; those of graphs that were not chosen have ".onnx" in their names.
_OTHER_WEIGHTS = (".safetensors", ".gguf", ".pt", ".pth", ".h5", ".msgpack", ".ot", ".ort", ".tflite")


@dataclass(frozen=True, slots=True)
class FolderPlan:
    """What an import of a folder will take over. `files` are relative to the folder; `size` is in bytes."""

    layout: ModelLayout
    files: tuple[Path, ...]
    size: int


def inspect_folder(source: Path, *, dtype: str | None = None) -> FolderPlan:
    """Checks everything that can be checked without running the model. Reads no weights, writes nothing.

    `dtype` is the name of one of the graphs of an onnx-community folder ("q4", "fp16", ...). Raises LayoutError, in
    one sentence, for a folder that cannot be run or reaches outside itself.
    """
    layout = read_layout(source, dtype=dtype)
    folder = ModelFolder(source)
    try:
        files = tuple(_files(folder, layout))
        _check_tokenizer(folder, layout)
        return FolderPlan(layout, files, sum((source / file).stat().st_size for file in files))
    except OSError as error:
        raise LayoutError(f"{source} cannot be read: {error.strerror or error}") from error


def import_folder(
    source: Path, target: Path, *, exact: bool = False, dtype: str | None = None, progress: Progress | None = None
) -> tuple[str, ...]:
    """Copies the model into `target` (which it makes) and cleans the copied graph; returns what was done, in sentences.

    `exact` leaves the accuracy of products as the graph has it. `progress("copy", bytes done, bytes)` may raise to
    cancel; the caller then removes `target`. Raises LayoutError as `inspect_folder` does.
    """
    from pinfill_service.models.graph_rewriting import rewrite  # onnx takes a while to import

    plan = inspect_folder(source, dtype=dtype)
    layout = plan.layout
    graph = layout.graph.relative_to(source)
    as_is = RYZENAI in layout.facts.domains
    copied = _Copied(plan.size, progress)
    target.mkdir()
    for file in plan.files:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        if file != graph or as_is:
            _copy(source / file, target / file, copied)
    if as_is:
        return ("The graph stays as it is: it is made for AMD's plugin.",)
    return rewrite(layout, target / graph, exact=exact, copied=copied)


class _Copied:
    """Adds up what was copied, and tells."""

    def __init__(self, size: int, progress: Progress | None) -> None:
        self._done, self._size, self._progress = 0, size, progress

    def __call__(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress("copy", self._done, self._size)


def _copy(source: Path, target: Path, copied: Callable[[int], None]) -> None:
    """Copies a file's content alone: the copy can be written to, and is a file where the source is a link."""
    with source.open("rb") as file, target.open("xb") as copy:
        while piece := file.read(CHUNK):
            copy.write(piece)
            copied(len(piece))


def _files(folder: ModelFolder, layout: ModelLayout) -> Iterator[Path]:
    """What the model needs: the graph, its data, and everything beside them that is not another graph's."""
    graph = layout.graph.relative_to(folder.path)
    needed = {graph, *(graph.parent / name for name in layout.facts.data_files)}
    yield from sorted(needed)
    for count, path in enumerate(sorted(folder.path.rglob("*"))):
        if count > _MAX_FILES:
            raise LayoutError(f"{folder.path} has more than {_MAX_FILES} files: not the folder of one model")
        file = path.relative_to(folder.path)
        if file in needed or any(part.startswith(".") for part in file.parts) or file.name == SIDECAR:
            continue
        if path.is_dir() and not path.is_symlink():
            continue
        if folder.find(file.as_posix()) is None:
            raise LayoutError(f"{file.as_posix()!r} is not an ordinary file")
        if not _is_anothers(file):
            yield file


def _is_anothers(file: Path) -> bool:
    name = file.name.lower()
    pytorch = name.startswith(("pytorch_model", "tf_model", "flax_model")) and name.endswith(".bin")
    return pytorch or ".onnx" in name or name.endswith(_OTHER_WEIGHTS)


def _check_tokenizer(folder: ModelFolder, layout: ModelLayout) -> None:
    """The graph must have a row for each token, but for special ones that only other parts of a model know."""
    path = folder.find("tokenizer.json")
    if path is None:
        raise LayoutError(f"{folder.path} has no tokenizer.json")
    if path.stat().st_size > _MAX_TOKENIZER_BYTES:
        raise LayoutError(f"tokenizer.json is larger than {_MAX_TOKENIZER_BYTES >> 20} MiB")
    try:
        ids = list(_ids(json.loads(path.read_text(encoding="utf-8"))))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise LayoutError(f"tokenizer.json is malformed: {type(error).__name__} {str(error)[:200]}") from error
    if not all(isinstance(id, int) for id in ids):
        raise LayoutError("tokenizer.json is malformed: a token's id is not a number")
    highest = max(ids, default=0)
    if highest >= layout.vocab_size:
        raise LayoutError(
            f"tokenizer.json has token ids up to {highest}, but the graph knows {layout.vocab_size} tokens: "
            "they are not of the same model"
        )


def _ids(tokenizer: Any) -> Iterator[int]:
    added = {token["id"]: bool(token.get("special")) for token in tokenizer.get("added_tokens", ())}
    vocabulary = tokenizer["model"]["vocab"]
    ids = vocabulary.values() if isinstance(vocabulary, dict) else range(len(vocabulary))
    yield from (id for id in ids if not added.get(id))
    yield from (id for id, special in added.items() if not special)

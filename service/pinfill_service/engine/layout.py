"""What a model folder holds: files, names of inputs and outputs, context length, stop ids, fingerprint."""

from __future__ import annotations

import hashlib
from pathlib import Path

import psutil

from pinfill_service.engine.graph_facts import GraphFacts
from pinfill_service.engine.layout_files import LayoutError, ModelFolder
from pinfill_service.engine.layout_genai import CONFIG as GENAI_CONFIG
from pinfill_service.engine.layout_genai import read_genai
from pinfill_service.engine.layout_model import ModelLayout, Names
from pinfill_service.engine.layout_transformers import CONFIG as TRANSFORMERS_CONFIG
from pinfill_service.engine.layout_transformers import read_transformers

__all__ = ["GENAI_CONFIG", "GraphFacts", "LayoutError", "ModelLayout", "Names", "fingerprint", "read_layout"]

# What cannot change an answer. Everything else in a folder might: weights may have any name.
_NOT_FINGERPRINTED = {".md", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf"}
_OWN = "pinfill.json"


def read_layout(folder: Path, *, dtype: str | None = None, memory: int | None = None) -> ModelLayout:
    """Reads a folder of onnxruntime-genai (genai_config.json), optimum or transformers.js (config.json).

    `dtype` chooses among the graphs of a transformers.js folder ("fp32", "q4", ...); otherwise the best for a CPU that
    fits in `memory` bytes (half of the machine's) is taken. No weights are read. Raises LayoutError, in one sentence,
    for anything that is missing, malformed or not supported.
    """
    files = ModelFolder(folder)
    try:
        config = files.config(GENAI_CONFIG)
        if config is not None:
            if dtype is not None:
                raise LayoutError(f"{folder} holds one graph, named by {GENAI_CONFIG}: there is no dtype to choose")
            return read_genai(files, config)
        config = files.config(TRANSFORMERS_CONFIG)
        if config is not None:
            half = psutil.virtual_memory().total // 2 if memory is None else memory
            return read_transformers(files, config, dtype=dtype, memory=half)
    except OSError as error:
        raise LayoutError(f"{folder} cannot be read: {error.strerror or error}") from error
    raise LayoutError(f"{folder} has no {GENAI_CONFIG} and no {TRANSFORMERS_CONFIG}: {_advice(folder)}")


def _advice(folder: Path) -> str:
    """Where the model may be instead."""
    inner = [path.parent for depth in ("*", "*/*") for path in folder.glob(f"{depth}/{GENAI_CONFIG}")]
    if inner:
        return f"take one of the folders in it, for example {inner[0].relative_to(folder).as_posix()}"
    return "not a model folder of onnxruntime-genai, optimum or transformers.js"


def fingerprint(folder: Path) -> str:
    """SHA-256 over the names and contents of all files that can change an answer."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if hidden or name.name == _OWN or path.suffix.lower() in _NOT_FINGERPRINTED or not path.is_file():
            continue
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{name.as_posix()}\0{content}\n".encode())
    return digest.hexdigest()

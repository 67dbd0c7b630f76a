"""Ollama's models: a manifest for each tag names the layers, which are files called after their SHA-256.

Layout: `manifests/HOST/NAMESPACE/NAME/TAG` (JSON) and `blobs/sha256-<digest>`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from pinfill_service.models.discovery_places import Machine, UnreadableError, files_below, inside, read_json
from pinfill_service.models.found import Candidate

REGISTRY, LIBRARY, LATEST = "registry.ollama.ai", "library", "latest"
MAX_MANIFESTS = 2_000
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")
_LAYER = re.compile(r"application/vnd\.ollama\.image\.(?P<kind>\w+)")
# Layers that an import leaves behind, and what that means for the user.
_LEFT_BEHIND = {
    "template": "Ollama's own chat template is not taken over; the one in the GGUF file is used",
    "system": "its system prompt is not taken over",
    "params": "its sampling parameters are not taken over",
    "projector": "it sees images in Ollama; here it is text only",
}


class _RefusedError(Exception):
    """The manifest names no model that could be imported; the message is the reason."""


def ollama_candidates(machine: Machine) -> Iterator[Candidate]:
    """Every tag that Ollama has, each once; one whose manifest cannot be used comes with the problem."""
    seen: set[str] = set()
    for root in machine.ollama():
        for path in islice(files_below(root / "manifests"), MAX_MANIFESTS):
            parts = path.relative_to(root / "manifests").parts
            if len(parts) != 4 or any(part.startswith(".") for part in parts):
                continue
            short = _short_name(*parts)
            if short not in seen:
                seen.add(short)
                yield _candidate(root, path, short)


def _short_name(host: str, namespace: str, name: str, tag: str) -> str:
    """As Ollama lists it: without the host and the namespace that are meant when nothing is said."""
    if host != REGISTRY:
        return f"{host}/{namespace}/{name}:{tag}"
    return f"{name}:{tag}" if namespace == LIBRARY else f"{namespace}/{name}:{tag}"


def _candidate(root: Path, manifest: Path, short: str) -> Candidate:
    model_id = f"ollama:{short}"
    name, tag = manifest.parent.name, manifest.name
    suggested = name if tag == LATEST else f"{name}-{tag}"
    try:
        if not inside(manifest, root):
            raise _RefusedError("its manifest is a link out of Ollama's folder.")
        layers = _layers(read_json(manifest))
        blob = _blob(root, _model_digest(layers))
    except (UnreadableError, _RefusedError) as error:
        reason = f"its manifest {error}." if isinstance(error, UnreadableError) else str(error)
        return Candidate(model_id, "Ollama", manifest, suggested, problem=reason)
    kinds = {kind for kind, _ in layers}
    notes = tuple(text for kind, text in _LEFT_BEHIND.items() if kind in kinds)
    return Candidate(model_id, "Ollama", blob, suggested, notes)


def _layers(manifest: Any) -> list[tuple[str, Any]]:
    """(kind, digest) of each layer; the digest may be anything still."""
    layers = manifest.get("layers") if isinstance(manifest, dict) else None
    if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
        raise _RefusedError("its manifest has no list of layers.")
    named = ((_LAYER.match(str(layer.get("mediaType"))), layer.get("digest")) for layer in layers)
    return [(match["kind"], digest) for match, digest in named if match is not None]


def _model_digest(layers: list[tuple[str, Any]]) -> str:
    kinds = [kind for kind, _ in layers]
    if "adapter" in kinds:
        raise _RefusedError("it has an adapter (LoRA) on top, which cannot be imported.")
    if kinds.count("model") != 1:
        raise _RefusedError("it is not one GGUF file; only those can be imported from Ollama.")
    digest = _DIGEST.fullmatch(str(next(digest for kind, digest in layers if kind == "model")))
    if digest is None:
        raise _RefusedError("its manifest names a file that is not a digest. It is not followed.")
    return digest[1]


def _blob(root: Path, digest: str) -> Path:
    """The file of a digest. (On Linux and macOS, older versions wrote a colon.)"""
    for separator in "-:":
        path = root / "blobs" / f"sha256{separator}{digest}"
        if os.path.isfile(path):
            if not inside(path, root):
                raise _RefusedError(
                    "its file is a link out of Ollama's folder; import the file it leads to by its path."
                )
            return path
    raise _RefusedError("its file is not there: the pull in Ollama has not finished.")

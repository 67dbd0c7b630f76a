"""What a model folder holds: files, names of inputs and outputs, context length, stop ids, fingerprint."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Everything in a folder that can change an answer. Names, licences and the like cannot.
_FINGERPRINTED = ("*.onnx", "*.onnx.data", "*.onnx_data*", "*.bin", "genai_config.json", "tokenizer*.json", "*.jinja")


class LayoutError(ValueError):
    """The folder cannot be run; the message says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Names:
    """The graph's own names for what the engine feeds and reads. `past` and `present` map a pattern's layer number."""

    input_ids: str = "input_ids"
    attention_mask: str = "attention_mask"
    position_ids: str = "position_ids"
    logits: str = "logits"
    past_key: str = "past_key_values.%d.key"
    past_value: str = "past_key_values.%d.value"
    present_key: str = "present.%d.key"
    present_value: str = "present.%d.value"
    use_cache_branch: str = "use_cache_branch"  # of merged decoders
    states: tuple[tuple[str, str], ...] = ()  # (past, present) patterns of state beside KV: convolution, SSM


@dataclass(frozen=True, slots=True)
class ModelLayout:
    """One model folder, whichever program wrote it."""

    folder: Path
    graph: Path
    names: Names
    context_length: int
    vocab_size: int
    head_size: int  # graphs may leave it symbolic
    eos_ids: tuple[int, ...]
    bos_id: int | None
    session_options: Mapping[str, str]
    source: str = "onnxruntime-genai"  # or "optimum", "transformers.js"
    appends_in_place: bool = True  # False: past and present are different tensors, KV grows by concatenation


def read_layout(folder: Path) -> ModelLayout:
    """Reads genai_config.json. Raises LayoutError for anything that is missing, malformed or not supported."""
    path = folder / "genai_config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        return _from_genai(folder, config)
    except FileNotFoundError as error:
        raise LayoutError(f"{folder} has no genai_config.json: not an onnxruntime-genai model folder") from error
    except (OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise LayoutError(f"{path} cannot be read: {error}") from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, LayoutError):
            raise
        raise LayoutError(f"{path} is malformed: {type(error).__name__} {error}") from error


def _from_genai(folder: Path, config: Any) -> ModelLayout:
    model = config["model"]
    decoder = model["decoder"]
    inputs, outputs = decoder.get("inputs", {}), decoder.get("outputs", {})
    if any("conv" in key or "recurrent" in key or "ssm" in key for key in inputs):
        raise LayoutError("this model carries recurrent state, which this version does not run yet")
    if not config.get("search", {}).get("past_present_share_buffer", False):
        raise LayoutError("this model's KV grows by concatenation, which this version does not run yet")
    default = Names()
    names = Names(
        input_ids=inputs.get("input_ids", "input_ids"),
        attention_mask=inputs.get("attention_mask", "attention_mask"),
        position_ids=inputs.get("position_ids", "position_ids"),
        logits=outputs.get("logits", "logits"),
        past_key=inputs.get("past_key_names", default.past_key),
        past_value=inputs.get("past_value_names", default.past_value),
        present_key=outputs.get("present_key_names", default.present_key),
        present_value=outputs.get("present_value_names", default.present_value),
    )
    eos = model.get("eos_token_id", [])
    return ModelLayout(
        folder=folder,
        graph=_inside(folder, decoder["filename"]),
        names=names,
        context_length=int(model["context_length"]),
        vocab_size=int(model["vocab_size"]),
        head_size=int(decoder["head_size"]),
        eos_ids=tuple(int(i) for i in (eos if isinstance(eos, list) else [eos])),
        bos_id=model.get("bos_token_id"),
        session_options=_session_options(decoder.get("session_options", {})),
    )


def _inside(folder: Path, name: str) -> Path:
    """A file of the folder; a name that leads elsewhere is refused."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise LayoutError(f"genai_config.json names a file outside its folder: {name!r}")
    if not path.is_file():
        raise LayoutError(f"{folder} has no {name}")
    return path


def _session_options(options: Mapping[str, Any]) -> dict[str, str]:
    """The session configuration entries among onnxruntime-genai's options (those with a dotted name)."""
    return {key: str(value) for key, value in options.items() if re.fullmatch(r"[a-z_]+(\.[a-z0-9_]+)+", key)}


def fingerprint(folder: Path) -> str:
    """SHA-256 over the names and contents of all files that can change an answer."""
    files = {path for pattern in _FINGERPRINTED for path in folder.rglob(pattern) if path.is_file()}
    digest = hashlib.sha256()
    for path in sorted(files):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()

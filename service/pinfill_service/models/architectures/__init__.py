"""The architectures of GGUF that can be converted: one module each, from the building blocks beside them.

A module says which MODELS it is for and their GENAI_TYPE (onnxruntime-genai's name for them), and has `read(file)`,
which turns metadata into the configuration of the graph.
"""

from __future__ import annotations

from typing import Protocol

from pinfill_service.models.architectures import gemma3, llama, phi3, qwen2, qwen3
from pinfill_service.models.architectures.config import DecoderConfig
from pinfill_service.models.gguf_file import GgufError, GgufFile


class Architecture(Protocol):
    """What a module of this package offers."""

    MODELS: str
    GENAI_TYPE: str

    def read(self, file: GgufFile) -> DecoderConfig: ...


_ARCHITECTURES: dict[str, Architecture] = {
    "llama": llama, "qwen2": qwen2, "qwen3": qwen3, "gemma3": gemma3, "phi3": phi3,
}  # fmt: skip

# general.architecture -> the models known under it
SUPPORTED = {name: architecture.MODELS for name, architecture in _ARCHITECTURES.items()}

_ENCODERS = ("bert", "t5", "embedding", "embed")
_RECURRENT = (
    "mamba",
    "rwkv",
    "lfm2",
    "jamba",
    "falcon-h1",
    "granitehybrid",
    "plamo2",
    "nemotron_h",
    "arwkv",
    "qwen3next",
)
_KINDS = {"adapter": "a LoRA adapter", "mmproj": "the vision part (mmproj) of a model", "imatrix": "no model"}


def architecture_of(file: GgufFile) -> Architecture:
    """Raises GgufError, naming what is supported, for a file of another kind."""
    name = file.architecture
    kind = file.text("general.type", "model")
    if kind in _KINDS:
        raise GgufError(_refusal(file, _KINDS[kind]))
    if name not in _ARCHITECTURES:
        raise GgufError(_refusal(file, _described(name)))
    return _ARCHITECTURES[name]


def _refusal(file: GgufFile, what: str) -> str:
    return f"{file.path.name} is {what}; Pinfill converts models of the architectures {', '.join(SUPPORTED)}."


def _described(name: str) -> str:
    """What a model of another architecture is, in words."""
    if name == "clip":
        return "the vision part (mmproj) of a model"
    if name.startswith(_RECURRENT):
        return f"a recurrent model ({name})"
    if name.endswith("moe"):
        return f"a mixture of experts ({name})"
    if any(word in name for word in _ENCODERS):
        return f"an encoder ({name}), which cannot generate text"
    return f"a {name} model"

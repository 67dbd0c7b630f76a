"""The findings of a self-test: plain values, fit for a bug report. Nothing secret goes in: no keys, no prompts."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel


class OnnxRuntime(BaseModel):
    """The module that runs models. `distribution` is the wheel it came with."""

    version: str
    distribution: str | None
    build: str
    providers: list[str]
    devices: list[str]  # "CPUExecutionProvider: cpu (AMD)"


class NpuFacts(BaseModel):
    """One NPU as the operating system lists it. `obstacle`: what keeps programs from using it."""

    pci_id: str  # "1022:17f0"
    name: str
    runs_llms: bool
    driver: str | None
    driver_version: str | None
    firmware_version: str | None
    node: str | None
    obstacle: str | None


class RyzenAi(BaseModel):
    """AMD's plugin library: whether one is named (RYZENAI_EP_PATH or settings), is there, and could be registered."""

    named: bool
    found: bool
    error: str | None


class ModelRun(BaseModel):
    """The model that was tried and where its nodes run."""

    name: str
    provider: str
    note: str
    context_length: int


class RequestRun(BaseModel):
    """One request twice: from nothing, and behind a cached prefix. `equal`: both answers have the same text."""

    prompt_tokens: int
    cached_tokens: int
    cold_seconds: float
    warm_seconds: float
    equal: bool


class Trouble(BaseModel):
    """What is wrong, as a sentence; `code` is its stable name, or that of the error that it is about."""

    code: str
    message: str


class Report(BaseModel):
    """Everything that was found. What could not be found out is None, and `problems` say why."""

    machine: dict[str, str | int | None]
    onnxruntime: OnnxRuntime | None = None
    npus: list[NpuFacts] = []
    accel_nodes: list[str] = []
    ryzenai: RyzenAi | None = None
    model: ModelRun | None = None
    request: RequestRun | None = None
    problems: list[Trouble] = []

    @property
    def passed(self) -> bool:
        """Whether an answer came, from the cache too, and was the same."""
        return self.request is not None and self.request.equal and self.request.cached_tokens > 0


def without_home(text: str) -> str:
    """A text in which the user's own folder, which holds their name, is `~`."""
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text

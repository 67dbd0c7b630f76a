"""The model that answers: its engine and its text side, which only change together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pinfill_service.engine.interface import Engine
from pinfill_service.prompt.text_model import TextModel
from pinfill_service.settings import Settings


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """An engine that runs, and how text becomes its tokens."""

    engine: Engine
    text: TextModel

    @property
    def name(self) -> str:
        return self.engine.model.name

    @property
    def fingerprint(self) -> str:
        return self.engine.model.fingerprint


@dataclass(frozen=True, slots=True)
class ModelProblem:
    """Why a model could not be loaded, for people; `missing` is its name where it is not on this machine at all."""

    message: str
    missing: str | None = None


class ModelLoader(Protocol):
    """Finds and loads models by name. Both methods take long and may be called from any thread.

    Both raise ModelError and what reading and loading a model folder raises; messages are for people.
    """

    def fingerprint(self, name: str) -> str: ...

    def load(self, name: str, settings: Settings) -> LoadedModel: ...

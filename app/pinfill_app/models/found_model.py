"""A model that another program keeps on this machine, as `pinfill models found --json` tells it.

Names and headers of other programs' files are in it, so that every text may hold anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter
from PySide6.QtCore import QCoreApplication, QLocale

from pinfill_app import units
from pinfill_service.api.schemas.manage import ModelEntry

UNSHOWABLE = "\N{REPLACEMENT CHARACTER}"
_LONGEST_ID, _LONGEST_TEXT, _LONGEST_WORD = 5_000, 600, 60  # characters
_HALF = re.compile("[\ud800-\udfff]")
_LONG_WORD = re.compile(rf"(\S{{{_LONGEST_WORD}}})(?=\S)")


def _sendable(value: Any) -> Any:
    """Bytes of a file name that are no text come as halves of characters, which no other program can be given."""
    return _HALF.sub(UNSHOWABLE, value) if isinstance(value, str) else value


def _printable(value: Any) -> Any:
    """Without what would move other text about on the screen."""
    if not isinstance(value, str):
        return value
    return "".join(each if each.isprintable() else UNSHOWABLE for each in value[:_LONGEST_ID])


def _readable(value: Any) -> Any:
    """Not endless, and words that are too long for a window can be broken."""
    text = _printable(value)
    return _LONG_WORD.sub("\\1\N{ZERO WIDTH SPACE}", text[:_LONGEST_TEXT]) if isinstance(text, str) else text


_Line = Annotated[str, BeforeValidator(_printable)]
_Text = Annotated[str, BeforeValidator(_readable)]


class FoundModel(BaseModel):
    """`id` is what `pinfill models import` takes, `name` what the model will be called here; empty where no name can be
    made of its own. `problem` says why it cannot be imported.
    """

    model_config = ConfigDict(frozen=True)

    id: Annotated[str, BeforeValidator(_sendable), Field(max_length=_LONGEST_ID)]
    program: _Text
    path: _Line
    name: _Text
    bytes: Annotated[int, Field(ge=0, lt=1 << 63)] | None
    architecture: _Text | None
    quantisation: _Text | None
    notes: tuple[_Text, ...]
    problem: _Text | None

    @property
    def shown_id(self) -> str:
        return str(_printable(self.id))

    @property
    def title(self) -> str:
        """The name, or the end of the id."""
        return self.name or self.shown_id.rpartition("/")[2][-_LONGEST_WORD:]

    @property
    def reason(self) -> str:
        """Why it cannot be imported; empty when it can."""
        if self.problem is None and UNSHOWABLE in self.id:
            return QCoreApplication.translate("models", "its name is no text. Rename the file or its folder.")
        return self.problem or ""

    @property
    def can_be_imported(self) -> bool:
        return not self.reason


_LIST = TypeAdapter(list[FoundModel])


def read_found(output: bytes) -> tuple[FoundModel, ...]:
    """What the command printed, those first that can be imported. Raises ValueError for anything else."""
    try:
        models = _LIST.validate_python(json.loads(output))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return tuple(sorted(models, key=lambda model: not model.can_be_imported))


def not_here_yet(models: Iterable[FoundModel], entries: Iterable[ModelEntry]) -> tuple[FoundModel, ...]:
    """Those that were not imported, by their id or their path."""
    sources = {entry.source for entry in entries}
    return tuple(model for model in models if not sources & {model.id, model.path})


def place_text(model: FoundModel) -> str:
    """in Ollama"""
    return QCoreApplication.translate("models", "in {}").format(_keeper(model))


def models_text(models: Sequence[FoundModel]) -> str:
    """3 models in LM Studio and Ollama"""
    tr = QCoreApplication.translate
    words = tr("models", "{} model in {}") if len(models) == 1 else tr("models", "{} models in {}")
    keepers = list(dict.fromkeys(map(_keeper, models)))
    return words.format(units.number(len(models)), QLocale().createSeparatedList(keepers))


def _keeper(model: FoundModel) -> str:
    """The program, or what it is known by."""
    if model.program == "Hugging Face":
        return QCoreApplication.translate("models", "Hugging Face's cache")
    return model.program

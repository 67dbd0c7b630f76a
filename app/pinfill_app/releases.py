"""Where releases of Pinfill are published, and what an answer from there says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Annotated

from packaging.version import Version
from pydantic import BaseModel, Field, StrictBool, ValidationError
from PySide6.QtCore import QUrl

from pinfill_service import __version__

HOMEPAGE = "https://github.com/pinfill/pinfill"  # `project.urls` of pyproject.toml names the same
RELEASES = f"{HOMEPAGE}/releases"
# docs.github.com/rest/releases/releases: "latest" is neither a draft nor a pre-release.
LATEST = QUrl(HOMEPAGE.replace("https://github.com/", "https://api.github.com/repos/", 1) + "/releases/latest")
LONGEST_TAG = 40  # characters


class NoRelease(Enum):
    """Why asking brought no release."""

    NONE_PUBLISHED = auto()
    UNREACHABLE = auto()
    INSECURE = auto()  # who answers is not who was asked
    TOO_LATE = auto()
    REFUSED = auto()
    NOT_UNDERSTOOD = auto()


@dataclass(frozen=True, slots=True)
class Release:
    """Of a tag that `release_of` found to be a version, with or without a "v" before it."""

    tag: str

    @property
    def version(self) -> str:
        return self.tag.removeprefix("v")

    @property
    def is_newer(self) -> bool:
        """Than what runs."""
        return Version(self.version) > Version(__version__)

    @property
    def page(self) -> QUrl:
        """Where it is described and downloaded. Nothing of an answer but the version is in it."""
        return QUrl(f"{RELEASES}/tag/{self.tag}")


class _Answer(BaseModel):
    """What is read of GitHub's answer."""

    tag_name: Annotated[str, Field(max_length=LONGEST_TAG)]
    draft: StrictBool
    prerelease: StrictBool


def latest_release(content: bytes) -> Release | NoRelease:
    """What GitHub's answer for the latest release says, whoever wrote it. Drafts and pre-releases count as none."""
    try:
        answer = _Answer.model_validate_json(content)
    except ValidationError:
        return NoRelease.NOT_UNDERSTOOD
    release = release_of(answer.tag_name)
    if release is None:
        return NoRelease.NOT_UNDERSTOOD
    if answer.draft or answer.prerelease or Version(release.version).is_prerelease:
        return NoRelease.NONE_PUBLISHED
    return release


def release_of(tag: str) -> Release | None:
    """None for a tag that is not exactly a version as packages write it, so that it is harmless in an address."""
    if len(tag) > LONGEST_TAG:
        return None
    try:
        version = str(Version(tag))
    except ValueError:
        return None
    return Release(tag) if tag in (version, f"v{version}") else None

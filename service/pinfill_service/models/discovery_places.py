"""Where other programs keep their models on this machine. Nothing here is written to, and no link out is followed."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_JSON_BYTES = 1 << 20
MAX_FILES = 20_000  # looked at in one folder of models
MAX_DEPTH = 6


class UnreadableError(Exception):
    """A small file of another program cannot be used; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where models are: the user's home, the environment, the system (as `sys.platform` names it)."""

    home: Path = field(default_factory=Path.home)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    system: str = sys.platform

    def lm_studio(self) -> list[Path]:
        """LM Studio's folders of models: the one its settings name, then the usual ones."""
        homes = [self.home / ".lmstudio", self.home / ".cache" / "lm-studio"]
        chosen = [folder for home in homes if (folder := _downloads_folder(home / "settings.json")) is not None]
        return _present([*chosen, *(home / "models" for home in homes)])

    def ollama(self) -> list[Path]:
        """Ollama's folders of models: the user's, and on Linux that of the system's service."""
        usual = [self.home / ".ollama" / "models"]
        if self.system.startswith("linux"):
            usual.append(Path("/usr/share/ollama/.ollama/models"))
        return _present([*self._named("OLLAMA_MODELS"), *usual])

    def hugging_face(self) -> list[Path]:
        """The cache of Hugging Face's programs, by their own rules."""
        named = self._named("HF_HUB_CACHE") or self._named("HUGGINGFACE_HUB_CACHE")
        return _present(named or [self._hugging_face_home() / "hub"])

    def hugging_face_login(self) -> Path:
        """The file in which `hf auth login` keeps the user's token."""
        return (self._named("HF_TOKEN_PATH") or [self._hugging_face_home() / "token"])[0]

    def _hugging_face_home(self) -> Path:
        named = self._named("HF_HOME") or [path / "huggingface" for path in self._named("XDG_CACHE_HOME")]
        return (named or [self.home / ".cache" / "huggingface"])[0]

    def _named(self, variable: str) -> list[Path]:
        value = self.environment.get(variable)
        return [Path(value).expanduser()] if value else []


def _downloads_folder(settings: Path) -> Path | None:
    """The folder that LM Studio's settings name; None without one."""
    try:
        value = read_json(settings)
    except UnreadableError:  # they only name one more place to look in
        return None
    folder = value.get("downloadsFolder") if isinstance(value, dict) else None
    return Path(folder) if isinstance(folder, str) and folder and "\0" not in folder else None


def _present(folders: list[Path]) -> list[Path]:
    """Those that are there, each once, however it is reached."""
    found: dict[str, Path] = {}
    for folder in folders:
        if os.path.isdir(folder):
            found.setdefault(os.path.realpath(folder), folder)
    return list(found.values())


def read_json(path: Path) -> Any:
    """A small JSON file of another program. Raises UnreadableError."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableError("is not an ordinary file")
        if found.st_size > MAX_JSON_BYTES:
            raise UnreadableError(f"is larger than {MAX_JSON_BYTES >> 10} KiB")
        return json.loads(path.read_bytes())
    except OSError as error:
        raise UnreadableError(f"cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableError("is not JSON") from error


def inside(path: Path, root: Path) -> bool:
    """Whether a file, links followed, is still in `root`."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def files_below(root: Path) -> Iterator[Path]:
    """The files of a folder in order, at most MAX_FILES, MAX_DEPTH folders deep; links to folders are passed over."""
    left = MAX_FILES
    depth = len(root.parts)
    for parent, folders, names in os.walk(root):
        folders[:] = sorted(folders) if len(Path(parent).parts) - depth < MAX_DEPTH else []
        for name in sorted(names)[:left]:
            yield Path(parent, name)
        left -= len(names)
        if left <= 0:
            return

"""What Pinfill wrote into the files of agents, in its own folder: enough to take it back, and no key."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from pinfill_service.agents.agent import AgentError, Format
from pinfill_service.agents.config_file import PRIVATE, Content, write

LOCK_SECONDS = 10.0


class _Schema(BaseModel):
    model_config = ConfigDict(frozen=True)


class Change(_Schema):
    """One value. `before` is its source before, None if there was none; `written` is a digest of what replaced it.

    `depth`: how many of the mappings on the way to it were there before.
    """

    path: tuple[str, ...]
    before: str | None
    written: str
    depth: int


class ChangedFile(_Schema):
    """One file. `backup` is a file name in the record's folder, None where there was no file.

    `before_mode` are the permissions it had. `whole` is the SHA-256 of what was written while nobody else changed the
    file since the backup, else None. `folders` were made for it, the innermost first.
    """

    path: Path
    format: Format
    backup: str | None
    before_mode: int
    whole: str | None
    folders: tuple[Path, ...]
    changes: tuple[Change, ...]


class Connection(_Schema):
    """One connected agent, and what it was told."""

    url: str
    model: str
    context_length: int
    files: tuple[ChangedFile, ...]


class _Book(_Schema):
    version: int = 1
    agents: dict[str, Connection] = {}


class Record:
    """The connections of one Pinfill folder. Changes are made inside `locked`."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "agents"
        self._path = self.folder / "connections.json"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes from changing anything. Raises AgentError."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.folder / "lock", mode=PRIVATE, timeout=LOCK_SECONDS):
                yield
        except Timeout:
            raise AgentError("Another Pinfill is changing the settings of agents. Try again when it is done.") from None
        except OSError as error:
            raise AgentError(f"{self.folder} cannot be used: {error.strerror or error}.") from error

    def all(self) -> dict[str, Connection]:
        """By the agent's name. Raises AgentError for a file that cannot be understood."""
        try:
            return dict(_Book.model_validate_json(self._path.read_bytes()).agents)
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            raise AgentError(f"{self._path} cannot be read. Move it away to connect agents anew.") from error

    def put(self, name: str, connection: Connection | None) -> None:
        """Remembers a connection, or forgets it."""
        agents = self.all()
        agents.pop(name, None)
        if connection is not None:
            agents[name] = connection
        book = json.dumps(_Book(agents=agents).model_dump(mode="json"), indent=2)
        write(self._path, Content(book.encode()))

    def keep(self, name: str, data: bytes) -> str:
        """Keeps a backup, readable by the user alone; returns its name."""
        write(self.folder / name, Content(data))
        return name

    def backup(self, name: str) -> bytes | None:
        """A backup; None when it is gone."""
        try:
            return (self.folder / os.path.basename(name)).read_bytes()
        except OSError:
            return None

    def discard(self, name: str) -> None:
        (self.folder / os.path.basename(name)).unlink(missing_ok=True)

"""Everything that Pinfill keeps for a user: where it is, how much it is, and its end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pinfill_app.autostart import autostart
from pinfill_app.autostart.xdg import DesktopFile
from pinfill_service.agents import LOCAL_AGENTS
from pinfill_service.agents.agent import LocalAgent
from pinfill_service.agents.connections import Connections
from pinfill_service.keys import API_KEY
from pinfill_service.models.hub_token import HUB_TOKEN
from pinfill_service.secret_store import KEYRING_SERVICE, KeyringLockedError, NoKeyringError, SecretError, SecretStore
from pinfill_service.state_lock import APPLICATION_LOCK, HOLDER, LOCK
from pinfill_service.state_version import FILE as VERSION_FILE

MODELS, _AT_LOG_IN = "models", "start at log-in"
# By what people call it: patterns of names in the state folder. What is not here was put there by somebody else.
_IN_THE_FOLDER = {
    MODELS: ("models",),
    "cached prefixes of pins and sessions": ("kv",),
    "pins, requests and savings": ("ledger.sqlite3*",),
    "settings": ("settings.toml*", "app.ini*"),
    "key": (f"{API_KEY.name}*",),
    HUB_TOKEN.title: (f"{HUB_TOKEN.name}*",),
    "compiled models of NPUs": ("providers",),
    "settings of agents as they were": ("agents",),
    "logs": ("service.log*",),
    "backups of older versions": ("backup-of-version-*",),
    "its own notes": (f"{VERSION_FILE}*", HOLDER, "service.new", APPLICATION_LOCK),
}


@dataclass(frozen=True, slots=True)
class Kept:
    """Something of one kind. `size` is in bytes, with everything in folders; what a link points to is not counted.

    `remove` raises OSError, AgentError, or SecretError. It deletes a link and never follows it.
    """

    kind: str
    where: tuple[str, ...]
    size: int
    remove: Callable[[], None] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Unreached:
    """A secret that may be in the keyring, which did not say. `reason` is a sentence; `locked`: it can be unlocked."""

    kind: str
    where: str
    reason: str
    locked: bool


def kept(home: Path) -> tuple[list[Kept], list[Unreached]]:
    """What there is of this user's: in agents, in the state folder, at log-in, in the keyring. It goes in this order.

    Behind it, what may be there beside. Raises AgentError.
    """
    found = _connections(home)
    files = {kind: _matching(home, patterns) for kind, patterns in _IN_THE_FOLDER.items()}
    found += [_files_kept(kind, paths) for kind, paths in files.items() if paths]
    found += _autostart()
    secrets = [*_in_keyring("key", API_KEY), *_in_keyring(HUB_TOKEN.title, HUB_TOKEN)]
    found += [each for each in secrets if isinstance(each, Kept)]
    return found, [each for each in secrets if isinstance(each, Unreached)]


def foreign(home: Path) -> list[Path]:
    """What is in a state folder and was not written by Pinfill."""
    ours = {path for patterns in _IN_THE_FOLDER.values() for path in _matching(home, patterns)}
    return sorted(path for path in home.glob("*") if path not in ours and path.name != LOCK)


def remove_folder(home: Path) -> None:
    """Deletes the state folder itself, unless something is left in it. Nobody may hold its lock any more."""
    (home / LOCK).unlink(missing_ok=True)
    if not any(home.iterdir()):
        home.rmdir()


def _matching(home: Path, patterns: Iterable[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in home.glob(pattern)})


def _files_kept(kind: str, paths: list[Path]) -> Kept:
    size = sum(each.lstat().st_size for path in paths for each in _files(path))
    return Kept(kind, tuple(map(str, paths)), size, partial(_delete, paths))


def _files(path: Path) -> Iterator[Path]:
    if path.is_symlink() or not path.is_dir():
        yield path
        return
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in names)


def _delete(paths: list[Path]) -> None:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _connections(home: Path) -> list[Kept]:
    """First of all: undoing them reads what the folder holds. Raises AgentError."""
    connections = Connections(home, os.environ)
    connected = [(agent, connections.connection(agent)) for agent in LOCAL_AGENTS]
    return [
        Kept(
            f"settings in {agent.title}",
            tuple(str(file.path) for file in connection.files),
            0,
            partial(_undo, connections, agent),
        )
        for agent, connection in connected
        if connection is not None
    ]


def _undo(connections: Connections, agent: LocalAgent) -> None:
    connections.apply(connections.plan_undo(agent))


def _autostart() -> list[Kept]:
    entry = autostart()
    if isinstance(entry, DesktopFile):
        return [_files_kept(_AT_LOG_IN, [entry.path])] if entry.path.exists() else []
    return [Kept(_AT_LOG_IN, ("the registry's Run key",), 0, entry.turn_off)] if entry.is_on() else []


def _in_keyring(kind: str, secret: SecretStore) -> Iterator[Kept | Unreached]:
    title, where = f"{kind} in the system keyring", f"{KEYRING_SERVICE}, {secret.name}"
    try:
        if secret.in_keyring() is not None:
            yield Kept(title, (where,), 0, partial(_forget, secret))
    except NoKeyringError:
        return
    except SecretError as error:
        yield Unreached(title, where, str(error), isinstance(error, KeyringLockedError))


def _forget(secret: SecretStore) -> None:
    secret.forget_keyring()

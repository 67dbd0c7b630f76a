"""The state folder says which version of its layout it has, so that no Pinfill misreads what another one wrote."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

VERSION = 1
FILE = "state.json"
# What cannot be made again.
_BACKED_UP = ("ledger.sqlite3", "ledger.sqlite3-wal", "settings.toml", "agents/connections.json", FILE)

# From a version to the next one. A folder without FILE was written by version 1, which did not write it yet.
Migration = Callable[[Path], None]
MIGRATIONS: Mapping[int, Migration] = {}


class StateVersionError(Exception):
    """The folder was written by another version and cannot be used; the message says what to do."""


def bring_up_to_date(
    home: Path, *, version: int = VERSION, migrations: Mapping[int, Migration] = MIGRATIONS
) -> Path | None:
    """Makes a state folder one of this version; returns the backup that was made first, None when nothing changed.

    The caller holds the folder's lock. A step that fails is undone from the backup. KV files carry versions of their
    own and are made again where they do not fit; models are not touched. Raises StateVersionError and OSError.
    """
    found = _read(home)
    if found > version:
        raise StateVersionError(
            f"{home} was written by a newer Pinfill (its version is {found}, this one knows {version}). "
            "Update Pinfill, or set PINFILL_HOME to another folder."
        )
    backup = None
    if found < version:
        backup = _back_up(home, found)
        try:
            for step in range(found, version):
                migrations[step](home)
        except Exception as error:
            _restore(backup, home)
            raise StateVersionError(
                f"{home} could not be brought from version {found} to {version} ({error}). It is as it was before; "
                f"{backup.name} in it holds a copy."
            ) from error
    if found != version or not (home / FILE).exists():
        _write(home, version)
    return backup


def _read(home: Path) -> int:
    """Raises StateVersionError for a file that is no such file: guessing could lose pins."""
    try:
        text = (home / FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return 1
    try:
        version = json.loads(text)["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        version = None
    if type(version) is not int or version < 1:
        raise StateVersionError(f"{home / FILE} is damaged. If this folder is of this Pinfill, delete that file.")
    return version


def _write(home: Path, version: int) -> None:
    unfinished = home / f"{FILE}.new"
    unfinished.write_text(json.dumps({"version": version}), encoding="utf-8")
    unfinished.replace(home / FILE)


def _back_up(home: Path, version: int) -> Path:
    folder = home / f"backup-of-version-{version}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder.mkdir(mode=0o700)
    _copy(home, folder)
    return folder


def _restore(backup: Path, home: Path) -> None:
    for name in _BACKED_UP:
        (home / name).unlink(missing_ok=True)
    _copy(backup, home)


def _copy(source: Path, target: Path) -> None:
    for name in _BACKED_UP:
        if (source / name).exists():
            (target / name).parent.mkdir(mode=0o700, exist_ok=True)
            shutil.copy2(source / name, target / name)

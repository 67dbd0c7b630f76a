"""One service at a time on a state folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from pinfill_service.state_version import bring_up_to_date

LOCK = "service.lock"
HOLDER = "service.json"
APPLICATION_LOCK = "app.lock"  # held by the application, which keeps others of its kind away


class StateFolderBusyError(Exception):
    """Another service works on the folder; the message names it."""


@contextmanager
def state_lock(home: Path, port: int) -> Iterator[None]:
    """Holds `home` for this process, which serves on `port`, for others to read from HOLDER.

    The lock is the operating system's: it ends with the process, however that ends, so that a file left behind by a
    dead one stops nobody. A folder of an older version is brought up to date first.

    Raises StateFolderBusyError, StateVersionError and OSError.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with nobody_else(home):
        holder = home / HOLDER
        try:
            bring_up_to_date(home)
            _write(holder, {"pid": os.getpid(), "port": port})
            yield
        finally:
            holder.unlink(missing_ok=True)


@contextmanager
def nobody_else(home: Path) -> Iterator[None]:
    """Keeps services away from a folder that exists, of whatever version it is. Raises as state_lock does."""
    lock = FileLock(home / LOCK, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StateFolderBusyError(_sentence(home)) from None
    try:
        yield
    finally:
        lock.release()


def holder(home: Path) -> tuple[int, int] | None:
    """(process id, port) of the service that said it works on `home`; None when none did."""
    try:
        value = json.loads((home / HOLDER).read_text(encoding="utf-8"))
        return int(value["pid"]), int(value["port"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sentence(home: Path) -> str:
    found = holder(home)
    who = "Another Pinfill service" if found is None else f"Pinfill (process {found[0]}, port {found[1]})"
    return f"{who} already works on {home}. Use that one, stop it, or set PINFILL_HOME to another folder."


def _write(path: Path, value: dict[str, int]) -> None:
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(value, file)
    unfinished.replace(path)

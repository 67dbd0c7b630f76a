"""What is built: a version, the one time that all of its files carry, and how a tree is brought into that shape."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION_FILE = "pinfill_service/__init__.py"
_VERSION = re.compile(r'(?<=^__version__ = ")[^"]+', re.MULTILINE)
_PLAIN = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?")  # the application compares it with what is published
_GIB = 1 << 30


class PackageError(Exception):
    """A package cannot be built. The message says why, and what to do next."""


@dataclass(frozen=True, slots=True)
class Release:
    """`epoch` is in seconds since 1970, `SOURCE_DATE_EPOCH` as reproducible-builds.org defines it.

    `quick`: compressed little, in a tenth of the time, for trying a package out.
    """

    version: str
    epoch: int
    quick: bool = False


def release(version: str | None = None, *, quick: bool = False) -> Release:
    """Of this checkout: its version, unless another one is asked for, and the time of its last commit.

    Raises PackageError.
    """
    source = (ROOT / "service" / VERSION_FILE).read_text(encoding="utf-8")
    own = _VERSION.search(source)
    if own is None:
        raise PackageError(f"service/{VERSION_FILE} names no version.")
    chosen = version or own.group()
    if not _PLAIN.fullmatch(chosen):
        raise PackageError(f"{chosen!r} is no version: write it as 1.2.3.")
    return Release(chosen, _epoch(), quick)


def set_version(folder: Path, version: str) -> None:
    """Makes a copy of the code say the version it is packaged as."""
    file = folder / VERSION_FILE
    file.write_text(_VERSION.sub(version, file.read_text(encoding="utf-8")), encoding="utf-8")


def homepage() -> str:
    """Where the project is, as pyproject.toml says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["urls"]["Homepage"])


def _epoch() -> int:
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is not None:
        if not given.isdigit():
            raise PackageError("SOURCE_DATE_EPOCH must be a number of seconds since 1970.")
        return int(given)
    try:
        shown = run(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"])
    except PackageError as error:
        raise PackageError(f"{error} Outside a git checkout, set SOURCE_DATE_EPOCH to a time in seconds.") from error
    return int(shown)


def run(command: Sequence[str], *, env: dict[str, str] | None = None) -> str:
    """Runs a program and returns what it printed. Raises PackageError with its own words when it fails."""
    if shutil.which(command[0]) is None:
        raise PackageError(f"{command[0]} is not on this machine. Install it, then type the same command again.")
    null = subprocess.DEVNULL
    done = subprocess.run(command, env=env, stdin=null, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise PackageError(f"{Path(command[0]).name} failed:\n{(done.stderr + done.stdout).strip()}")
    return done.stdout


def check_space(folder: Path, gib: int) -> None:
    """Raises PackageError when the disk cannot take so many GiB."""
    free = shutil.disk_usage(folder).free
    if free < gib * _GIB:
        raise PackageError(f"Building needs {gib} GiB of disk, and {folder} has {free / _GIB:.1f}. Free some.")


def normalise(tree: Path, epoch: int, executables: Sequence[str] = ()) -> None:
    """One time for all, and modes that depend on nobody's umask; `executables` are paths in the tree."""
    run_by_people = {tree / name for name in executables}
    for path in sorted(tree.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path in run_by_people else 0o644)
        os.utime(path, (epoch, epoch), follow_symlinks=False)
    tree.chmod(0o755)
    os.utime(tree, (epoch, epoch))

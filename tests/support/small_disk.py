"""A disk that is small, can be full and can be read-only: a file system in memory, mounted for a test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_FILLER = "filler"


class SmallDisk:
    """A mounted folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """Leaves no room at all."""
        with (self.folder / _FILLER).open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:  # that was the last page
                return

    def empty(self) -> None:
        (self.folder / _FILLER).unlink()

    def set_read_only(self, on: bool) -> None:
        _mount("-o", f"remount,{'ro' if on else 'rw'}", str(self.folder))


@contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[SmallDisk]:
    """Mounts one at a folder; skips the test where that is not allowed."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not sys.platform.startswith("linux"):
        pytest.skip("mounting a file system in memory is Linux's")
    try:
        _mount("-t", "tmpfs", "-o", f"size={kib}k,mode=700", "tmpfs", str(folder))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"mounting is not allowed here: {error}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)

"""Packages of this checkout, built as people are told to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def build(folder: Path, *arguments: str) -> Path:
    """The folder with the packages that were built."""
    command = [sys.executable, "installers/dev.py", "package", "--quick", "--output", str(folder), *arguments]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def the_deb(folder: Path) -> Path:
    (found,) = folder.glob("*.deb")
    return found

"""Where things are in a checkout, what it needs of Python and the disk, and how programs are run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
PIP = [str(PYTHON), "-m", "pip"]
LOCK = ROOT / "installers" / "locks" / "dev.txt"
OLDEST, NEWEST = (3, 11), (3, 13)
DISK_MIB = 1536  # .venv 730 MiB, the model 100 MiB as downloaded and twice that converted, temporary files
STEPS = 5


class SetupError(Exception):
    """Something is missing. The message says what, and what to do next."""


def check_python(version: tuple[int, int]) -> None:
    """Refuses a Python that the locked dependencies do not support."""
    if OLDEST <= version <= NEWEST:
        return
    others = [f"python3.{minor}" for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    found = next((name for name in others if shutil.which(name)), None)
    advice = f"Use {found} instead of python3." if found else "Install one of them, and use it."
    raise SetupError(
        f"Pinfill needs Python 3.{OLDEST[1]} to 3.{NEWEST[1]}; this is {version[0]}.{version[1]}. {advice}"
    )


def check_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free >> 20
    if free < DISK_MIB:
        raise SetupError(
            f"The set-up needs {DISK_MIB:,} MiB of disk and {folder} has {free:,}. Free some, then try again."
        )


def step(number: int, text: str) -> None:
    print(f"[{number}/{STEPS}] {text}", flush=True)


def run_quietly(command: Sequence[str], env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs without input; stdout of the result holds both streams."""
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.run(
        command, env=env, stdin=null, stdout=pipe, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )


def replace_process(command: Sequence[str]) -> NoReturn:
    """Becomes the command, so that its exit code and Ctrl-C are its own."""
    sys.stdout.flush()
    if os.name == "nt":  # exec on Windows gives the console back before the program ends
        sys.exit(subprocess.call(command))
    os.execv(command[0], list(command))

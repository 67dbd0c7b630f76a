"""The lock files, and the tests on the oldest libraries, with uv."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from installers.checkout import base

PAYLOAD_LOCK, PAYLOAD_PINS = (base.ROOT / "installers" / "locks" / f"payload.{suffix}" for suffix in ("txt", "in"))
OLDEST_LOCK, OLDEST_PINS = (base.ROOT / "installers" / "locks" / f"oldest.{suffix}" for suffix in ("txt", "in"))

UV_COMPILE = (
    *("pip", "compile", "pyproject.toml", "--extra", "cpu", "--extra", "desktop", "--generate-hashes", "--quiet"),
    *("--custom-compile-command", "python3 installers/dev.py lock"),
)
DEVELOPMENT = ("--group", "dev", "--group", "build")
EVERYWHERE = ("--universal", "--python-version", "3.11")
# By lock file: what it is for. The packages get the very versions that are tested. The oldest supported onnxruntime and
# numpy are those of AMD's wheels for NPUs, which are for Python 3.12.
OLDEST_PYTHON = "3.12"
LOCKED = {
    base.LOCK: (*EVERYWHERE, *DEVELOPMENT),
    PAYLOAD_LOCK: (str(PAYLOAD_PINS), *EVERYWHERE, "--no-annotate", "--constraints", str(base.LOCK)),
    OLDEST_LOCK: ("--python-version", OLDEST_PYTHON, *DEVELOPMENT, "--no-annotate", "--constraints", str(OLDEST_PINS)),
}
OLDEST_VENV = base.ROOT / ".venv-oldest"
# onnxruntime 1.23 has neither the operator that LFM2 needs nor KV of 8 bits, and cannot optimise the third one's graph.
OLDEST_LACKS = "not oga-lfm2 and not int8 and not test_half_precision_kv"
OLDEST_TESTS = ("engine", "layout", "kv", "cache", "row", "session", "worker", "pins", "persistence", "providers")


def find_uv() -> str:
    """The path of uv: in `.venv` or PATH. Raises SetupError that says how to get it."""
    beside = base.SCRIPTS / ("uv.exe" if os.name == "nt" else "uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        raise base.SetupError("uv is needed for this. Get it with: .venv/bin/python -m pip install uv")
    return uv


def run_uv(*arguments: str) -> None:
    if subprocess.run([find_uv(), *arguments], stdout=subprocess.DEVNULL, check=False).returncode:
        raise base.SetupError(f"uv {' '.join(arguments[:2])} failed; its own words are above.")


def write_locks(extra: Sequence[str]) -> None:
    """Resolves pyproject.toml again, keeping versions that still fit; `-- --upgrade` takes the newest."""
    base.LOCK.parent.mkdir(parents=True, exist_ok=True)
    for lock, wanted in LOCKED.items():
        run_uv(*UV_COMPILE, *wanted, "--output-file", str(lock), *extra)
        print(f"{lock.name} is written.")


def test_oldest(extra: Sequence[str]) -> None:
    """Makes `.venv-oldest` what its lock says, and becomes pytest on the tests that depend on the two libraries."""
    python = OLDEST_VENV / base.SCRIPTS.name / base.PYTHON.name
    if not python.exists():
        run_uv("venv", "--quiet", "--no-python-downloads", "--python", OLDEST_PYTHON, str(OLDEST_VENV))
    run_uv("pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(OLDEST_LOCK))
    tests = sorted(
        str(path) for name in OLDEST_TESTS for path in (base.ROOT / "tests" / "unit").glob(f"test_*{name}*.py")
    )
    os.environ["PYTHONPATH"] = os.pathsep.join([str(base.ROOT / "service"), str(base.ROOT / "app")])
    base.replace_process([str(python), "-m", "pytest", "-k", OLDEST_LACKS, *(extra or dict.fromkeys(tests))])

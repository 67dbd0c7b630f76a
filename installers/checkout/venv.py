"""`.venv` and what is in it. Stamps say what was installed, and are written only after success."""

from __future__ import annotations

import collections
import hashlib
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from installers.checkout import base


def venv_works() -> bool:
    """True when `.venv` runs the Python that runs this file, and has pip."""
    if not base.PYTHON.exists():
        return False
    ask = [str(base.PYTHON), "-c", "import pip, sys; print(*sys.version_info[:2])"]
    done = base.run_quietly(ask)
    return done.returncode == 0 and done.stdout.split() == [str(part) for part in sys.version_info[:2]]


def make_venv() -> None:
    """Step 2. A `.venv` of another Python, or a broken one, is made again."""
    if venv_works():
        base.step(2, ".venv: there")
        return
    base.step(2, f".venv: creating, with Python {platform.python_version()}")
    python = getattr(sys, "_base_executable", None) or sys.executable  # the .venv's own cannot clear it
    done = base.run_quietly([python, "-m", "venv", "--clear", str(base.VENV)])
    if done.returncode:
        raise base.SetupError(f"python -m venv failed:\n{done.stdout}".rstrip())


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def locked_state() -> str:
    """What decides whether the dependencies in `.venv` are the locked ones."""
    return f"{digest(base.LOCK)} {platform.python_version()}"


def project_state() -> str:
    """What decides whether the editable install still fits: names of commands, and where the checkout is."""
    return f"{digest(base.ROOT / 'pyproject.toml')} {platform.python_version()} {base.ROOT}"


def matches(stamp: Path, state: str) -> bool:
    return stamp.exists() and stamp.read_text(encoding="utf-8") == state


def explain_pip(errors: str) -> str:
    """One sentence for what pip wrote to stderr, with the next step."""
    if "No space left" in errors or "Errno 28" in errors:
        return "The disk is full. Free some space, then type the same command again."
    if "DO NOT MATCH THE HASHES" in errors:
        return "A downloaded package is not the one in the lock file. Check the mirror that pip is set up to use."
    unreachable = ("connection broken by", "Failed to establish", "Max retries exceeded", "ProxyError")
    if any(sign in errors for sign in unreachable):
        return "The package index cannot be reached. Check the network or the proxy, then type the same command again."
    return "pip failed; its own words are above. Mend that, then type the same command again."


def pip_install(*arguments: str) -> None:
    """Runs pip in `.venv`, with its progress where somebody watches; raises SetupError when it fails."""
    command = [*base.PIP, "install", "--disable-pip-version-check", "--no-input", "--no-deps", *arguments]
    if not sys.stdout.isatty():
        command.append("--quiet")
    last: collections.deque[str] = collections.deque(maxlen=200)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as pip:
        assert pip.stderr is not None
        for line in pip.stderr:
            last.append(line)
            sys.stderr.write(line)
    if pip.returncode:
        raise base.SetupError(explain_pip("".join(last)))


def stamped_install(number: int, title: str, stamp: Path, state: str, arguments: Sequence[str]) -> None:
    """Installs unless the stamp says that it was done; a stamp is written only after success."""
    if matches(stamp, state):
        base.step(number, f"{title}: up to date")
        return
    base.step(number, f"{title}: installing")
    stamp.unlink(missing_ok=True)
    pip_install(*arguments)
    stamp.write_text(state, encoding="utf-8")


def install_everything() -> None:
    """Steps 3 and 4: what the lock file names, then the checkout itself, editable."""
    locked, project = base.VENV / "pinfill-locked.stamp", base.VENV / "pinfill-project.stamp"
    stamped_install(3, "Dependencies", locked, locked_state(), ["--require-hashes", "-r", str(base.LOCK)])
    stamped_install(4, "Pinfill", project, project_state(), ["--no-build-isolation", "-e", str(base.ROOT)])


def pull_model() -> None:
    """Step 5: the default model. Returns at once when it is there."""
    base.step(5, "Default model")
    if subprocess.run([str(base.SCRIPTS / "pinfill"), "models", "pull"], check=False).returncode:
        raise base.SetupError(
            "The default model is not there; the reason is above. Type the same command to try again."
        )

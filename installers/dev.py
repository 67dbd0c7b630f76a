#!/usr/bin/env python3
"""Sets a checkout up and runs it, with nothing installed but Python.

    python3 installers/dev.py run [-- ARGS]     everything it needs, then Pinfill
    python3 installers/dev.py test [-- ARGS]    everything it needs, then the tests
    python3 installers/dev.py setup             only what the two need
    python3 installers/dev.py lock [-- ARGS]    writes the lock files anew (needs uv)
    python3 installers/dev.py package [OPTIONS] builds .deb, tar.gz and Setup.exe (needs uv; --help lists the options)
    python3 installers/dev.py oldest [-- ARGS]  the service's tests on the oldest onnxruntime and numpy (needs uv)
    python3 installers/dev.py screenshots [--output DIR]    everything it needs, then pictures of every window
    python3 installers/dev.py translations      brings the translations up to date with the code, and lists what lacks

Every step is skipped when it was done before. Nothing outside `.venv`, Debian's packages and Pinfill's own folder is
touched; `package` writes to `dist`, and `oldest` to `.venv-oldest`. The file parses on Python 3.8 so that an old Python
is told what is wrong instead of showing a syntax error.
"""

from __future__ import annotations

import argparse
import collections
import errno
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
PIP = [str(PYTHON), "-m", "pip"]
LOCK = ROOT / "installers" / "locks" / "dev.txt"
PAYLOAD_LOCK, PAYLOAD_PINS = (ROOT / "installers" / "locks" / f"payload.{suffix}" for suffix in ("txt", "in"))
OLDEST_LOCK, OLDEST_PINS = (ROOT / "installers" / "locks" / f"oldest.{suffix}" for suffix in ("txt", "in"))
QT_PACKAGES = ROOT / "installers" / "locks" / "qt-debian.txt"
OLDEST, NEWEST = (3, 11), (3, 13)
DISK_MIB = 1536  # .venv 730 MiB, the model 100 MiB as downloaded and twice that converted, temporary files
STEPS = 5
SCRIPTS_BESIDE = ("screenshots", "translations")  # of this folder; they run in .venv

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
    LOCK: (*EVERYWHERE, *DEVELOPMENT),
    PAYLOAD_LOCK: (str(PAYLOAD_PINS), *EVERYWHERE, "--no-annotate", "--constraints", str(LOCK)),
    OLDEST_LOCK: ("--python-version", OLDEST_PYTHON, *DEVELOPMENT, "--no-annotate", "--constraints", str(OLDEST_PINS)),
}
OLDEST_VENV = ROOT / ".venv-oldest"
# onnxruntime 1.23 has neither the operator that LFM2 needs nor KV of 8 bits, and cannot optimise the third one's graph.
OLDEST_LACKS = "not oga-lfm2 and not int8 and not test_half_precision_kv"
OLDEST_TESTS = ("engine", "layout", "kv", "cache", "row", "session", "worker", "pins", "persistence", "providers")


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


# Debian packages


def missing_packages(wanted: Iterable[str]) -> list[str]:
    """The packages that dpkg does not hold as installed. `t64` is how Debian 13 renamed some libraries."""
    names = list(wanted)
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names, *(f"{name}t64" for name in names)]
    listing = run_quietly(query).stdout
    installed = {line.split()[0] for line in listing.splitlines() if line.endswith(" installed")}
    return [name for name in names if name not in installed and f"{name}t64" not in installed]


def may_use_sudo() -> bool:
    """True where sudo asks for no password."""
    if not shutil.which("sudo"):
        return False
    return run_quietly(["sudo", "-n", "true"]).returncode == 0


def apt_commands(packages: Sequence[str], prefix: Sequence[str] = ()) -> list[list[str]]:
    """The two apt-get commands that install the packages, each behind the prefix."""
    waiting = ["-o", "DPkg::Lock::Timeout=120"]
    install = ["apt-get", *waiting, "install", "-y", "--no-install-recommends", *packages]
    return [[*prefix, "apt-get", "update"], [*prefix, *install]]


def apt_line(packages: Sequence[str]) -> str:
    """What somebody without rights has to type, or to have typed by an administrator."""
    if shutil.which("sudo"):
        return " && ".join(" ".join(command) for command in apt_commands(packages, ["sudo"]))
    return "su -c '" + " && ".join(" ".join(command) for command in apt_commands(packages)) + "'"


def install_packages(packages: Sequence[str]) -> None:
    """Installs Debian packages as root or with sudo; raises SetupError with the line to type when neither works."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not root and not may_use_sudo():
        raise SetupError(
            f"An administrator is needed. Type this line, then the same command again:\n{apt_line(packages)}"
        )
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in apt_commands(packages, [] if root else ["sudo", "-n"]):
        done = run_quietly(command, env=environment)
        if done.returncode:
            raise SetupError(f"apt-get failed:\n{done.stdout}Mend that, then type this line:\n{apt_line(packages)}")


def qt_packages() -> list[str]:
    lines = QT_PACKAGES.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def debian_packages() -> None:
    """Step 1: Qt's libraries, and Python's own venv support where Debian left it out."""
    needs_venv = not venv_works() and not (importlib.util.find_spec("ensurepip") and importlib.util.find_spec("venv"))
    venv_package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    if not (shutil.which("dpkg-query") and shutil.which("apt-get")):
        if needs_venv:
            raise SetupError("This Python has no venv and ensurepip. Install them, then type the same command again.")
        if sys.platform.startswith("linux"):
            step(1, "Not Debian: install what Qt needs yourself. By Debian's names: " + " ".join(qt_packages()))
        return
    if needs_venv and not sys.base_prefix.startswith("/usr"):
        raise SetupError(f"{sys.executable} has no ensurepip. Use Debian's own python3, or a Python that is complete.")
    missing = missing_packages([*qt_packages(), venv_package] if needs_venv else qt_packages())
    step(1, "Debian packages: " + (f"installing {' '.join(missing)}" if missing else "all there"))
    if missing:
        install_packages(missing)


# .venv and what is in it


def venv_works() -> bool:
    """True when `.venv` runs the Python that runs this file, and has pip."""
    if not PYTHON.exists():
        return False
    ask = [str(PYTHON), "-c", "import pip, sys; print(*sys.version_info[:2])"]
    done = run_quietly(ask)
    return done.returncode == 0 and done.stdout.split() == [str(part) for part in sys.version_info[:2]]


def make_venv() -> None:
    """Step 2. A `.venv` of another Python, or a broken one, is made again."""
    if venv_works():
        step(2, ".venv: there")
        return
    step(2, f".venv: creating, with Python {platform.python_version()}")
    base = getattr(sys, "_base_executable", None) or sys.executable  # the .venv's own python cannot clear it
    done = run_quietly([base, "-m", "venv", "--clear", str(VENV)])
    if done.returncode:
        raise SetupError(f"python -m venv failed:\n{done.stdout}".rstrip())


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def locked_state() -> str:
    """What decides whether the dependencies in `.venv` are the locked ones."""
    return f"{digest(LOCK)} {platform.python_version()}"


def project_state() -> str:
    """What decides whether the editable install still fits: names of commands, and where the checkout is."""
    return f"{digest(ROOT / 'pyproject.toml')} {platform.python_version()} {ROOT}"


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
    command = [*PIP, "install", "--disable-pip-version-check", "--no-input", "--no-deps", *arguments]
    if not sys.stdout.isatty():
        command.append("--quiet")
    last: collections.deque[str] = collections.deque(maxlen=200)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as pip:
        assert pip.stderr is not None
        for line in pip.stderr:
            last.append(line)
            sys.stderr.write(line)
    if pip.returncode:
        raise SetupError(explain_pip("".join(last)))


def stamped_install(number: int, title: str, stamp: Path, state: str, arguments: Sequence[str]) -> None:
    """Installs unless the stamp says that it was done; a stamp is written only after success."""
    if matches(stamp, state):
        step(number, f"{title}: up to date")
        return
    step(number, f"{title}: installing")
    stamp.unlink(missing_ok=True)
    pip_install(*arguments)
    stamp.write_text(state, encoding="utf-8")


def install_everything() -> None:
    """Steps 3 and 4: what the lock file names, then the checkout itself, editable."""
    locked, project = VENV / "pinfill-locked.stamp", VENV / "pinfill-project.stamp"
    stamped_install(3, "Dependencies", locked, locked_state(), ["--require-hashes", "-r", str(LOCK)])
    stamped_install(4, "Pinfill", project, project_state(), ["--no-build-isolation", "-e", str(ROOT)])


def pull_model() -> None:
    """Step 5: the default model. Returns at once when it is there."""
    step(5, "Default model")
    if subprocess.run([str(SCRIPTS / "pinfill"), "models", "pull"], check=False).returncode:
        raise SetupError("The default model is not there; the reason is above. Type the same command to try again.")


# Commands


def setup() -> None:
    check_python(sys.version_info[:2])
    if not matches(VENV / "pinfill-locked.stamp", locked_state()):
        check_space(ROOT)
    debian_packages()
    make_venv()
    install_everything()
    pull_model()


def replace_process(command: Sequence[str]) -> NoReturn:
    """Becomes the command, so that its exit code and Ctrl-C are its own."""
    sys.stdout.flush()
    if os.name == "nt":  # exec on Windows gives the console back before the program ends
        sys.exit(subprocess.call(command))
    os.execv(command[0], list(command))


def find_uv() -> str:
    """The path of uv: in `.venv` or PATH. Raises SetupError that says how to get it."""
    beside = SCRIPTS / ("uv.exe" if os.name == "nt" else "uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        raise SetupError("uv is needed for this. Get it with: .venv/bin/python -m pip install uv")
    return uv


def run_uv(*arguments: str) -> None:
    if subprocess.run([find_uv(), *arguments], stdout=subprocess.DEVNULL, check=False).returncode:
        raise SetupError(f"uv {' '.join(arguments[:2])} failed; its own words are above.")


def write_locks(extra: Sequence[str]) -> None:
    """Resolves pyproject.toml again, keeping versions that still fit; `-- --upgrade` takes the newest."""
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    for lock, wanted in LOCKED.items():
        run_uv(*UV_COMPILE, *wanted, "--output-file", str(lock), *extra)
        print(f"{lock.name} is written.")


def test_oldest(extra: Sequence[str]) -> None:
    """Makes `.venv-oldest` what its lock says, and becomes pytest on the tests that depend on the two libraries."""
    python = OLDEST_VENV / SCRIPTS.name / PYTHON.name
    if not python.exists():
        run_uv("venv", "--quiet", "--no-python-downloads", "--python", OLDEST_PYTHON, str(OLDEST_VENV))
    run_uv("pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(OLDEST_LOCK))
    tests = sorted(str(path) for name in OLDEST_TESTS for path in (ROOT / "tests" / "unit").glob(f"test_*{name}*.py"))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "service"), str(ROOT / "app")])
    replace_process([str(python), "-m", "pytest", "-k", OLDEST_LACKS, *(extra or dict.fromkeys(tests))])


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is for this file, and what comes after the first `--` and is for the program it starts."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return list(arguments[:at]), list(arguments[at + 1 :])


def perform(command: str, extra: list[str]) -> None:
    if command == "lock":
        write_locks(extra)
    elif command == "package":
        check_python(sys.version_info[:2])
        replace_process([sys.executable, "-m", "installers.packages", *extra])
    elif command == "oldest":
        test_oldest(extra)
    else:
        setup()
        if command == "run":
            replace_process([str(SCRIPTS / "pinfill"), "demo", *extra])
        if command == "test":
            replace_process([str(PYTHON), "-m", "pytest", *extra])
        if command in SCRIPTS_BESIDE:
            replace_process([str(PYTHON), str(ROOT / "installers" / f"{command}.py"), *extra])


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 0 done, 1 something is missing, 130 stopped by Ctrl-C."""
    own, extra = split_arguments(arguments)
    if own[:1] == ["package"]:  # its options are its own
        own, extra = own[:1], [*own[1:], *extra]
    parser = argparse.ArgumentParser(prog="installers/dev.py", description="Sets a checkout up and runs it.")
    commands = ["run", "test", "setup", "lock", "package", "oldest", *SCRIPTS_BESIDE]
    parser.add_argument("command", choices=commands, help="arguments after -- are passed on")
    parser.add_argument("--output", metavar="DIR", help="where screenshots go")
    options = parser.parse_args(own)
    command = options.command
    if options.output is not None:
        if command != "screenshots":
            parser.error("--output is for screenshots")
        extra = ["--output", os.path.abspath(options.output), *extra]
    try:
        os.chdir(ROOT)
        perform(command, extra)
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    except OSError as error:
        full = error.errno == errno.ENOSPC
        print(f"error: {'The disk is full. Free some space and try again.' if full else error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

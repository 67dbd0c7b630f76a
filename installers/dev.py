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
touched; `package` writes to `dist`, and `oldest` to `.venv-oldest`. This file and `checkout`, which does the work,
parse on Python 3.8 so that an old Python is told what is wrong instead of showing a syntax error.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, it has only its own folder there

from installers.checkout import base, debian, locks, venv

SCRIPTS_BESIDE = ("screenshots", "translations")  # of this folder; they run in .venv


def setup() -> None:
    base.check_python(sys.version_info[:2])
    if not venv.matches(base.VENV / "pinfill-locked.stamp", venv.locked_state()):
        base.check_space(base.ROOT)
    debian.debian_packages()
    venv.make_venv()
    venv.install_everything()
    venv.pull_model()


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is for this file, and what comes after the first `--` and is for the program it starts."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return list(arguments[:at]), list(arguments[at + 1 :])


def perform(command: str, extra: list[str]) -> None:
    if command == "lock":
        locks.write_locks(extra)
    elif command == "package":
        base.check_python(sys.version_info[:2])
        base.replace_process([sys.executable, "-m", "installers.packages", *extra])
    elif command == "oldest":
        locks.test_oldest(extra)
    else:
        setup()
        if command == "run":
            base.replace_process([str(base.SCRIPTS / "pinfill"), "demo", *extra])
        if command == "test":
            base.replace_process([str(base.PYTHON), "-m", "pytest", *extra])
        if command in SCRIPTS_BESIDE:
            base.replace_process([str(base.PYTHON), str(base.ROOT / "installers" / f"{command}.py"), *extra])


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
        os.chdir(base.ROOT)
        perform(command, extra)
    except base.SetupError as error:
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

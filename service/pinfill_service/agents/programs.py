"""Finding an agent's program on this machine, and running it on Pinfill."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pinfill_service.agents.agent import AgentError, Environ, Launch, LocalAgent

VERSION_SECONDS = 10.0
_VERSION = re.compile(r"\d+(?:\.\d+)+[-.\w]*")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_LOOPBACK = "127.0.0.1,localhost,::1"
_FORWARDED = ("SIGTERM", "SIGHUP")
_FROM_TERMINAL = ("SIGINT", "SIGQUIT")  # the terminal sends them to the agent too


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run: everything it is given, and its whole environment."""

    program: Path
    arguments: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)


def find_program(agent: LocalAgent, environ: Environ) -> Path | None:
    """The agent's program on PATH; None when it is not installed. On Windows that may be a .cmd file."""
    found = shutil.which(agent.program, path=environ.get("PATH", os.defpath))
    return None if found is None else Path(found)


def find_version(program: Path) -> str | None:
    """What the program says its version is; None when it says nothing like one. Runs it, for up to ten seconds."""
    try:
        said = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(said.stdout.decode(errors="replace"))
    return None if found is None else found[0]


def terminal_command(agent: LocalAgent, model: str | None = None) -> list[str]:
    """What to run in a terminal to start the agent. It holds no key: `pinfill launch` finds that itself."""
    installed = shutil.which("pinfill")
    start = [installed] if installed else [sys.executable, "-m", "pinfill_service.cli"]
    return [*start, "launch", agent.name, *(["--model", model] if model else [])]


@contextlib.contextmanager
def prepared(program: Path, launch: Launch, arguments: Sequence[str], environ: Environ) -> Iterator[Command]:
    """The command of an agent, with its temporary files in place until the block is left. Raises AgentError."""
    try:
        with tempfile.TemporaryDirectory(prefix="pinfill-") as folder:  # readable by the user alone
            paths = {}
            for number, (word, text) in enumerate(launch.files.items()):
                path = Path(folder) / f"settings-{number}.json"
                path.touch(mode=0o600)
                path.write_text(text, encoding="utf-8")
                paths[word] = str(path)
            values = {name: paths.get(value, value) for name, value in launch.environment.items()}
            own = [paths.get(argument, argument) for argument in launch.arguments]
            yield Command(program, [*own, *arguments], _environment(environ, launch.unset, values))
    except OSError as error:
        raise AgentError(f"{error.filename or program} cannot be used: {error.strerror or error}.") from error


def run(command: Command) -> int:
    """Runs an agent in this terminal, and returns what a shell would: its exit code, or 128 and the signal's number.

    Ctrl-C is the agent's affair. A request to stop is passed on to it. Raises OSError.
    """
    process: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, _: object) -> None:
        if process is None:
            sys.exit(128 + number)
        process.send_signal(number)

    handlers = {name: pass_on for name in _FORWARDED} | {name: lambda *_: None for name in _FROM_TERMINAL}
    before = {
        getattr(signal, name): signal.signal(getattr(signal, name), handler)
        for name, handler in handlers.items()
        if hasattr(signal, name)
    }
    try:
        process = subprocess.Popen([command.program, *command.arguments], env=dict(command.environment))
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def shown(launch: Launch, program: str, arguments: Sequence[str]) -> str:
    """The command as a shell takes it, with the text of its temporary files in front."""
    lines = [f"# {word} is a file of its own for each run, with:\n{text}" for word, text in launch.files.items()]
    lines += [f"unset {' '.join(launch.unset)}"] if launch.unset else []
    lines += [f"export {name}={shlex.quote(value)}" for name, value in launch.environment.items()]
    return "\n".join([*lines, shlex.join([program, *launch.arguments, *arguments])])


def _environment(environ: Environ, unset: Sequence[str], values: Mapping[str, str]) -> dict[str, str]:
    """A proxy never stands between this machine and itself."""
    kept = {name: value for name, value in environ.items() if name not in unset}
    if any(kept.get(name) for name in _PROXIES):
        for name in ("NO_PROXY", "no_proxy"):
            kept[name] = ",".join(filter(None, (kept.get(name), _LOOPBACK)))
    return {**kept, **values}

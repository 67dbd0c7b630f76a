"""Running a command in a terminal window, with the terminal this desktop has."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QProcess, QProcessEnvironment

from pinfill_service.agents.agent import Environ

# What comes before the command, by the terminal's program. The first one is Debian's name for the user's choice.
TERMINALS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("x-terminal-emulator", ("-e",)),
    ("gnome-terminal", ("--",)),
    ("kgx", ("--",)),
    ("ptyxis", ("--",)),
    ("konsole", ("-e",)),
    ("xfce4-terminal", ("-x",)),
    ("mate-terminal", ("-x",)),
    ("kitty", ()),
    ("alacritty", ("-e",)),
    ("foot", ()),
    ("xterm", ("-e",)),
)
_HOLD = 'printf "\\n[%s] " "$0"; read -r _'  # what went wrong can be read before the window closes


class TerminalError(Exception):
    """No terminal can be opened. The message says what to type instead."""


def terminal_line(command: Sequence[str], environ: Environ) -> list[str] | None:
    """A command that opens a terminal window and runs `command` there; None when there is no terminal.

    The window stays until a key is pressed when the command has failed.
    """
    if sys.platform == "win32":  # not yet verified on Windows
        return [
            shutil.which("cmd") or "cmd.exe",
            "/c",
            "start",
            "Pinfill",
            "cmd",
            "/k",
            subprocess.list2cmdline(command),
        ]
    path = environ.get("PATH")
    for program, option in TERMINALS:
        found = shutil.which(program, path=path)
        if found is not None:
            script = f"{shlex.join(command)} || {{ {_HOLD}; }}"
            return [found, *option, "/bin/sh", "-c", script, "Enter"]
    return None


def open_terminal(command: Sequence[str], environ: Environ) -> None:
    """Opens a terminal window that outlives this application. Raises TerminalError."""
    tr = QCoreApplication.translate
    line = terminal_line(command, environ)
    by_hand = subprocess.list2cmdline(command) if sys.platform == "win32" else shlex.join(command)
    if line is None:
        raise TerminalError(tr("terminals", "No terminal program was found. Open one, and type: {}").format(by_hand))
    process = QProcess()
    process.setProgram(line[0])
    process.setArguments(line[1:])
    environment = QProcessEnvironment()
    for name, value in environ.items():
        environment.insert(name, value)
    process.setProcessEnvironment(environment)
    process.setWorkingDirectory(environ.get("HOME", ""))
    if not process.startDetached():
        raise TerminalError(
            tr("terminals", "{} cannot be started. Open a terminal, and type: {}").format(line[0], by_hand)
        )

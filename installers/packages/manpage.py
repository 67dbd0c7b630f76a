"""Prints the man page. It is run by the Python that builds, with the folders of the payload as arguments.

The commands and their options are those of the command line itself, so that the page cannot be wrong about them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from typing import Any

FILES = (
    ("~/.local/share/pinfill", "Models, pins, the ledger and settings.toml. PINFILL_HOME names another folder."),
    ("~/.config/autostart/pinfill.desktop", "There while the application is to start when you log in."),
    ("/usr/lib/systemd/user/pinfill.service", "For 'systemctl --user enable --now pinfill', if the package has it."),
)
ENVIRONMENT = (
    ("PINFILL_HOME", "The folder that holds everything Pinfill keeps."),
    ("PINFILL_API_KEY", "The key that clients must send, instead of the one in the system's keyring."),
    ("HF_TOKEN", "The token for gated and private repositories, instead of the one of 'pinfill models token --set'."),
    ("HF_ENDPOINT", "The hub that models are downloaded from, instead of https://huggingface.co."),
    ("PINFILL_*", "Every other setting by its name in capitals, such as PINFILL_PORT."),
)
EXIT_CODES = (
    ("0", "Done."),
    ("1", "An error that is told in a sentence."),
    ("2", "Wrong usage."),
    ("130", "Stopped by Ctrl-C."),
)


def escape(text: str) -> str:
    """Text as roff takes it: no line begins a request, and a dash is the one that people type."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("**", "").replace("`", "")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in plain.splitlines())


def paragraphs(text: str | None) -> Iterator[str]:
    for block in (text or "").split("\n\n"):
        if block.strip():
            yield ".PP"
            yield escape(" ".join(block.split()))


def options(command: Any) -> Iterator[str]:
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or parameter.param_type_name != "option":
            continue
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
        yield from (".TP", f".B {escape(names)}", escape(" ".join((parameter.help or "").split()) or "\\&"))


def commands(group: Any, before: str) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        if getattr(command, "hidden", False):
            continue
        full = f"{before} {name}"
        if getattr(command, "commands", None):
            yield from commands(command, full)
            continue
        arguments = [p.metavar or p.name.upper() for p in command.params if p.param_type_name == "argument"]
        yield f'.SS "{escape(" ".join([full, *arguments]))}"'
        yield from paragraphs(command.help)
        yield from options(command)


def table(title: str, rows: tuple[tuple[str, str], ...]) -> Iterator[str]:
    yield f".SH {title}"
    for name, text in rows:
        yield from (".TP", f".B {escape(name)}", escape(text))


def page(group: Any, version: str) -> Iterator[str]:
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    yield f'.TH PINFILL 1 "{date}" "Pinfill {version}" "User Commands"'
    yield from (".SH NAME", "pinfill \\- a local language model that keeps long prompt prefixes warm")
    yield from (".SH SYNOPSIS", ".B pinfill", "[\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]")
    yield ".SH DESCRIPTION"
    yield from paragraphs(group.help)
    yield ".SH OPTIONS"
    yield from options(group)
    yield ".SH COMMANDS"
    yield from commands(group, "pinfill")
    yield from table("ENVIRONMENT", ENVIRONMENT)
    yield from table("FILES", FILES)
    yield from table('"EXIT STATUS"', EXIT_CODES)


def main(folders: list[str]) -> None:
    sys.path[:0] = folders
    from typer.main import get_command

    from pinfill_service import __version__
    from pinfill_service.cli import app

    print("\n".join(page(get_command(app), __version__)))


if __name__ == "__main__":
    main(sys.argv[1:])

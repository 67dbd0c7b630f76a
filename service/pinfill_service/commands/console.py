"""How commands talk to people: one console for results, one for everything else, and the error they are told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console


class CommandError(Exception):
    """A command cannot do what it was asked. The message is for the user and says what to do next. `code`: the stable
    name of the reason, where it has one.
    """

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


def out() -> Console:
    """Results: stdout."""
    from rich.console import Console

    return Console(highlight=False)


def err() -> Console:
    """Progress and remarks: stderr, so that results can be piped."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    typer.echo(json.dumps(value, indent=2))


def format_bytes(size: int) -> str:
    """Bytes as people read them."""
    return f"{size / (1 << 20):,.0f} MiB" if size < 10 << 30 else f"{size / (1 << 30):,.1f} GiB"

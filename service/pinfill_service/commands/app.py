"""pinfill app"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Annotated

import typer

from pinfill_service.commands.console import CommandError


def app(
    minimised: Annotated[bool, typer.Option("--minimised", help="Show only the tray's icon, no window.")] = False,
) -> None:
    """Start the tray application, which runs the service and shows what is cached. So does pinfill without a command.

    A second start raises the window of the first.
    """
    missing = why_not()
    if missing is not None:
        raise CommandError(missing)
    from pinfill_app.application import run

    raise typer.Exit(run(minimised=minimised))


def why_not() -> str | None:
    """Why the application cannot be shown here; None when it can."""
    if importlib.util.find_spec("PySide6") is None or importlib.util.find_spec("pinfill_app") is None:
        return "The application is not installed. Install it with: pip install 'pinfill[cpu,desktop]'"
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in screens):
        return "There is no screen here for a window. Without one: pinfill serve"
    return None

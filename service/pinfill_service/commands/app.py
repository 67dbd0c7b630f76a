"""pinfill app"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from pinfill_service.commands.console import CommandError, err


def app(
    minimised: Annotated[bool, typer.Option("--minimised", help="Show only the tray's icon, no window.")] = False,
    leave: Annotated[bool, typer.Option("--quit", help="End the one that runs, as its own Quit does.")] = False,
    folder: Annotated[Path | None, typer.Option(help="Pinfill's folder, instead of PINFILL_HOME.")] = None,
) -> None:
    """Start the tray application, which runs the service and shows what is cached. So does pinfill without a command.

    A second start raises the window of the first. With --quit it ends, in order and with the service it started;
    this waits for it, and is content when none runs.
    """
    if folder is not None:
        os.environ["PINFILL_HOME"] = str(folder.absolute())  # for the service, too
    if leave:
        _end_running()
        return
    missing = why_not()
    if missing is not None:
        raise CommandError(missing)
    from pinfill_app.application import run

    raise typer.Exit(run(minimised=minimised))


def _end_running() -> None:
    from pinfill_service.settings import home
    from pinfill_service.state_lock import APPLICATION_LOCK

    if not (home() / APPLICATION_LOCK).exists():  # nor need Qt be there
        err().print("The application is not running.")
        return
    from PySide6.QtCore import QCoreApplication

    from pinfill_app.single_instance import End, SingleInstance

    qt = QCoreApplication([])
    end = SingleInstance(home(), qt).end_first()
    if end is End.STAYS:
        raise CommandError("The application does not end. Quit it in its own menu, or end its process.")
    err().print("The application has ended." if end is End.ENDED else "The application is not running.")


def why_not() -> str | None:
    """Why the application cannot be shown here; None when it can."""
    if importlib.util.find_spec("PySide6") is None or importlib.util.find_spec("pinfill_app") is None:
        return "The application is not installed. Install it with: pip install 'pinfill[cpu,desktop]'"
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in screens):
        return "There is no screen here for a window. Without one: pinfill serve"
    return None

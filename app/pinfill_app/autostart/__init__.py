"""Starting with the computer, by platform."""

from __future__ import annotations

import sys
from typing import Protocol

from pinfill_app.own_folder import folder_is_chosen
from pinfill_service.settings import home


class AutostartError(Exception):
    """It could not be changed. The message says why."""


class Autostart(Protocol):
    """Whether the application starts when this user logs in."""

    def is_on(self) -> bool: ...

    def turn_on(self) -> None:
        """Raises AutostartError."""
        ...

    def turn_off(self) -> None:
        """Raises AutostartError."""
        ...


def start_command() -> list[str]:
    """How the application is started at login, in the tray, on the folder it works on now.

    A login knows nothing of variables that only a terminal had, and the registry's Run key has room for none.
    """
    folder = ["--folder", str(home().absolute())] if folder_is_chosen() else []
    return [sys.executable, "-P", "-m", "pinfill_app", "--minimised", *folder]


def autostart() -> Autostart:
    """The one of this system."""
    if sys.platform == "win32":
        from pinfill_app.autostart.windows import RunKey

        return RunKey()
    from pinfill_app.autostart.xdg import DesktopFile

    return DesktopFile()


def set_autostart(wanted: bool) -> None:
    """Raises AutostartError."""
    if wanted:
        autostart().turn_on()
    else:
        autostart().turn_off()

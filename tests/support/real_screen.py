"""An X screen that nobody sees, with a window manager, a system tray and a D-Bus session, driven as a person would.

Debian's packages: xvfb openbox trayer xdotool imagemagick dbus-daemon.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage

PROGRAMS = ("Xvfb", "openbox", "trayer", "xdotool", "import", "dbus-daemon")
LIMIT_SECONDS = 90.0
_SCREENSHOTS = os.environ.get("PINFILL_TEST_SCREENSHOTS")  # the folder that keeps them; tests have another environment
_PAUSE_SECONDS = 0.1
_PATIENCE_SECONDS = 12.0  # before something is tried again
_PANEL_SECONDS = 4.0
_DESKTOP_VARIABLES = ("DESKTOP_SESSION", "KDE_FULL_SESSION", "WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP")
Found = TypeVar("Found")


def missing_programs() -> list[str]:
    """What a screen cannot be had without."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


def until(look: Callable[[], Found | None], what: str, seconds: float = LIMIT_SECONDS) -> Found:
    """The first thing `look` finds, asked again and again; AssertionError with `what` after the limit."""
    end = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < end, f"after {seconds:.0f} s still not: {what}"
        time.sleep(_PAUSE_SECONDS)


@dataclass(frozen=True, slots=True)
class Screen:
    """`environment` is for programs that are to be shown on it."""

    environment: Mapping[str, str]

    def picture(self) -> QImage:
        """All of it, as it is now."""
        command = ["import", "-silent", "-window", "root", "png:-"]
        return QImage.fromData(subprocess.run(command, env=self.environment, capture_output=True, check=True).stdout)

    def keep(self, name: str) -> None:
        """A screenshot for people, where one is wanted."""
        if _SCREENSHOTS is not None:
            assert self.picture().save(str(Path(_SCREENSHOTS) / f"{name}.png"))

    def place_of(self, color: QColor, within: QRect) -> QRect | None:
        """What holds all pixels of exactly this colour in a part of the screen; None while there are none."""
        picture, place = self.picture(), QRect()
        for y in range(within.top(), within.bottom() + 1):
            for x in range(within.left(), within.right() + 1):
                if picture.pixelColor(x, y) == color:
                    place = place.united(QRect(x, y, 1, 1))
        return None if place.isEmpty() else place

    def is_managed(self) -> bool:
        """Whether a window manager has said how many desktops there are."""
        return bool(self._ask("get_num_desktops").strip())

    def windows(self, name: str) -> dict[str, QRect]:
        """Where the windows are whose class or title fits the regular expression, by id; only those that are shown."""
        ids = self._ask("search", "--onlyvisible", "--name", "--class", name).split()
        return {window: place for window in ids if (place := self._geometry(window)) is not None}

    def activate(self, title: str) -> None:
        """As a list of windows does, which has those that are minimised, but not those that are hidden."""
        for window in self._ask("search", "--name", f"^{title}$").split():
            self._ask("windowactivate", window)  # refused for what no window manager knows

    def front(self) -> str:
        """The title of the window that gets what is typed; empty while none does."""
        return self._ask("getactivewindow", "getwindowname").strip()

    def click(self, x: int, y: int, button: int = 1) -> None:
        self._do("mousemove", x, y, "click", button)

    def press(self, *keys: str) -> None:
        self._do("key", *keys)

    def press_until(self, key: str, look: Callable[[], bool], what: str) -> None:
        """For a key that may come too early the first time; it is pressed again only after a long while."""

        def pressed() -> bool:
            self.press(key)
            with suppress(AssertionError):
                return until(look, what, _PATIENCE_SECONDS)
            return False

        until(pressed, what)

    def type(self, text: str) -> None:
        self._do("type", "--delay", 5, text)

    def _do(self, *words: str | int) -> None:
        subprocess.run(["xdotool", *map(str, words)], env=self.environment, check=True)

    def _ask(self, *words: str) -> str:
        """Empty when there is no such window, which may have gone meanwhile."""
        return subprocess.run(["xdotool", *words], env=self.environment, capture_output=True, text=True).stdout

    def _geometry(self, window: str) -> QRect | None:
        lines = self._ask("getwindowgeometry", "--shell", window).split()
        values = dict(line.split("=") for line in lines)
        return QRect(*(int(values[name]) for name in ("X", "Y", "WIDTH", "HEIGHT"))) if values else None


@contextmanager
def real_screen(home: Path, *, with_panel: bool = True) -> Iterator[Screen]:
    """A screen of 1280 x 800 with its tray at the top left; `home` is where its programs keep their settings."""
    environment = {name: value for name, value in os.environ.items() if name not in _DESKTOP_VARIABLES}
    environment |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_CACHE_HOME": str(home / ".cache")}
    environment |= {"LC_ALL": "C.UTF-8", "QT_QPA_PLATFORM": "xcb", "XDG_SESSION_TYPE": "x11"}
    with ExitStack() as stack:
        number = _started(stack, environment, "Xvfb", "-displayfd", "1", "-noreset", "-screen", "0", "1280x800x24")
        environment["DISPLAY"] = f":{number}"
        bus = _started(stack, environment, "dbus-daemon", "--session", "--nofork", "--print-address=1")
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        screen = Screen(environment)
        _start(stack, environment, "openbox")
        until(screen.is_managed, "the window manager is there")
        if with_panel:
            stack.enter_context(panel(screen))
        yield screen


@contextmanager
def panel(screen: Screen) -> Iterator[None]:
    """With the tray. Where it comes while the window manager is still starting, it may stay hidden for ever."""
    command = ("trayer", "--edge", "top", "--align", "left", "--widthtype", "request")
    with ExitStack() as stack:

        def shows_itself() -> bool:
            process = _start(stack, screen.environment, *command)
            with suppress(AssertionError):
                return bool(until(lambda: screen.windows("^trayer$"), "the panel is shown", _PANEL_SECONDS))
            process.kill()
            return False

        until(shows_itself, "the panel with the tray is there")
        yield


def _started(stack: ExitStack, environment: Mapping[str, str], *command: str) -> str:
    """The first line a program says, which it does when it is ready."""
    process = _start(stack, environment, *command)
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    assert line, f"{command[0]} did not start"
    return line


def _start(stack: ExitStack, environment: Mapping[str, str], *command: str) -> subprocess.Popen[str]:
    """Ended with the stack, the latest first."""
    process = stack.enter_context(
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
    )
    stack.callback(process.kill)
    return process

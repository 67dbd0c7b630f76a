"""The application on a real screen: tray, menu, dialogs and window, used with mouse and keyboard only."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QColor

from pinfill_app.discovery import running_service
from pinfill_app.tray_icon import PIN
from pinfill_service.models.library import ModelLibrary
from tests.support.desktop import is_alive, unused_port
from tests.support.real_screen import LIMIT_SECONDS, Screen, missing_programs, panel, real_screen, until
from tests.support.real_service import KEY, MODEL
from tests.support.tiny_gguf import TinyLlama

PANEL = QRect(0, 0, 400, 40)  # holds the tray
HIGHLIGHT = QColor("#2a7bad")  # of Qt's Fusion style, light, made readable
LEAST_MENU = 100  # pixels in height; a tool tip or the icon has less
PIN_NAME = "rubric"

pytestmark = pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {', '.join(missing_programs())}")


class Person:
    """Sees the screen and uses mouse and keyboard; asks the service what has really happened."""

    def __init__(self, screen: Screen, url: str) -> None:
        self.screen = screen
        self._http = httpx.Client(base_url=url, headers={"x-api-key": KEY}, timeout=LIMIT_SECONDS, trust_env=False)

    def close(self) -> None:
        self._http.close()

    def icon(self) -> QPoint:
        return until(lambda: self.screen.place_of(PIN, PANEL), "the icon is in the tray").center()

    def open_menu(self) -> QRect:
        """With a right click on the icon. Where it is then."""
        icon = self.icon()
        self.screen.click(icon.x(), icon.y(), button=3)
        return until(self._menu, "the menu is there")

    def choose(self, key: str, menu: QRect) -> None:
        """The first (Down) or the last (Up) entry of the menu that can be chosen."""
        self.screen.press_until(key, lambda: self.screen.place_of(HIGHLIGHT, menu) is not None, "an entry is marked")
        self.screen.press("Return")
        until(lambda: self._menu() is None, "the menu has closed")

    def _menu(self) -> QRect | None:
        """No other window at the tray is that high."""
        places = self.screen.windows("^pinfill$").values()
        return next((place for place in places if place.height() >= LEAST_MENU and place.intersects(PANEL)), None)

    def until_front(self, title: str) -> None:
        until(lambda: self.screen.front() == title, f"{title} gets what is typed")

    def ask(self, path: str) -> Any:
        return self._http.get(path).raise_for_status().json()

    def is_ready(self) -> bool:
        """Whether the service has its model."""
        try:
            return self.ask("/pinfill/v1/status")["model"] is not None
        except httpx.ConnectError:
            return False

    def pins(self) -> dict[str, str]:
        """States by name."""
        return {pin["name"]: pin["state"] for pin in self.ask("/pinfill/v1/pins")["pins"]}

    def cached_tokens(self, model: str) -> int:
        """Of a request that was sent now."""
        body = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": "Hello"}]}
        usage = self._http.post("/v1/chat/completions", json=body).raise_for_status().json()["usage"]
        return int(usage["prompt_tokens_details"]["cached_tokens"])


@contextmanager
def application(screen: Screen, home: Path) -> Iterator[subprocess.Popen[str]]:
    """`pinfill` as a login starts it."""
    paths = os.pathsep.join(map(os.path.abspath, sys.path))  # the service has its own folder
    environment = {**screen.environment, "PYTHONPATH": paths, "PINFILL_HOME": str(home)}
    command = [sys.executable, "-m", "pinfill_app", "--minimised"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, encoding="utf-8") as process:
        try:
            yield process
        finally:
            process.kill()  # its service ends with it


@pytest.fixture
def url(home: Path) -> str:
    """Of the service that the application will start, as the settings in its home say."""
    ModelLibrary(home).import_model(TinyLlama(context=512).write(home / "tiny.gguf"), MODEL)
    port = unused_port()
    (home / "settings.toml").write_text(f'model = "{MODEL}"\nport = {port}\napi_key = "{KEY}"\n')
    return f"http://127.0.0.1:{port}"


def test_a_file_is_pinned_used_and_unpinned_from_the_tray(home: Path, tmp_path: Path, url: str) -> None:
    document = tmp_path / f"{PIN_NAME}.md"
    document.write_text("A rubric. " * 20)
    with real_screen(tmp_path) as screen, application(screen, home) as process:
        person = Person(screen, url)
        try:
            until(person.is_ready, "the service has its model")
            pin(person, document)
            assert person.cached_tokens(f"{MODEL}@{PIN_NAME}") > len("A rubric. ")
            unpin(person)
            quit_from_menu(person, home, process)
        finally:
            screen.keep("last")
            person.close()


def test_a_panel_that_comes_and_goes_is_followed(home: Path, tmp_path: Path, url: str) -> None:
    """Without one the window is the application; a panel that is restarted has the icon again."""
    with real_screen(tmp_path, with_panel=False) as screen, application(screen, home) as process:
        person = Person(screen, url)
        try:
            until(person.is_ready, "the service has its model")
            until_opened(screen)  # minimised, as there is no tray
            screen.keep("no-panel")
            with panel(screen):
                person.icon()
                close_window(screen)
            with panel(screen):
                person.icon()
                assert process.poll() is None
                until(lambda: has_closed(screen), "only the icon is there")
            until_opened(screen)
            screen.keep("panel-gone")
            close_window(screen)
            errors = process.communicate(timeout=LIMIT_SECONDS)[1]
            assert (process.returncode, errors) == (0, "")
        finally:
            screen.keep("last")
            person.close()


def until_opened(screen: Screen) -> None:
    """The window, from the list of windows."""

    def is_open() -> bool:
        screen.activate("Pinfill")
        return not has_closed(screen)

    until(is_open, "the window can be opened")
    until(lambda: screen.front() == "Pinfill", "the window gets what is typed")


def close_window(screen: Screen) -> None:
    screen.press_until("alt+F4", lambda: has_closed(screen), "the window has closed")


def has_closed(screen: Screen) -> bool:
    """Only the icon is there, if anything."""
    return all(place.height() < LEAST_MENU for place in screen.windows("^pinfill$").values())


def pin(person: Person, document: Path) -> None:
    """Through the menu, the dialog for files and the one for pins."""
    screen = person.screen
    menu = person.open_menu()
    screen.keep("menu")
    person.choose("Down", menu)  # nothing is pinned yet: that is "Pin file..."
    person.until_front("Open")
    screen.type(str(document))
    screen.keep("file")
    screen.press("Return")
    person.until_front("Pin files")
    screen.keep("pin")
    screen.press_until("Return", lambda: not screen.windows("^Pin files$"), "the dialog has closed")
    until(lambda: person.pins() == {PIN_NAME: "warm"}, "the pin is warm")


def unpin(person: Person) -> None:
    """With a key, in the window, which has selected what was pinned; the time to undo it passes."""
    person.until_front("Pinfill")
    window = max(person.screen.windows("^pinfill$").values(), key=QRect.height)
    table = QRect(window.topLeft() + QPoint(200, 120), QSize(40, 120))  # its first rows begin there
    until(lambda: person.screen.place_of(HIGHLIGHT, table), "the pin is selected")
    person.screen.keep("window")
    person.screen.press_until("Delete", lambda: person.pins() == {}, "the pin is gone")
    person.screen.keep("unpinned")


def quit_from_menu(person: Person, home: Path, process: subprocess.Popen[str]) -> None:
    """Nothing that the application started is left, and neither it nor Qt has complained."""
    service = running_service(home)
    started = psutil.Process(process.pid).children(recursive=True)
    assert service is not None and service.pid in [child.pid for child in started]
    person.choose("Up", person.open_menu())
    errors = process.communicate(timeout=LIMIT_SECONDS)[1]
    assert (process.returncode, errors) == (0, "")
    assert not any(is_alive(child.pid) for child in started)
    assert person.screen.place_of(PIN, PANEL) is None

"""Pictures of every window, light and dark, drawn without a screen from a scripted service.

python installers/screenshots.py [--output DIR] [--scale FACTOR] [--language NAME]

They are the same on every machine with the same fonts, but for today's date. `--scale 2` draws with letters twice as
large, `--language de` in German.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinfill_app.windows.main_window import MainWindow
    from pinfill_app.windows.page import Context

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "app"), str(ROOT / "service")]
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["TZ"] = "UTC"
ROUNDS = 40  # of the event loop, while pages load
MORNING = datetime.now(UTC).replace(hour=8, minute=0, second=0, microsecond=0).timestamp()
SELECTED = {"prefixes": {"select": "Grading rubric v3"}, "activity": {"select": "r5"}}  # hints for pages


def main() -> int:
    parser = argparse.ArgumentParser(prog="installers/dev.py screenshots", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--output", type=Path, default=ROOT / "screenshots", metavar="DIR")
    parser.add_argument("--scale", type=float, default=1.0, metavar="FACTOR")
    parser.add_argument("--language", default="en", metavar="NAME")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        draw(options.output, options.scale, options.language)
    return 0


def prepare(folder: Path) -> None:
    """A user's folder with two agents and a log, in place of the real one."""
    import psutil

    from tests.support.sample_service import FREE_MEMORY, LOG, MEMORY, NOW

    for name in [name for name in os.environ if name.startswith(("PINFILL_", "XDG_C", "HF_"))]:
        del os.environ[name]
    programs, home = folder / "bin", folder / "pinfill"
    programs.mkdir()
    home.mkdir()
    for name in ("claude", "goose"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    (home / "service.log").write_text(LOG)
    os.environ |= {"HOME": str(folder), "PATH": str(programs), "PINFILL_HOME": str(home)}
    time.tzset()
    time.time = lambda: NOW
    psutil.virtual_memory = lambda: SimpleNamespace(total=MEMORY, available=FREE_MEMORY)


def draw(output: Path, scale: float, language: str) -> None:
    from PySide6.QtWidgets import QApplication

    from pinfill_app.theme import Theme, use_theme
    from pinfill_app.translations import use_language

    application = QApplication([])
    use_language(application, language)
    font = application.font()
    font.setPointSizeF(font.pointSizeF() * scale)
    application.setFont(font)
    connect_claude()
    for theme in (Theme.LIGHT, Theme.DARK):
        use_theme(theme)
        for name, picture in pictures():
            file = output / f"{name}-{theme.value}.png"
            picture().save(str(file))
            print(file)


def connect_claude() -> None:
    """Claude Code is connected in the pictures."""
    from pinfill_service.agents import find_local_agent
    from pinfill_service.agents.agent import Endpoint
    from pinfill_service.agents.connections import Connections

    connections = Connections(Path(os.environ["PINFILL_HOME"]), os.environ)
    endpoint = Endpoint("http://127.0.0.1:7463", "a-key", "smollm2-135m", 8_192)
    connections.apply(connections.plan(find_local_agent("claude"), endpoint))


def pictures() -> Iterator[tuple[str, Callable[[], object]]]:
    """(name, what takes the picture) of every page, dialog and menu."""
    from pinfill_app.help_menu import HelpMenu
    from pinfill_app.windows import settings_page
    from pinfill_app.windows.main_window import FIRST_SIZE, MainWindow
    from tests.support import sample_service
    from tests.support.pages import Shown

    start = settings_page.NextStart(
        sample_service.VALUES, frozenset(), sample_service.MEMORY, sample_service.FREE_DISK, 8
    )
    settings_page.next_start = lambda: start
    made = Shown(MainWindow, Path(os.environ["PINFILL_HOME"]))
    latest = sample_service.requests(MORNING)
    sample_service.answer(made.client, latest)
    made.store.entries_at = sample_service.NOW
    made.found.there_is = sample_service.found_models()
    window = made.page
    window.menuBar().addMenu(HelpMenu(made.context, window))
    window.resize(FIRST_SIZE)  # whatever the size of the screen that is not there
    window.show()
    made.have(**sample_service.everything(latest))
    yield from pages(window)
    yield from first_run(made.context, window)
    yield from tray(made.context)
    window.hide()


def pages(window: MainWindow) -> Iterator[tuple[str, Callable[[], object]]]:
    from pinfill_app.windows.agents_change import ChangeDialog
    from pinfill_app.windows.agents_page import AgentsPage
    from pinfill_service.agents import find_local_agent

    for page in window._pages:
        window.show_page(page.NAME, **SELECTED.get(page.NAME, {}))
        settle()
        yield page.NAME, window.grab
        if isinstance(page, AgentsPage):
            agent, endpoint = find_local_agent("goose"), page.desk.endpoint()
            dialog = ChangeDialog(agent, page.desk.connections.plan(agent, endpoint), window)
            dialog.show()
            settle()
            yield "agents-change", dialog.grab
            dialog.close()


def first_run(context: Context, window: MainWindow) -> Iterator[tuple[str, Callable[[], object]]]:
    from pinfill_app.windows.first_run import FirstRun

    steps = FirstRun(context, window)
    steps.show()
    for number in range(len(steps.steps)):
        settle()
        yield f"first-run-{number + 1}", steps.grab
        steps.next.click()


def tray(context: Context) -> Iterator[tuple[str, Callable[[], object]]]:
    from PySide6.QtWidgets import QMenu

    from pinfill_app.tray_actions import TrayActions
    from pinfill_app.tray_menu import TrayMenu

    menu = TrayMenu(context, TrayActions(context, lambda *_: None), lambda: None, lambda: None)
    settle()
    menu.render_state()
    menu.resize(menu.sizeHint())
    yield "tray-menu", menu.grab
    submenus = [action.menu() for action in menu.actions() if isinstance(action.menu(), QMenu)]
    agents = next(each for each in submenus if any("Claude" in action.text() for action in each.actions()))
    yield "tray-agents", agents.grab


def settle() -> None:
    """Until what was asked in the background is drawn."""
    from PySide6.QtCore import QCoreApplication

    for _ in range(ROUNDS):
        QCoreApplication.processEvents()
        time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main())

"""Every page and dialog of the application, one after the other, with a service that has been used for a while."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QDialog, QMenu, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from pinfill_app.help_menu import HelpMenu
from pinfill_app.models.prefix_row import Key
from pinfill_app.self_test import SelfTest
from pinfill_app.service_state import ServiceState
from pinfill_app.windows.activity import ActivityPage
from pinfill_app.windows.agents_change import ChangeDialog
from pinfill_app.windows.agents_page import AgentsPage
from pinfill_app.windows.first_run import FirstRun
from pinfill_app.windows.help_pages import HelpPages
from pinfill_app.windows.main_window import MainWindow
from pinfill_app.windows.models_page import ModelsPage
from pinfill_app.windows.pin_files_dialog import PinFilesDialog
from pinfill_app.windows.pin_prefix_dialogs import PinEntryDialog, PinRequestDialog
from pinfill_app.windows.pin_text_dialog import PinTextDialog
from pinfill_app.windows.prefixes import PrefixesPage
from pinfill_app.windows.savings import SavingsPage
from pinfill_app.windows.self_test_dialog import SelfTestDialog
from pinfill_service.agents import find_local_agent
from pinfill_service.agents.agent import Endpoint
from pinfill_service.agents.connections import Connections
from tests.support import sample_service
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.pages import Shown, detail

Seen = tuple[str, QWidget]  # what it is and which state it is in; a page's window, or a dialog


def prepare_machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with two agents, a log, and a self-test that never ends."""
    programs = home / "bin"
    programs.mkdir()
    for name in ("claude", "goose"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    (home / "service.log").write_text(sample_service.LOG)
    for name in [name for name in os.environ if name.startswith("XDG_CONFIG")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(SelfTest, "start", lambda *_: None)


def every_window(qtbot: QtBot, home: Path) -> Iterator[Seen]:
    """After `prepare_machine`."""
    made = Shown(MainWindow, home)
    latest = sample_service.requests(sample_service.NOW)
    sample_service.answer(made.client, latest)
    window = made.page
    qtbot.addWidget(window)
    window.menuBar().addMenu(HelpMenu(made.context, window))
    for page in window.findChildren(SavingsPage):
        page._today = lambda: date(2026, 6, 1)
    window.show()
    made.have(**sample_service.everything(latest))
    yield from _pages(qtbot, window)
    yield from _dialogs(made, window)
    yield from _without_service(made, window)
    window.hide()


def _pages(qtbot: QtBot, window: MainWindow) -> Iterator[Seen]:
    states: dict[str, Callable[[], Iterator[str]]] = {
        PrefixesPage.NAME: lambda: _prefixes(window),
        ActivityPage.NAME: lambda: _rows(window, ActivityPage, "r6", "r5"),
        ModelsPage.NAME: lambda: _rows(window, ModelsPage, *(model.name for model in sample_service.models())),
        AgentsPage.NAME: lambda: _agents(qtbot, window),
    }
    for page in window._pages:
        window.show_page(page.NAME)
        settle()
        for state in states.get(page.NAME, lambda: iter(("",)))():
            settle()
            yield f"{page.NAME} {state}".strip(), window


def _prefixes(window: MainWindow) -> Iterator[str]:
    page = window.page
    assert isinstance(page, PrefixesPage)
    pins = [("pin", pin.name) for pin in sample_service.pins()]
    keys: list[Key] = [*pins, ("entry", "e1")]
    for key in keys:
        page.view.select(key)
        yield key[1]
    page.view.selectAll()
    yield "all"
    page.bar.search.setText("nowhere")
    yield "nothing found"
    page.bar.search.clear()


def _rows(window: MainWindow, kind: type[ActivityPage | ModelsPage], *keys: str) -> Iterator[str]:
    page = window.page
    assert isinstance(page, kind)
    for key in keys:
        assert page.view.choose(key)
        yield key


def _agents(qtbot: QtBot, window: MainWindow) -> Iterator[str]:
    page = window.page
    assert isinstance(page, AgentsPage)
    qtbot.waitUntil(lambda: bool(page.desk.facts), timeout=LIMIT_MILLISECONDS)
    for name in ("claude", "zed"):
        assert page.view.choose(name)
        yield name


def _dialogs(made: Shown[MainWindow], window: MainWindow) -> Iterator[Seen]:
    store = made.store
    request = sample_service.requests(sample_service.NOW)[1]
    segments = {"system": 1_880, "tools": 2_300, "message 1 (user)": 320}
    home = Path(os.environ["HOME"])
    claude = find_local_agent("claude")
    connections = Connections(home, os.environ)
    plan = connections.plan(claude, Endpoint("http://127.0.0.1:7463", "a-key", "smollm2-135m", 8_192))
    makes: list[Callable[[], QDialog]] = [
        lambda: PinFilesDialog((), store, window),
        lambda: PinTextDialog("A rubric.", store, window),
        lambda: PinEntryDialog(sample_service.entries()[0], store, window),
        lambda: PinRequestDialog(detail(request, segments), "system", store, window),
        lambda: ChangeDialog(claude, plan, window),
        lambda: SelfTestDialog(window),
        lambda: HelpPages(made.context.settings, window),
    ]
    for make in makes:
        dialog = make()
        yield from _shown(type(dialog).__name__, dialog)
    models, menu = window.findChild(ModelsPage), window.findChild(HelpMenu)
    for name, ask in (("About", menu.show_about), ("Remove a model", models.actions_of_row.ask_remove)):
        models.actions_of_row.show_row(next(row for row in models.table.rows if row.entry.installed))
        ask()
        (box,) = (box for box in window.findChildren(QMessageBox) if box.isVisible())
        yield from _shown(name, box)
    steps = FirstRun(made.context, window)
    for number in range(len(steps.steps)):
        steps.show()
        settle()
        yield f"FirstRun {number + 1}", steps
        steps.next.click()


def _without_service(made: Shown[MainWindow], window: MainWindow) -> Iterator[Seen]:
    made.have(pins=(), entries=(), requests=(), models=(), savings=None)
    for state in (ServiceState.STOPPED, ServiceState.READY):
        made.say(state)
        for page in window._pages:
            window.show_page(page.NAME)
            settle()
            yield f"{page.NAME} with nothing, {state.value}", window


def _shown(name: str, dialog: QDialog) -> Iterator[Seen]:
    dialog.show()
    settle()
    yield name, dialog
    dialog.close()


def menus(window: QWidget) -> list[QMenu]:
    """Those of its buttons and of its bar, as they are when they are opened."""
    found = [menu for menu in window.findChildren(QMenu) if menu.title() or menu.menuAction().associatedObjects()]
    for menu in found:
        menu.aboutToShow.emit()
    return found


def settle() -> None:
    """Until what was asked is answered, and laid out."""
    for _ in range(10):
        QCoreApplication.processEvents()

"""What the window and the tray's menu make of the service's state, and a start that cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QListWidget, QMenu
from pytestqt.qtbot import QtBot

from pinfill_app.application import PinfillApplication
from pinfill_app.models.prefix_columns import Column
from pinfill_app.models.request_row import why
from pinfill_app.running import RunningRequest
from pinfill_app.service_state import ServiceState
from pinfill_app.tray import Tray
from pinfill_app.tray_actions import TrayActions
from pinfill_app.tray_icon import Sign
from pinfill_app.tray_menu import TrayMenu
from pinfill_app.tray_presence import GONE_LOOKS
from pinfill_app.widgets.elided_label import ElidedLabel
from pinfill_app.windows.activity import ActivityPage
from pinfill_app.windows.log_page import LogPage
from pinfill_app.windows.models_page import ModelsPage
from pinfill_app.windows.page import Page
from pinfill_app.windows.prefixes import PrefixesPage
from pinfill_app.windows.settings_page import SettingsPage
from pinfill_service.api.schemas import manage
from tests.support.desktop import LIMIT_MILLISECONDS, QUICK, scripted
from tests.support.pages import english, shown, status
from tests.support.prefixes import entry, pin
from tests.support.sample_service import models


@contextmanager
def not_started(home: Path, *pages: type[Page]) -> Iterator[PinfillApplication]:
    """Everything connected, on no service."""
    made = PinfillApplication(home, scripted(home), QUICK, pages or [LogPage, ModelsPage, SettingsPage])
    yield made
    for each in (made.window, made.menu, made):
        each.deleteLater()


def action(menu: QMenu, begins: str) -> QAction:
    """As it is when the menu is about to be shown."""
    menu.aboutToShow.emit()
    return action_of(menu, begins)


def action_of(menu: QMenu, begins: str) -> QAction:
    return next(each for each in menu.actions() if each.text().startswith(begins))


def test_a_model_that_only_has_to_be_fetched_is_no_failure(qtbot: QtBot, home: Path) -> None:
    here, away = models()
    problem = manage.Problem(kind="model", message="It is not here.", missing_model=away.name)
    with not_started(home) as made:
        made.store.status = status(None).model_copy(update={"problems": [problem]})
        made.store.models = (here, away)
        made.store.status_changed.emit()
        assert "problems" not in made.window.notices.texts
        assert made.window.notices.texts["model"].startswith(f"{away.name} is not on this machine yet.")
        made.store.models = (here, away.model_copy(update={"installed": True}))  # and could not be loaded, then
        made.store.models_changed.emit()
        assert made.window.notices.texts["problems"] == problem.message and "model" not in made.window.notices.texts


def test_the_status_bar_says_that_no_model_is_loaded(qtbot: QtBot, home: Path) -> None:
    with not_started(home) as made:
        made.supervisor.state = ServiceState.READY
        said = []
        for model in ("smollm2-135m", None):
            made.store.status = status(model)
            made.store.status_changed.emit()
            bar = made.window.statusBar()
            said.append([label.text() for label in bar.findChildren(QLabel) if label.text()])
            said[-1] += [label.text for label in bar.findChildren(ElidedLabel) if label.text]
        assert said[0][:: len(said[0]) - 1] == ["ready", "smollm2-135m"] and said[1] == ["ready - no model is loaded"]
        made.supervisor.state = ServiceState.STOPPED


def test_while_the_service_is_silent_that_is_told_and_progress_stands_still(qtbot: QtBot, home: Path) -> None:
    with not_started(home, PrefixesPage, ActivityPage) as made:
        supervisor, store = made.supervisor, made.store
        tray = Tray(store, supervisor, made.menu, made)
        supervisor.state, supervisor.is_owner = ServiceState.BUSY, True
        store.running.pin_progress(manage.PinProgressEvent(name="rubric", done=48, total=100, seconds_left=24.0))
        store.running.requests["1"] = RunningRequest("1", "goose", "m", cached=1, done=1, total=9)
        store.pins = (pin("rubric", state="prefilling", done=48),)
        said = []
        for silent in (False, True):
            supervisor.is_silent, supervisor.given_up_at = silent, 1.0
            supervisor.state_changed.emit()
            made.window.show()
            made.window.show_page("activity")
            activity = made.window.page
            assert isinstance(activity, ActivityPage)
            made.window.show_page("prefixes")
            prefixes = made.window.page
            assert isinstance(prefixes, PrefixesPage)
            state = prefixes.table.index(0, Column.STATE).data()
            said.append((state, why(activity.table.rows[0]), tray.look.sign, "service" in made.window.notices.texts))
            assert ("does not answer, restart by" in tray.tool_tip) is silent
        assert said == [
            ("48 %, 24 s left", "running", Sign.READY, False),
            ("48 %, stalled", "stalled", Sign.WAITING, True),
        ]
        supervisor.state = ServiceState.STOPPED


@pytest.mark.qt_log_ignore("systemTrayWindowChanged", extend=True)  # of the tray of X11
def test_a_tray_that_comes_late_and_goes_is_noticed(qtbot: QtBot, home: Path) -> None:
    with not_started(home) as made:
        window, presence = made.window, made.tray_presence
        there = [False]
        presence.is_available = lambda: there[0]
        presence.start()
        made._do_without_tray()  # at login nothing is shown: minimised, it can be found
        assert window.isMinimized() and window.isVisible() and "tray" in window.notices.texts

        there[0] = True
        presence.look()
        assert made.tray is not None and not window.isVisible() and window.notices.texts == {}
        window.bring_to_front()
        window.close()
        assert not window.isVisible() and window.hides_on_close

        there[0] = False
        for _ in range(GONE_LOOKS):  # a panel that is only restarted is back before
            assert made.tray is not None
            presence.look()
        assert made.tray is None and window.isMinimized() and "tray" in window.notices.texts
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        made.supervisor.state = ServiceState.FAILED
        made.supervisor.state_changed.emit()
        assert made.menu.actions()[0].text() == "Pinfill: failed"  # it belongs to no tray
        made.supervisor.state = ServiceState.STOPPED
        with qtbot.waitSignal(window.closed):
            window.close()
        presence.stop()


def test_what_is_evicted_is_counted_once_and_not_while_it_is_used(qtbot: QtBot, home: Path) -> None:
    asked: list[str] = []
    with english(), shown(qtbot, LogPage, home) as page:
        actions = TrayActions(page.context, lambda question, yes, act, /: asked.append(question))
        menu = TrayMenu(page.context, actions, page.page.show, page.page.close)
        used = entry("1", "one", in_use=True)
        page.have(entries=(used,))
        assert not action(menu, "Evict unpinned").isEnabled()
        page.have(entries=(used, *(entry(name, name, memory_bytes=200_000_000) for name in ("2", "3"))))
        action(menu, "Evict unpinned").trigger()
        assert "Evict 2 unpinned prefixes, 230 MB?" in asked[0]  # which is all that is cached
        menu.deleteLater()


def test_an_open_menu_goes_on_telling_progress(qtbot: QtBot, home: Path) -> None:
    with english(), shown(qtbot, LogPage, home) as page:
        menu = TrayMenu(page.context, TrayActions(page.context, lambda *_: None), page.page.show, page.page.close)
        page.have(pins=(pin("R&D", state="prefilling"), pin("other", tokens=10)))

        def progress(done: int) -> None:
            page.store.running.pin_progress(
                manage.PinProgressEvent(name="R&D", done=done, total=100, seconds_left=None)
            )
            page.store.progress_changed.emit()

        progress(10)
        menu.popup(menu.pos())
        entry = action_of(menu, "R&&D")
        menu.setActiveAction(entry)
        progress(55)
        assert entry.text() == "R&&D - prefilling 55 %" and menu.activeAction() is entry
        page.have(pins=(pin("new"), pin("R&D", state="warm")))
        page.say(ServiceState.FAILED)
        assert entry.text().startswith("R&&D - warm") and menu.activeAction() is entry
        assert menu.actions()[0].text() == "Pinfill: failed"
        menu.close()
        menu.deleteLater()


def test_what_was_copied_is_told_but_for_the_key_itself(qtbot: QtBot, home: Path) -> None:
    with english(), shown(qtbot, LogPage, home) as page:
        actions = TrayActions(page.context, lambda *_: None)
        actions.copy_endpoint()
        actions.copy_key()
        assert page.told[0] == ("Copied", "Programs reach the service at http://127.0.0.1:7463/v1.")
        assert page.told[1][0] == "Copied" and "a-key" not in page.told[1][1]
        assert QGuiApplication.clipboard().text() == "a-key"


def test_the_keys_of_the_list_of_pages_stay_there(qtbot: QtBot, home: Path) -> None:
    with not_started(home) as made:
        made.window.show()
        (pages,) = made.window.findChildren(QListWidget)
        pages.setFocus()
        for _ in range(2):
            QTest.keyClick(pages, Qt.Key.Key_Down)
            assert made.window.focusWidget() is pages
        assert isinstance(made.window.page, SettingsPage)
        first = pages.visualItemRect(pages.item(0)).center()
        QTest.mouseClick(pages.viewport(), Qt.MouseButton.LeftButton, pos=first)
        page = made.window.page
        assert isinstance(page, LogPage) and made.window.focusWidget() is page.view  # its rows can be walked along


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("where there has to be a folder")
    home = tmp_path / "file" / "home"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PINFILL_HOME": str(home)}
    command = [sys.executable, "-m", "pinfill_app", "--minimised"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, encoding="utf-8") as refused:
        errors = refused.communicate(timeout=LIMIT_MILLISECONDS / 1000)[1]
    assert refused.returncode == 1 and "Traceback" not in errors, errors
    assert "error: Pinfill cannot start: " in errors and str(home) in errors

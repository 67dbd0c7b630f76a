"""The whole application on a real service with a tiny model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListWidget, QMenu
from pytestqt.qtbot import QtBot

from pinfill_app.application import PinfillApplication
from pinfill_app.discovery import running_service
from pinfill_app.failure import Failure
from pinfill_app.plan import make_plan
from pinfill_app.service_state import ServiceState
from pinfill_app.supervision_limits import Limits
from pinfill_app.tray_actions import TrayActions
from pinfill_app.tray_menu import TrayMenu
from pinfill_app.windows.log_page import LogPage
from pinfill_app.windows.models_page import ModelsPage
from pinfill_app.windows.page import Page
from pinfill_app.windows.settings_page import SettingsPage
from pinfill_service.api.schemas import manage
from pinfill_service.api.schemas.manage import Pin, PinCreate
from tests.support.desktop import LIMIT_MILLISECONDS, QUICK, is_alive, scripted, unused_port
from tests.support.models import LLAMA
from tests.support.pages import english, shown, status
from tests.support.prefixes import entry
from tests.support.sample_service import models

CALM = Limits(probe=500, first_probe=50)
TEXT = "A rubric. " * 20


class HomePage(Page):
    """Remembers what it was shown with."""

    NAME, ICON = "prefixes", "prefixes"
    hints: dict[str, object] | None = None

    @classmethod
    def title(cls) -> str:
        return "Prefixes"

    def shown(self, **hints: object) -> None:
        self.hints = hints


class OtherPage(HomePage):
    NAME, ICON = "models", "models"


@pytest.fixture
def real(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINFILL_MODEL", str(LLAMA))
    monkeypatch.setenv("PINFILL_PORT", str(unused_port()))
    monkeypatch.setenv("PINFILL_API_KEY", "a-key-for-tests")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, sys.path)))  # the service has its own folder


@pytest.fixture
def application(qtbot: QtBot, home: Path) -> Iterator[PinfillApplication]:
    made = PinfillApplication(home, lambda: make_plan("info"), CALM, [HomePage, OtherPage])
    yield made
    made.quit()
    qtbot.waitUntil(lambda: made.supervisor.state is ServiceState.STOPPED, timeout=LIMIT_MILLISECONDS)
    made.window.deleteLater()
    made.menu.deleteLater()
    made.deleteLater()


def texts(menu: QMenu) -> list[str]:
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def action(menu: QMenu, begins: str) -> QAction:
    return next(each for each in menu.actions() if each.text().startswith(begins))


def submenu(menu: QMenu, begins: str) -> QMenu:
    (action,) = (action for action in menu.actions() if action.text().startswith(begins))
    found = action.menu()
    assert isinstance(found, QMenu)
    return found


@pytest.mark.usefixtures("real")
def test_a_pin_is_made_used_and_seen_in_the_menu(qtbot: QtBot, home: Path, application: PinfillApplication) -> None:
    def until(condition: object) -> None:
        assert callable(condition)
        qtbot.waitUntil(condition, timeout=LIMIT_MILLISECONDS)

    store, menu, answers = application.store, application.menu, list[Pin | Failure]()
    assert texts(menu)[:2] == ["Pinfill: stopped", "Open Pinfill"]
    application.start(minimised=False)
    until(lambda: store.status is not None and bool(store.models))
    assert "Nothing pinned yet" in texts(menu) and LLAMA.name in texts(menu)[1]

    pin = PinCreate(name="rubric", text=TEXT)
    application.client.post(Pin, "pins", body=pin, done=answers.append)
    until(lambda: [pin.state for pin in store.pins] == ["warm"])
    assert isinstance(answers[0], Pin)
    body = {"model": f"{LLAMA.name}@rubric", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 2}
    headers = {"x-api-key": "a-key-for-tests", "user-agent": "agent/1"}
    url = f"{application.client.url}/v1/chat/completions"
    assert httpx.post(url, json=body, headers=headers, trust_env=False, timeout=60).status_code == 200
    until(lambda: [request.pin for request in store.requests] == ["rubric"] and store.pins[0].hits == 1)
    assert store.requests[0].cached_tokens == store.pins[0].tokens
    until(lambda: store.savings is not None and store.savings.total.requests == 1)
    until(lambda: store.status is not None and store.status.pins == {"warm": 1})

    shown = texts(menu)
    assert any(text.startswith("rubric - warm") for text in shown) and "Restart service" in shown
    assert shown[-1] == "Quit" and any(
        store.requests[0].client in text.text() for text in submenu(menu, "Pin last").actions()
    )
    submenu(menu, "rubric").actions()[0].trigger()
    assert QApplication.clipboard().text() == f"{LLAMA.name}@rubric"

    (log,) = home.glob("service.log")
    assert "Uvicorn" in log.read_text() or "Started server process" in log.read_text()
    application.supervisor.restart()
    until(lambda: application.supervisor.state is ServiceState.RESTARTING)
    assert "Copy endpoint" not in texts(menu)
    until(lambda: [pin.name for pin in store.pins] == ["rubric"])


@pytest.mark.usefixtures("real")
def test_a_service_without_its_model_says_so_in_the_window(
    qtbot: QtBot, application: PinfillApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINFILL_MODEL", "not-there")
    application.start(minimised=False)
    qtbot.waitUntil(lambda: "problems" in application.window.notices.texts, timeout=LIMIT_MILLISECONDS)
    assert "pinfill models pull not-there" in application.window.notices.texts["problems"]
    assert "No model is loaded" in texts(application.menu)
    assert application.supervisor.state is ServiceState.READY


def test_a_model_that_only_has_to_be_fetched_is_no_failure(qtbot: QtBot, home: Path) -> None:
    made = PinfillApplication(home, scripted(home), QUICK, [HomePage])
    here, away = models()
    problem = manage.Problem(kind="model", message=f"The model {away.name} is not on this machine. Get it with: ...")
    made.store.status = status(None).model_copy(update={"problems": [problem]})
    made.store.models = (here, away)
    made.store.status_changed.emit()
    assert "problems" not in made.window.notices.texts
    assert made.window.notices.texts["model"].startswith(f"{away.name} is not on this machine yet.")
    made.store.models = (here, away.model_copy(update={"installed": True}))  # and could not be loaded, then
    made.store.models_changed.emit()
    assert made.window.notices.texts["problems"] == problem.message and "model" not in made.window.notices.texts
    made.window.deleteLater()
    made.menu.deleteLater()
    made.deleteLater()


def test_what_is_evicted_is_counted_once_and_not_while_it_is_used(qtbot: QtBot, home: Path) -> None:
    asked: list[str] = []
    with english(), shown(qtbot, LogPage, home) as page:
        actions = TrayActions(page.context, lambda question, yes, act, /: asked.append(question))
        menu = TrayMenu(page.context, actions, page.page.show, page.page.close)
        used = entry("1", "one", in_use=True)
        page.have(entries=(used,))
        assert "Evict unpinned..." in texts(menu) and not action(menu, "Evict").isEnabled()
        page.have(
            entries=(used, entry("2", "two", memory_bytes=200_000_000), entry("3", "3", memory_bytes=200_000_000))
        )
        menu.aboutToShow.emit()
        action(menu, "Evict").trigger()
        assert "Evict 2 unpinned prefixes, 230 MB?" in asked[0]  # which is all that is cached
        menu.deleteLater()


def test_without_a_tray_the_window_is_the_application(qtbot: QtBot, home: Path) -> None:
    made = PinfillApplication(home, scripted(home), QUICK, [HomePage])
    made.start(minimised=False)
    assert made.window.isVisible() and "tray" in made.window.notices.texts
    qtbot.waitUntil(lambda: made.supervisor.state is ServiceState.READY, timeout=LIMIT_MILLISECONDS)
    made.window.close()
    qtbot.waitUntil(lambda: made.supervisor.state is ServiceState.STOPPED, timeout=LIMIT_MILLISECONDS)
    made.window.deleteLater()


def test_a_page_is_shown_with_its_hints(qtbot: QtBot, home: Path) -> None:
    made = PinfillApplication(home, scripted(home), QUICK, [HomePage, OtherPage])
    first, other = made.window._pages
    assert isinstance(first, HomePage) and isinstance(other, OtherPage)
    assert made.window.page is first and first.hints == {}
    made.window.show_page("models", look="here")
    assert made.window.page is other and other.hints == {"look": "here"} and made.window.isVisible()
    made.window.closed.disconnect()
    made.window.close()
    assert not made.window.isVisible()  # it hides: by default the tray is the application
    with pytest.raises(KeyError):
        made.window.show_page("nothing")
    made.window.deleteLater()


def test_the_keys_of_the_list_of_pages_stay_there(qtbot: QtBot, home: Path) -> None:
    made = PinfillApplication(home, scripted(home), QUICK, [LogPage, ModelsPage, SettingsPage])
    made.window.show()
    (pages,) = made.window.findChildren(QListWidget)
    pages.setFocus()
    for _ in range(2):
        QTest.keyClick(pages, Qt.Key.Key_Down)
        assert made.window.focusWidget() is pages
    assert isinstance(made.window.page, SettingsPage)
    click_at = pages.visualItemRect(pages.item(0)).center()
    QTest.mouseClick(pages.viewport(), Qt.MouseButton.LeftButton, pos=click_at)
    page = made.window.page
    assert isinstance(page, LogPage) and made.window.focusWidget() is page.view  # its rows can be walked along
    made.window.deleteLater()
    made.menu.deleteLater()
    made.deleteLater()


def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PINFILL_HOME": str(home)}
    command = [sys.executable, "-m", "pinfill_app", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.usefixtures("real")
def test_one_application_and_no_service_that_outlives_it(qtbot: QtBot, home: Path) -> None:
    with start(home, "--minimised") as first:
        qtbot.waitUntil(lambda: running_service(home) is not None, timeout=LIMIT_MILLISECONDS)
        service = running_service(home)
        assert service is not None
        with start(home) as second:
            assert second.wait(LIMIT_MILLISECONDS / 1000) == 0
        first.send_signal(signal.SIGTERM)
        errors = first.communicate(timeout=LIMIT_MILLISECONDS / 1000)[1]
        assert first.returncode == 0 and "Traceback" not in errors, errors
        assert not is_alive(service.pid)
    with start(home, "--minimised") as killed:  # what the first one left behind stops nobody
        qtbot.waitUntil(lambda: running_service(home) is not None, timeout=LIMIT_MILLISECONDS)
        service = running_service(home)
        assert service is not None
        killed.kill()
        killed.communicate()
        qtbot.waitUntil(lambda: not is_alive(service.pid), timeout=LIMIT_MILLISECONDS)


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("where there has to be a folder")
    home = tmp_path / "file" / "home"
    with start(home, "--minimised") as refused:
        errors = refused.communicate(timeout=LIMIT_MILLISECONDS / 1000)[1]
    assert refused.returncode == 1 and "Traceback" not in errors, errors
    assert "error: Pinfill cannot start: " in errors and str(home) in errors


def test_the_application_brings_neither_numpy_nor_the_engine_into_its_process() -> None:
    check = "import sys, pinfill_app.application; print({'numpy', 'onnxruntime', 'fastapi', 'httpx'} & {*sys.modules})"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", check], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"

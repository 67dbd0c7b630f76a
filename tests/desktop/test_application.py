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
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from pinfill_app.application import PinfillApplication
from pinfill_app.discovery import running_service
from pinfill_app.failure import Failure
from pinfill_app.plan import make_plan
from pinfill_app.service_state import ServiceState
from pinfill_app.supervision_limits import Limits
from pinfill_app.windows.page import Page
from pinfill_service.api.schemas.manage import Pin, PinCreate
from tests.support.desktop import LIMIT_MILLISECONDS, QUICK, is_alive, scripted, unused_port
from tests.support.models import LLAMA

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


def test_the_application_brings_neither_numpy_nor_the_engine_into_its_process() -> None:
    check = "import sys, pinfill_app.application; print({'numpy', 'onnxruntime', 'fastapi', 'httpx'} & {*sys.modules})"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", check], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"

"""Starting at login, being the only one, and telling people what happened."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket
from pytestqt.qtbot import QtBot

from pinfill_app.autostart import AutostartError, start_command, xdg
from pinfill_app.client import Client
from pinfill_app.commands import Commands, Output
from pinfill_app.failure import Failure
from pinfill_app.notifications import Notifications
from pinfill_app.service_state import ServiceState
from pinfill_app.settings import AppSettings
from pinfill_app.single_instance import SingleInstance
from pinfill_app.state import Store
from pinfill_app.supervisor import Supervisor
from pinfill_service.api.schemas.manage import ModelStateEvent, PinStateEvent
from tests.support.desktop import LIMIT_MILLISECONDS, QUICK, scripted
from tests.support.small_disk import small_disk

HAIL = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from pinfill_app.single_instance import SingleInstance
application = QCoreApplication([])
instance = SingleInstance(Path(sys.argv[1]))
print(instance.acquire(), instance.hail(show=sys.argv[2] == "show"))
"""


@pytest.fixture
def autostart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> xdg.DesktopFile:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return xdg.DesktopFile()


def test_the_entry_runs_the_application_whatever_the_path_holds(
    autostart: xdg.DesktopFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ['/opt/a b/$HOME `x` "y" 100%/python', "-m", "pinfill_app", "back\\slash"]
    monkeypatch.setattr(xdg, "start_command", lambda: command)
    assert not autostart.is_on()
    autostart.turn_on()
    assert autostart.is_on()
    (line,) = (line for line in autostart.path.read_text().splitlines() if line.startswith("Exec="))
    value = line.removeprefix("Exec=").replace("\\\\", "\\").replace("%%", "%")
    assert shlex.split(value.replace("\\`", "`").replace("\\$", "$")) == command
    autostart.turn_off()
    autostart.turn_off()
    assert not autostart.is_on() and list(autostart.path.parent.iterdir()) == []


def test_the_same_folder_is_used_after_a_login(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = [sys.executable, "-P", "-m", "pinfill_app", "--minimised"]
    monkeypatch.chdir(home.parent)
    monkeypatch.setenv("PINFILL_HOME", "home")  # from where the terminal was
    assert start_command() == [*program, "--folder", str(home)]
    monkeypatch.delenv("PINFILL_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert start_command() == [*program, "--folder", str(tmp_path / "data" / "pinfill")]
    monkeypatch.delenv("XDG_DATA_HOME")
    assert start_command() == program


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled = false"])
def test_what_the_desktop_turned_off_is_off(autostart: xdg.DesktopFile, line: str) -> None:
    autostart.turn_on()
    with autostart.path.open("a") as file:
        file.write(line + "\n")
    assert not autostart.is_on()


def test_a_folder_that_cannot_be_written_is_told(autostart: xdg.DesktopFile) -> None:
    autostart.path.parent.parent.mkdir()
    autostart.path.parent.write_text("not a folder")
    with pytest.raises(AutostartError, match="cannot be written"):
        autostart.turn_on()
    assert not autostart.is_on()


@pytest.mark.parametrize("how", ["show", "quiet"])
def test_a_second_start_asks_the_first_one(qtbot: QtBot, home: Path, how: str) -> None:
    first = SingleInstance(home)
    raised: list[bool] = []
    first.raised.connect(lambda: raised.append(True))
    assert first.acquire()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    second = subprocess.Popen([sys.executable, "-c", HAIL, home, how], env=environment, stdout=subprocess.PIPE)
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=LIMIT_MILLISECONDS)
    assert second.communicate()[0] == b"False True\n"
    assert raised == ([True] if how == "show" else [])
    first.release()
    third = SingleInstance(home)
    assert third.acquire()
    third.release()


END = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from pinfill_app.single_instance import SingleInstance
application = QCoreApplication([])
print(SingleInstance(Path(sys.argv[1])).end_first(int(sys.argv[2])).name)
"""


def test_who_asks_for_the_end_is_told_whether_it_came(qtbot: QtBot, home: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    def asked(milliseconds: int) -> str:
        asks = subprocess.Popen(
            [sys.executable, "-c", END, home, str(milliseconds)], env=environment, stdout=subprocess.PIPE
        )
        qtbot.waitUntil(lambda: asks.poll() is not None, timeout=LIMIT_MILLISECONDS)
        return asks.communicate()[0].decode().strip()

    assert asked(LIMIT_MILLISECONDS) == "NOT_RUNNING"
    first = SingleInstance(home)
    assert first.acquire()
    with qtbot.waitSignal(first.quit_asked, timeout=LIMIT_MILLISECONDS):
        assert asked(1) == "STAYS"
    first.quit_asked.connect(first.deleteLater)  # its connections end with it, as with its process
    assert asked(LIMIT_MILLISECONDS) == "ENDED"


@pytest.mark.skipif(os.name == "nt", reason="the socket is a file on POSIX")
def test_only_the_same_user_can_ask(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    first = SingleInstance(home)
    assert first.acquire()
    (socket,) = tmp_path.glob("pinfill-*")
    assert stat.S_IMODE(socket.stat().st_mode) == 0o700
    first.release()


@pytest.mark.parametrize("trouble", ["full", "read-only"])
def test_a_folder_without_room_is_not_taken_for_a_first_one(tmp_path: Path, trouble: str) -> None:
    with small_disk(tmp_path, 256) as disk:
        disk.fill() if trouble == "full" else disk.set_read_only(True)
        with pytest.raises(OSError, match=r"app\.lock cannot be written"):
            SingleInstance(tmp_path).acquire()


def test_who_connects_and_says_nothing_or_nonsense_harms_nobody(qtbot: QtBot, home: Path) -> None:
    first = SingleInstance(home)
    assert first.acquire()
    raised: list[bool] = []
    first.raised.connect(lambda: raised.append(True))
    silent, loud, right = QLocalSocket(), QLocalSocket(), QLocalSocket()
    for socket, said in ((silent, b""), (loud, b"x" * 10_000 + b"\n"), (right, b"show\n")):
        socket.connectToServer(first._name)
        socket.write(said)
    qtbot.waitUntil(lambda: raised == [True], timeout=LIMIT_MILLISECONDS)
    first.release()


def test_people_are_told_once_and_only_what_they_waited_for(qtbot: QtBot, home: Path) -> None:
    told: list[tuple[str, str]] = []
    store, supervisor, settings = Store(Client()), Supervisor(scripted(home), QUICK), AppSettings(home)
    Notifications(store, supervisor, settings, lambda *words: told.append(words))

    def pin(state: str | None, reason: str | None = None) -> None:
        store.pin_state_changed.emit(PinStateEvent.model_validate({"name": "p", "state": state, "reason": reason}))

    pin("warm")  # it came back from disk: nobody waited
    pin("prefilling")
    pin("warm")
    pin("stale", "a.md changed")
    pin(None)
    store.model_state_changed.emit(ModelStateEvent(name="m", state="failed", message="no memory"))
    store.problem_reported.emit("The disk is full.")
    for _ in range(2):
        supervisor._set(ServiceState.FAILED, "why\nlines of the log")
        supervisor.state_changed.emit()
    qtbot.waitUntil(lambda: len(told) == 5, timeout=LIMIT_MILLISECONDS)
    assert [title for title, _ in told] == [
        "p is warm", "m failed", "Pinfill has a problem", "The service failed", "p is stale",
    ]  # fmt: skip
    assert told[4][1] == "a.md changed" and told[3][1] == "why"
    settings.notifications = False
    store.problem_reported.emit("The disk is full.")
    assert len(told) == 5


def test_many_pins_that_become_stale_at_once_are_told_once(qtbot: QtBot, home: Path) -> None:
    told: list[tuple[str, str]] = []
    store = Store(Client())
    supervisor = Supervisor(scripted(home), QUICK)
    Notifications(store, supervisor, AppSettings(home), lambda *words: told.append(words))
    for name in ("a", "b", "c"):
        reason = "It was made for another model."
        store.pin_state_changed.emit(PinStateEvent(name=name, state="stale", reason=reason))
    store.pin_state_changed.emit(PinStateEvent(name="d", state="failed", reason="no room"))
    qtbot.waitUntil(lambda: len(told) == 2, timeout=LIMIT_MILLISECONDS)
    assert told == [("3 pins are stale", "a: It was made for another model."), ("d failed", "no room")]


def test_a_command_tells_its_output_or_its_own_words(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, sys.path)))
    client = Client()
    client.connect_to("http://127.0.0.1:1", "the-key")
    commands, outcomes = Commands(client), list[Output | Failure]()
    commands.run("key", done=outcomes.append)
    qtbot.waitUntil(lambda: len(outcomes) == 1, timeout=LIMIT_MILLISECONDS)
    commands.run("models", "show", "--", "-absent", done=outcomes.append)
    qtbot.waitUntil(lambda: len(outcomes) == 2, timeout=LIMIT_MILLISECONDS)
    monkeypatch.setattr(sys, "executable", str(home / "absent"))
    commands.run("key", done=outcomes.append)
    qtbot.waitUntil(lambda: len(outcomes) == 3, timeout=LIMIT_MILLISECONDS)
    good, bad, none = outcomes
    assert good == Output("the-key\n")
    assert isinstance(bad, Failure) and "-absent" in bad.message and not bad.message.startswith("error")
    assert bad.code == "invalid_model_name"
    assert isinstance(none, Failure) and "cannot be started" in none.message

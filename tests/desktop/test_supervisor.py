"""The supervisor and a real child process: the scripted service, which misbehaves."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from pinfill_app.discovery import running_service
from pinfill_app.log_tail import Level, read_on
from pinfill_app.service_state import ServiceState
from pinfill_app.service_words import service_words
from tests.support.desktop import (
    KEY,
    LIMIT_MILLISECONDS,
    QUICK,
    another,
    is_alive,
    scripted,
    starts,
    supervising,
    unused_port,
)

READY, FAILED, STOPPED = ServiceState.READY, ServiceState.FAILED, ServiceState.STOPPED
posix_only = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def test_a_service_is_started_and_stopped_in_order(qtbot: QtBot, home: Path) -> None:
    make_plan = scripted(home)
    with supervising(qtbot, make_plan) as watched:
        watched.until(READY)
        supervisor = watched.supervisor
        assert supervisor.is_owner and supervisor.url == f"http://127.0.0.1:{make_plan().port}"
        assert watched.said == [("connected", supervisor.url, KEY)]
        supervisor.set_busy(True)
        assert supervisor.state is ServiceState.BUSY
        supervisor.set_busy(False)
        (pid,) = starts(home)
        assert is_alive(pid)
    assert not is_alive(pid) and running_service(home) is None
    assert watched.states[0] is ServiceState.STARTING and watched.states[-1] is STOPPED
    assert KEY not in (home / "service.log").read_text()


def test_a_slow_start_is_told_as_loading(qtbot: QtBot, home: Path) -> None:
    with supervising(qtbot, scripted(home, "slow")) as watched:
        watched.until(ServiceState.LOADING)
        (home / "go").touch()
        watched.until(READY)
    assert watched.states == [ServiceState.STARTING, ServiceState.LOADING, READY, STOPPED]


def test_a_crash_is_followed_by_a_restart(qtbot: QtBot, home: Path) -> None:
    with supervising(qtbot, scripted(home, "brief", "normal")) as watched:
        watched.until(READY)
        (home / "crash").touch()
        watched.until(ServiceState.RESTARTING)
        assert "exit code 7" in watched.supervisor.message
        watched.until(READY)
        errors = [line.text for line in read_on(home, None)[0] if line.level is Level.ERROR]
        assert errors[0].endswith(" ERROR pinfill_app: It ended with exit code 7.")
        assert [said[0] for said in watched.said] == ["connected", "disconnected", "connected"]
    assert len(starts(home)) == 2


def test_a_crash_loop_ends_with_what_was_said_last(qtbot: QtBot, home: Path) -> None:
    with supervising(qtbot, scripted(home, "crash")) as watched:
        watched.until(FAILED)
        assert len(starts(home)) == 1 + len(QUICK.restarts)
        message = watched.supervisor.message
        assert "3 times" in message and "exit code 3" in message and "this start: crash" in message
        watched.supervisor.restart()  # a person may try again, with all the restarts there are
        watched.until(ServiceState.RESTARTING)
        watched.until(FAILED)
        assert len(starts(home)) == 2 * (1 + len(QUICK.restarts))


@posix_only
def test_a_killed_service_is_told_by_its_signal(qtbot: QtBot, home: Path) -> None:
    with supervising(qtbot, scripted(home, "killed")) as watched:
        watched.until(FAILED)
        assert "SIGKILL" in watched.supervisor.message


def test_a_refusal_is_not_tried_again(qtbot: QtBot, home: Path) -> None:
    with supervising(qtbot, scripted(home, "refuse")) as watched:
        watched.until(FAILED)
        assert watched.supervisor.message == "There is no such thing. Make one."
    assert len(starts(home)) == 1


def test_a_program_that_is_not_there(qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(home / "absent"))
    with supervising(qtbot, scripted(home)) as watched:
        watched.until(FAILED)
        assert "cannot be started" in watched.supervisor.message


def test_a_hung_service_is_killed_and_started_again(qtbot: QtBot, home: Path) -> None:
    with supervising(qtbot, scripted(home, "hang", "normal")) as watched:
        watched.until(ServiceState.RESTARTING)
        assert "did not answer" in watched.supervisor.message
        watched.until(READY)
        first, second = starts(home)
        assert not is_alive(first) and is_alive(second)


@posix_only
def test_a_silent_service_is_told_before_it_counts_as_hung(qtbot: QtBot, home: Path) -> None:
    with supervising(qtbot, scripted(home), replace(QUICK, answer=200, misses=10_000)) as watched:
        watched.until(READY)
        supervisor, (pid,) = watched.supervisor, starts(home)
        os.kill(pid, signal.SIGSTOP)
        qtbot.waitUntil(lambda: supervisor.is_silent, timeout=LIMIT_MILLISECONDS)
        assert service_words(supervisor).startswith("does not answer, restart by ")
        assert supervisor.given_up_at > time.time() and supervisor.state is READY
        os.kill(pid, signal.SIGCONT)
        qtbot.waitUntil(lambda: not supervisor.is_silent, timeout=LIMIT_MILLISECONDS)
        assert service_words(supervisor) == "ready" and starts(home) == [pid]


def test_one_that_does_not_listen_is_killed(qtbot: QtBot, home: Path) -> None:
    with supervising(qtbot, scripted(home, "deaf")) as watched:
        watched.until(READY)
        (pid,) = starts(home)
    assert not is_alive(pid)


def test_a_port_that_a_stranger_has_is_left_to_it(qtbot: QtBot, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        taken = stranger.getsockname()[1]
        with supervising(qtbot, scripted(home, port=taken)) as watched:
            watched.until(READY)
            watched.until_said("port")
            (said,) = (said for said in watched.said if said[0] == "port")
            assert said[1] == taken != said[2] and watched.supervisor.url.endswith(f":{said[2]}")
            if sys.platform.startswith("linux"):
                assert f"process {os.getpid()}" in str(said[3])


def test_a_running_service_is_used_and_left_running(qtbot: QtBot, home: Path) -> None:
    with another(home) as other:
        qtbot.waitUntil(lambda: running_service(home) is not None, timeout=LIMIT_MILLISECONDS)
        with supervising(qtbot, scripted(home)) as watched:
            watched.until(READY)
            found = running_service(home)
            assert found is not None and watched.supervisor.url.endswith(f":{found.port}")
            assert not watched.supervisor.is_owner
        assert other.poll() is None and starts(home) == [other.pid]
        other.terminate()


def test_a_running_service_that_ends_is_not_started_again(qtbot: QtBot, home: Path) -> None:
    with another(home) as other:
        qtbot.waitUntil(lambda: running_service(home) is not None, timeout=LIMIT_MILLISECONDS)
        with supervising(qtbot, scripted(home)) as watched:
            watched.until(READY)
            other.terminate()
            other.wait()
            watched.until(STOPPED)
            assert "ended" in watched.supervisor.message
            watched.supervisor.start()
            watched.until(READY)
            assert watched.supervisor.is_owner


@posix_only
def test_a_running_service_that_hangs_is_used_again_when_it_recovers(qtbot: QtBot, home: Path) -> None:
    with another(home) as other:
        qtbot.waitUntil(lambda: running_service(home) is not None, timeout=LIMIT_MILLISECONDS)
        with supervising(qtbot, scripted(home)) as watched:
            watched.until(READY)
            other.send_signal(signal.SIGSTOP)
            watched.until(FAILED)
            other.send_signal(signal.SIGCONT)
            watched.until(READY)
            assert not watched.supervisor.is_owner and watched.said[-1][0] == "connected"
        other.terminate()


def test_a_running_service_that_is_restarted_elsewhere_is_used_again(qtbot: QtBot, home: Path) -> None:
    port = unused_port()
    with another(home, port=port) as first:
        qtbot.waitUntil(lambda: running_service(home) is not None, timeout=LIMIT_MILLISECONDS)
        with supervising(qtbot, scripted(home)) as watched:
            watched.until(READY)
            first.terminate()
            first.wait()
            watched.until(STOPPED)
            with another(home, port=port) as second:
                watched.until(READY)
                assert not watched.supervisor.is_owner and len(starts(home)) == 2
                second.terminate()


def test_another_version_is_told_and_replaced_when_a_person_wants_it(qtbot: QtBot, home: Path) -> None:
    with another(home, "old") as other:
        qtbot.waitUntil(lambda: running_service(home) is not None, timeout=LIMIT_MILLISECONDS)
        with supervising(qtbot, scripted(home, "old", "normal")) as watched:
            watched.until_said("version", "0.0.1")
            watched.supervisor.restart()
            other.wait()
            watched.until(READY)
            assert watched.supervisor.is_owner and len(starts(home)) == 2


@pytest.mark.parametrize(("behaviour", "key", "words"), [("stranger", KEY, "not Pinfill"), ("normal", "x", "key")])
def test_a_service_that_cannot_be_used_is_told(qtbot: QtBot, home: Path, behaviour: str, key: str, words: str) -> None:
    with another(home, behaviour, key) as other:
        qtbot.waitUntil(lambda: running_service(home) is not None, timeout=LIMIT_MILLISECONDS)
        with supervising(qtbot, scripted(home)) as watched:
            watched.until(FAILED)
            assert words in watched.supervisor.message
        other.terminate()


def test_what_a_dead_service_left_behind_stops_nobody(qtbot: QtBot, home: Path) -> None:
    sleeper = [sys.executable, "-c", "input()"]
    (home / "service.json").write_text(f'{{"pid": {os.getpid()}, "port": {unused_port()}}}')
    os.utime(home / "service.json", (1, 1))  # written long before this process began
    with subprocess.Popen(sleeper, stdin=subprocess.PIPE) as innocent:
        assert running_service(home) is None
        with supervising(qtbot, scripted(home)) as watched:
            watched.until(READY)
            assert watched.supervisor.is_owner
        assert innocent.poll() is None
        innocent.kill()


def test_settings_that_cannot_be_read_are_told(qtbot: QtBot, home: Path) -> None:
    from pinfill_app.plan import make_plan

    (home / "settings.toml").write_text("port = 'secret-words'")
    with supervising(qtbot, lambda: make_plan("info")) as watched:
        watched.until(FAILED)
        assert "port" in watched.supervisor.message and "secret-words" not in watched.supervisor.message
        (home / "settings.toml").write_text("port = ")
        watched.supervisor.restart()
        qtbot.waitUntil(lambda: "settings.toml cannot be read" in watched.supervisor.message)


ORPHAN = """
import os, signal, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from pinfill_app.supervisor import Supervisor
from tests.support.desktop import scripted
application = QCoreApplication([])
supervisor = Supervisor(scripted(Path(sys.argv[1]), "normal"))
supervisor.connected.connect(lambda *_: os.kill(os.getpid(), signal.SIGKILL))
supervisor.start()
application.exec()
"""


@posix_only
def test_no_orphan_is_left_when_the_application_is_killed(qtbot: QtBot, home: Path) -> None:
    paths = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-c", ORPHAN, home], env=os.environ | {"PYTHONPATH": paths}, check=False)
    assert done.returncode == -signal.SIGKILL
    (pid,) = starts(home)
    qtbot.waitUntil(lambda: not is_alive(pid), timeout=LIMIT_MILLISECONDS)

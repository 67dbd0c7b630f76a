"""The supervisor beside a service that systemd is to run: a scripted systemctl, and a real child process."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from pinfill_app import user_unit
from pinfill_app.service_state import ServiceState
from pinfill_app.user_unit import UserUnit
from tests.support.desktop import LIMIT_MILLISECONDS, QUICK, another, scripted, starts, supervising

SYSTEMCTL = """#!/bin/sh
echo "$*" >>"{folder}/calls"
case $2 in
is-active) echo {active}; [ {active} = active ] ;;
is-enabled) echo {enabled}; [ {enabled} = enabled ] ;;
start) exit {start} ;;
esac
"""
PATIENT = replace(QUICK, unit=LIMIT_MILLISECONDS)
pytestmark = pytest.mark.skipif(os.name == "nt", reason="systemd is Linux's")


def systemctl(folder: Path, active: str, enabled: str, start: int = 0) -> UserUnit:
    program = folder / "systemctl"
    program.write_text(SYSTEMCTL.format(folder=folder, active=active, enabled=enabled, start=start))
    program.chmod(0o700)
    return UserUnit(str(program))


def calls(folder: Path) -> list[str]:
    """The words it was called with, but for --user and the unit."""
    file = folder / "calls"
    lines = file.read_text().splitlines() if file.exists() else []
    assert all(line.startswith("--user ") and line.endswith(" pinfill.service") for line in lines)
    return [" ".join(line.split()[1:-1]) for line in lines]


@pytest.mark.parametrize(
    ("active", "enabled", "asked"),
    [
        ("activating", "enabled", ["is-active"]),
        ("active", "disabled", ["is-active"]),  # a person has started it
        ("inactive", "enabled", ["is-active", "is-enabled", "start --no-block"]),
        ("failed", "enabled-runtime", ["is-active", "is-enabled", "start --no-block"]),
    ],
)
def test_a_unit_that_is_wanted_is_waited_for(
    qtbot: QtBot, home: Path, tmp_path: Path, active: str, enabled: str, asked: list[str]
) -> None:
    unit = systemctl(tmp_path, active, enabled)
    with supervising(qtbot, scripted(home), PATIENT, unit) as watched:
        qtbot.waitUntil(lambda: calls(tmp_path) == asked, timeout=LIMIT_MILLISECONDS)
        with another(home) as systemds:
            watched.until(ServiceState.READY)
            assert not watched.supervisor.is_owner and starts(home) == [systemds.pid]
            assert ("unit failed",) not in watched.said
            systemds.terminate()


@pytest.mark.parametrize("enabled", ["disabled", "masked", "static", "''"])
def test_a_unit_that_nobody_wants_is_left_alone(qtbot: QtBot, home: Path, tmp_path: Path, enabled: str) -> None:
    with supervising(qtbot, scripted(home), PATIENT, systemctl(tmp_path, "inactive", enabled)) as watched:
        watched.until(ServiceState.READY)
        assert watched.supervisor.is_owner and ("unit failed",) not in watched.said
    assert calls(tmp_path) == ["is-active", "is-enabled"]


@pytest.mark.parametrize(("start", "limit"), [(0, 100), (1, LIMIT_MILLISECONDS)], ids=["never comes", "refused"])
def test_one_that_does_not_come_is_told_and_replaced(
    qtbot: QtBot, home: Path, tmp_path: Path, start: int, limit: int
) -> None:
    unit = systemctl(tmp_path, "inactive", "enabled", start)
    with supervising(qtbot, scripted(home, "brief", "normal"), replace(QUICK, unit=limit), unit) as watched:
        watched.until(ServiceState.READY)
        assert watched.supervisor.is_owner and watched.said[0] == ("unit failed",)
        asked = calls(tmp_path)
        (home / "crash").touch()
        qtbot.waitUntil(lambda: len(starts(home)) == 2, timeout=LIMIT_MILLISECONDS)
        watched.until(ServiceState.READY)
        assert calls(tmp_path) == asked  # a crash is no reason to wait for it once more


def test_a_systemctl_that_hangs_is_not_waited_for(
    qtbot: QtBot, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_unit, "ANSWER_SECONDS", 0.1)
    (tmp_path / "systemctl").write_text("#!/bin/sh\nexec sleep 3600\n")
    (tmp_path / "systemctl").chmod(0o700)
    with supervising(qtbot, scripted(home), PATIENT, UserUnit(str(tmp_path / "systemctl"))) as watched:
        watched.until(ServiceState.READY)
        assert watched.supervisor.is_owner and watched.said[0] == ("unit failed",)


def test_it_ends_while_a_unit_is_waited_for(qtbot: QtBot, home: Path, tmp_path: Path) -> None:
    with supervising(qtbot, scripted(home), PATIENT, systemctl(tmp_path, "activating", "enabled")) as watched:
        qtbot.waitUntil(lambda: watched.supervisor._unit.is_waiting, timeout=LIMIT_MILLISECONDS)
        watched.stop()
        assert not watched.supervisor._unit.is_waiting and not (home / "starts").exists()


def test_only_the_folder_of_the_unit_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    systemctl(tmp_path, "active", "enabled")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert UserUnit.find() is None  # PINFILL_HOME is set
    monkeypatch.delenv("PINFILL_HOME")
    monkeypatch.setattr(user_unit.sys, "platform", "linux")
    assert UserUnit.find() is not None
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    assert UserUnit.find() is None

"""What tests of the application share: plans for the scripted service, and waiting for what a supervisor does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from pytestqt.qtbot import QtBot

import pinfill_service
from pinfill_app.plan import Plan
from pinfill_app.service_state import ServiceState
from pinfill_app.supervision_limits import Limits
from pinfill_app.supervisor import Supervisor
from pinfill_app.user_unit import UserUnit
from tests.support import fake_service

LIMIT_MILLISECONDS = 30_000
KEY = "a-key-for-tests"
QUICK = Limits(probe=100, first_probe=50, answer=1_500, misses=2, stop=2_000, restarts=(20, 40), steady=60_000)
SERVICE = str(Path(pinfill_service.__file__).parents[1])


@dataclass(frozen=True, slots=True)
class ScriptedPlan(Plan):
    """Starts the scripted service instead of the real one."""

    behaviours: tuple[str, ...] = ("normal",)

    def command(self, port: int) -> list[str]:
        return [sys.executable, fake_service.__file__, "--port", str(port), *self.behaviours]

    def environment(self) -> dict[str, str]:
        paths = os.pathsep.join((SERVICE, *filter(None, [os.environ.get("PYTHONPATH")])))
        return {"PYTHONPATH": paths, "PINFILL_HOME": str(self.home), "PINFILL_API_KEY": self.key or ""}


def scripted(home: Path, *behaviours: str, port: int | None = None, key: str = KEY) -> Callable[[], ScriptedPlan]:
    plan = ScriptedPlan(home, "127.0.0.1", port or unused_port(), key, None, behaviours=behaviours or ("normal",))
    return lambda: plan


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Watched:
    """A supervisor, everything it has said, and an end in order."""

    def __init__(
        self, qtbot: QtBot, make_plan: Callable[[], Plan], limits: Limits, unit: UserUnit | None = None
    ) -> None:
        self._qtbot = qtbot
        self.supervisor = Supervisor(make_plan, limits, unit=unit)
        self.states: list[ServiceState] = []
        self.said: list[tuple[object, ...]] = []
        self.supervisor.state_changed.connect(self._on_state)
        self.supervisor.connected.connect(lambda url, key: self.said.append(("connected", url, key)))
        self.supervisor.disconnected.connect(lambda: self.said.append(("disconnected",)))
        self.supervisor.port_changed.connect(lambda *ports: self.said.append(("port", *ports)))
        self.supervisor.other_version_found.connect(lambda version: self.said.append(("version", version)))
        self.supervisor.unit_failed.connect(lambda: self.said.append(("unit failed",)))
        self.supervisor.stopped.connect(lambda: self.said.append(("stopped",)))

    def _on_state(self) -> None:
        if self.states[-1:] != [self.supervisor.state]:
            self.states.append(self.supervisor.state)

    def until(self, state: ServiceState) -> None:
        self._qtbot.waitUntil(lambda: self.supervisor.state is state, timeout=LIMIT_MILLISECONDS)

    def until_said(self, *words: object) -> None:
        self._qtbot.waitUntil(
            lambda: any(said[: len(words)] == words for said in self.said), timeout=LIMIT_MILLISECONDS
        )

    def stop(self) -> None:
        self.said.clear()
        self.supervisor.stop()
        self.until_said("stopped")


@contextmanager
def supervising(
    qtbot: QtBot, make_plan: Callable[[], Plan], limits: Limits = QUICK, unit: UserUnit | None = None
) -> Iterator[Watched]:
    """A started supervisor, stopped at the end."""
    watched = Watched(qtbot, make_plan, limits, unit)
    watched.supervisor.start()
    try:
        yield watched
    finally:
        watched.stop()
        watched.supervisor.deleteLater()


def another(home: Path, behaviour: str = "normal", key: str = KEY, port: int | None = None) -> subprocess.Popen[bytes]:
    """A service that somebody else has started."""
    plan = scripted(home, behaviour, key=key, port=port)()
    environment = os.environ | plan.environment()
    return subprocess.Popen(plan.command(plan.port), env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)


def starts(home: Path) -> list[int]:
    """The process ids of all starts of the scripted service."""
    return [int(line) for line in (home / "starts").read_text().split()]


def is_alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE

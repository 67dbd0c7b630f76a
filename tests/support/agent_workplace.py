"""A place where a real coding agent works against the service: its turns, and what they asked."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import pinfill_service
from pinfill_service.pins.content import common_length
from tests.support.agent_engines import FOUND, REPLY
from tests.support.agent_programs import program_folder, run_alone
from tests.support.agent_scenarios import Scenario
from tests.support.client import AUTH, KEY
from tests.support.fake_engine import FakeEngine
from tests.support.server import serving

LIMIT_SECONDS = 20
PROJECT = Path("user", "project")
NOTES = PROJECT / "notes.txt"


@dataclass(frozen=True)
class Turn:
    """What one run of an agent asked: the requests that hold its whole conversation, and all others."""

    main: list[dict[str, Any]]
    side: list[dict[str, Any]]


class Workplace:
    """A user's folder, and a service for everything that runs there."""

    def __init__(self, folder: Path, scenario: Scenario, url: str, service: Path, engine: Any, seconds: float) -> None:
        self.scenario, self.url, self.engine = scenario, url, engine
        self._service, self._seconds = service, seconds
        self._seen = self._earlier = len(self._requests())
        self._root: list[int] = []  # the prompt of the first turn
        self.user, self.project = folder / "user", folder / PROJECT
        self.project.mkdir(parents=True, exist_ok=True)
        (folder / NOTES).write_text(f"{FOUND}\n")
        for name, text in scenario.files.items():
            (self.user / name).parent.mkdir(parents=True, exist_ok=True)
            (self.user / name).write_text(text)
        paths = [str(Path(pinfill_service.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        self._environment = {
            "PATH": f"{program_folder(scenario.name)}:/usr/bin:/bin",
            "HOME": str(self.user),
            "TERM": "xterm",
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PINFILL_HOME": str(folder / "pinfill"),
            "PINFILL_PORT": url.rpartition(":")[2],
            "PINFILL_API_KEY": KEY,
            **scenario.environment,
        }

    def launch(self, *arguments: str) -> Turn:
        """A turn of the agent, started by Pinfill."""
        return self._turn([*_pinfill(), "launch", self.scenario.name, "--", *arguments])

    def run(self, *arguments: str) -> Turn:
        """A turn of the agent by itself."""
        return self._turn([self.scenario.name, *arguments])

    def pinfill(self, *arguments: str) -> None:
        self._run([*_pinfill(), *arguments])

    def pin_beginning(self, request: dict[str, Any]) -> None:
        """Pins what stands before the first message of a request: system prompt and tools."""
        with httpx.Client(base_url=f"{self.url}/pinfill/v1", headers=AUTH, timeout=self._seconds) as http:
            segments = [each["label"] for each in http.get(f"/requests/{request['id']}").json()["segments"]]
            last = [label for label in segments if label in ("system", "tools")][-1]
            answer = http.post("/pins", json={"name": "beginning", "request_id": request["id"], "up_to": last})
            assert answer.status_code == 201, answer.text

    def _turn(self, command: list[str]) -> Turn:
        shown = self._run(command)
        requests = self._new_requests()
        if isinstance(self.engine, FakeEngine):
            assert REPLY in shown
        assert requests and all(each["error"] is None for each in requests)
        main = [each for each in requests if self._is_main(each)]
        side = [each for each in requests if each not in main]
        assert {each["route"] for each in main} == {self.scenario.route}
        assert {each["finish_reason"] for each in main} <= {"stop", "tool_calls"}
        # a program that has its answer does not always wait for a title
        assert {each["finish_reason"] for each in side} <= {"stop", "cancelled"}
        return Turn(main, side)

    def _is_main(self, request: dict[str, Any]) -> bool:
        """Whether a request continues the conversation, and is none for a title, a memory or a summary."""
        prompts = {len(each.prompt): each.prompt for each in self.engine.requests}
        self._root = self._root or list(prompts[max(prompts)])
        return common_length(list(prompts[request["prompt_tokens"]]), self._root) > len(self._root) // 2

    def _run(self, command: list[str]) -> str:
        port = int(self.url.rpartition(":")[2])
        done = run_alone(command, self._service, port, self._environment, self.project, self._seconds)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def _new_requests(self) -> list[dict[str, Any]]:
        """What was asked since the last time, in order, once the service has written all of it down."""
        end = time.monotonic() + LIMIT_SECONDS
        while True:
            requests = self._requests()
            if len(requests) == self._earlier + len(self.engine.requests):
                new, self._seen = requests[self._seen :], len(requests)
                return new
            assert time.monotonic() < end, "a request was never written down"
            time.sleep(0.05)

    def _requests(self) -> list[dict[str, Any]]:
        """All that are remembered, the oldest first."""
        answer = httpx.get(f"{self.url}/pinfill/v1/requests", params={"limit": 1000}, headers=AUTH)
        requests: list[dict[str, Any]] = answer.json()["requests"][::-1]
        return requests


def _pinfill() -> list[str]:
    return [sys.executable, "-m", "pinfill_service.cli"]


@contextmanager
def workplace(
    folder: Path, scenario: Scenario, text: Any, engine: Any, seconds: float, *, home: Path | None = None, **flags: Any
) -> Iterator[Workplace]:
    """Where an agent works in `folder`, new or used before. `home` and `flags` are those of `serving`."""
    program_folder(scenario.name)  # skips before anything is started
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        (folder / "service").unlink(missing_ok=True)
        listener.bind(str(folder / "service"))
        listener.listen()
        url = stack.enter_context(serving(engine, text, home=home, also=[listener], **flags))
        yield Workplace(folder, scenario, url, folder / "service", engine, seconds)

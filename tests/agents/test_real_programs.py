"""The real coding agents, as they come from npm, started by `pinfill launch` or connected by `pinfill connect`.

Each of them has a first turn, goes on, and uses a tool: it ends well, asks nothing twice, and from its second turn on
only what is new is prefilled. A scripted model reuses prefixes as the real one would; with PINFILL_TEST_AGENTS=1 the
real one runs too, which takes minutes.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

import pinfill_service
from pinfill_service.commands.local_service import load_model
from pinfill_service.models.gguf_import import convert_gguf
from pinfill_service.pins.content import common_length
from pinfill_service.prompt.text_model import load_text_model
from pinfill_service.settings import Settings
from tests.support.agent_engines import ASKS_FOR_TOOL, FOUND, REPLY, BriefEngine, ToolCall, scripted_engine
from tests.support.agent_programs import program_folder, run_alone
from tests.support.client import AUTH, KEY
from tests.support.default_model import default_model
from tests.support.fake_engine import FakeEngine
from tests.support.gemma import gemma_gguf
from tests.support.server import serving

LIMIT_SECONDS = 20
TURN_SECONDS = 90  # a scripted turn takes a few
REAL_TURN_SECONDS = 400
CONTEXT = 65_536
NEW_SHARE = 0.05  # of the first turn's prompt, that a later turn may process
PROJECT = Path("user", "project")
NOTES = PROJECT / "notes.txt"
SETTINGS = (".json", ".jsonc", ".yaml", ".toml")


@dataclass(frozen=True)
class Scenario:
    """One agent: how it is told something, first and later, and how its model calls a tool that reads the notes.

    `files` are settings of the user's that keep it quiet and let it use tools, below the user's folder.
    """

    name: str
    route: str
    first: tuple[str, ...]
    later: tuple[str, ...]
    call: ToolCall
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


SCENARIOS = {
    "claude": Scenario(
        "claude",
        "/v1/messages",
        ("-p",),
        ("-p", "-c"),
        ToolCall("Read", "file_path", "{path}"),
        {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1"},
    ),
    "goose": Scenario(
        "goose",
        "/v1/chat/completions",
        ("run", "-t"),
        ("run", "-r", "-t"),
        ToolCall("shell", "command", "cat {path}"),
        {"GOOSE_DISABLE_KEYRING": "1", "GOOSE_MODE": "auto"},
        {".config/goose/config.yaml": "GOOSE_TELEMETRY_ENABLED: false\n"},
    ),
    "codex": Scenario(
        "codex",
        "/v1/responses",
        ("exec", "--skip-git-repo-check"),
        ("exec", "resume", "--skip-git-repo-check", "--last"),
        ToolCall("exec_command", "cmd", "cat {path}"),
        files={
            ".codex/config.toml": 'check_for_update_on_startup = false\nsandbox_mode = "danger-full-access"\n'
            "\n[analytics]\nenabled = false\n"
        },
    ),
    "opencode": Scenario(
        "opencode",
        "/v1/chat/completions",
        ("run",),
        ("run", "-c"),
        ToolCall("read", "filePath", "{path}"),
        {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        },
        {".config/opencode/opencode.json": json.dumps({"permission": {"*": "allow"}})},
    ),
    "qwen": Scenario(
        "qwen",
        "/v1/chat/completions",
        ("-p",),
        ("-c", "-p"),
        ToolCall("read_file", "file_path", "{path}"),
        files={
            ".qwen/settings.json": json.dumps(
                {"privacy": {"usageStatisticsEnabled": False}, "general": {"disableAutoUpdate": True}}
            )
        },
    ),
}


@dataclass(frozen=True)
class Turn:
    """What one run of an agent asked: the requests that hold its whole conversation, and all others."""

    main: list[dict[str, Any]]
    side: list[dict[str, Any]]


class Workplace:
    """A user's folder, and a service for everything that runs there."""

    def __init__(self, folder: Path, scenario: Scenario, url: str, service: Path, engine: Any, seconds: float) -> None:
        self.scenario, self.url, self.engine = scenario, url, engine
        self._service, self._seconds, self._seen = service, seconds, 0
        self._root: list[int] = []  # the prompt of the first turn
        self.user, self.project = folder / "user", folder / PROJECT
        self.project.mkdir(parents=True)
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

    def _turn(self, command: list[str]) -> Turn:
        shown = self._run(command)
        requests = self._new_requests()
        if isinstance(self.engine, FakeEngine):
            assert REPLY in shown
        assert requests and all(each["error"] is None for each in requests)
        assert all(each["finish_reason"] in ("stop", "tool_calls") for each in requests)
        main = [each for each in requests if self._is_main(each)]
        assert {each["route"] for each in main} == {self.scenario.route}
        return Turn(main, [each for each in requests if each not in main])

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
            answer = httpx.get(f"{self.url}/pinfill/v1/requests", params={"limit": 1000}, headers=AUTH)
            requests: list[dict[str, Any]] = answer.json()["requests"][::-1]
            if len(requests) == len(self.engine.requests):
                new, self._seen = requests[self._seen :], len(requests)
                return new
            assert time.monotonic() < end, "a request was never written down"
            time.sleep(0.05)


def _pinfill() -> list[str]:
    return [sys.executable, "-m", "pinfill_service.cli"]


@contextmanager
def workplace(folder: Path, scenario: Scenario, text: Any, engine: Any, seconds: float) -> Iterator[Workplace]:
    program_folder(scenario.name)  # skips before anything is started
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(folder / "service"))
        listener.listen()
        url = stack.enter_context(serving(engine, text, also=[listener]))
        yield Workplace(folder, scenario, url, folder / "service", engine, seconds)


def check_turns(place: Workplace) -> int:
    """A first turn and the next, which processes only what is new. Each asks once. Returns the first one's tokens.

    The numbers are printed: pytest -rP shows them.
    """
    first = place.launch(*place.scenario.first, "hi")
    assert len(first.main) == 1
    prompt: int = first.main[0]["prompt_tokens"]
    following = place.launch(*place.scenario.later, "cool")
    assert len(following.main) == 1
    for name, turn in (("first", first), ("next", following)):
        numbers = ("prompt_tokens", "cached_tokens", "prefill_seconds", "ttft_seconds")
        print(name, *(f"{number} {turn.main[0][number]}" for number in numbers))
    assert following.main[0]["processed_tokens"] < NEW_SHARE * prompt
    return prompt


each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


@each_scenario
def test_turns_of_a_real_agent(tmp_path: Path, scenario: Scenario) -> None:
    text = load_text_model(default_model())
    engine = scripted_engine(text, scenario.call.text(tmp_path / NOTES), context_length=CONTEXT)
    with workplace(tmp_path, scenario, text, engine, TURN_SECONDS) as place:
        prompt = check_turns(place)
        tool = place.launch(*scenario.later, ASKS_FOR_TOOL)
        assert len(tool.main) == 2, "one that is answered by a call, one with what the tool told"
        assert all(each["processed_tokens"] < NEW_SHARE * prompt for each in tool.main)
        assert any(FOUND in text.tokenizer.decode(request.prompt) for request in engine.requests), "the tool was used"


@each_scenario
def test_a_connected_agent_finds_the_service_by_itself(tmp_path: Path, scenario: Scenario) -> None:
    text = load_text_model(default_model())
    engine = scripted_engine(text, scenario.call.text(tmp_path / NOTES), context_length=CONTEXT)
    with workplace(tmp_path, scenario, text, engine, TURN_SECONDS) as place:
        place.pinfill("connect", scenario.name, "--yes")
        turn = place.run(*scenario.first, "hi")
        assert len(turn.main) == 1 and turn.main[0]["model"] == "scripted"
        place.pinfill("connect", scenario.name, "--undo", "--yes")
        assert not [path for path in place.user.rglob("*") if path.suffix in SETTINGS and KEY in path.read_text()]
        assert all((place.user / name).exists() for name in scenario.files)


@pytest.mark.skipif(os.environ.get("PINFILL_TEST_AGENTS") != "1", reason="minutes: PINFILL_TEST_AGENTS=1 runs it")
@pytest.mark.parametrize("name", SCENARIOS)
def test_turns_on_a_real_model(tmp_path: Path, name: str) -> None:
    """The default model where its 8,192 tokens are enough, Gemma for the others: opencode would summarise forever."""
    folder = default_model() if name == "goose" else tmp_path / "gemma"
    if not folder.exists():
        folder.mkdir()
        convert_gguf(gemma_gguf(), folder)
    engine, text = load_model(
        Settings.from_flags(model=str(folder), slots=4, memory_budget_mib=2048, disk_budget_mib=0)
    )
    with workplace(tmp_path, SCENARIOS[name], text, BriefEngine(engine, tokens=16), REAL_TURN_SECONDS) as place:
        check_turns(place)

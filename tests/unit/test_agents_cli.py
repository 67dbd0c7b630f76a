"""pinfill launch and pinfill connect: against a running service, with programs that tell what they were given."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

import pinfill_service
from pinfill_service import cli
from pinfill_service.agents import LOCAL_AGENTS, programs
from pinfill_service.agents.agent import MASK, LocalAgent
from pinfill_service.commands.remote import NOT_RUNNING
from tests.support.client import AUTH, KEY
from tests.support.command_line import CommandLine, assert_told
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.models import llama_text
from tests.support.server import serving

LIMIT_SECONDS = 30
CONTEXT = 4_096
each_agent = pytest.mark.parametrize("agent", LOCAL_AGENTS, ids=lambda agent: agent.name)
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs of these tests are scripts with a first line")

# Tells its arguments, its environment, and what is in the files that are named there, then ends as it is told.
TELLS = """
import json, os, signal, sys, pathlib
names = [*sys.argv[1:], *os.environ.values()]
files = {name: pathlib.Path(name) for name in names if name.endswith(".json") and os.path.isfile(name)}
print(json.dumps({
    "arguments": sys.argv[1:],
    "environment": dict(os.environ),
    "files": {name: [path.read_text(), path.stat().st_mode & 0o777] for name, path in files.items()},
}), flush=True)
if (wanted := os.environ.get("END")) == "signal":
    os.kill(os.getpid(), signal.SIGKILL)
elif wanted == "wait":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(8))
    print("waiting", flush=True)
    signal.pause()
sys.exit(int(wanted or 0))
"""


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with an empty PATH but for one program folder, and nothing of this machine's settings."""
    for name in [name for name in os.environ if name.startswith("PINFILL_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "QWEN_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "pinfill"))
    monkeypatch.setenv("PINFILL_API_KEY", KEY)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("COLUMNS", "250")
    (tmp_path / "user").mkdir()
    (tmp_path / "bin").mkdir()
    return tmp_path


@pytest.fixture
def service(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    engine = FakeEngine(Reply([5, 6, 7]), context_length=CONTEXT, name="tiny")
    with serving(engine, llama_text(), home=desk / "service") as url:
        monkeypatch.setenv("PINFILL_PORT", url.rpartition(":")[2])
        yield url


@pytest.fixture
def pinfill(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


def install(desk: Path, agent: LocalAgent) -> None:
    program = desk / "bin" / agent.program
    program.write_text(f"#!{sys.executable}{TELLS}")
    program.chmod(0o755)


def launch(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """`pinfill launch` as a process: its output is the program's."""
    paths = [str(Path(pinfill_service.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "pinfill_service.cli", "launch", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def told(desk: Path, agent: LocalAgent, *arguments: str, **environment: str) -> dict[str, Any]:
    install(desk, agent)
    with launch(agent.name, *arguments, **environment) as process:
        out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.parametrize("command", ["launch", "connect"])
def test_both_commands_have_help(command: str) -> None:
    shown = CliRunner().invoke(cli.app, [command, "--help"])
    assert shown.exit_code == 0 and all(agent.name in shown.output for agent in LOCAL_AGENTS)


@each_agent
def test_an_agent_is_started_with_everything_and_its_key_is_on_no_command_line(
    desk: Path, service: str, agent: LocalAgent
) -> None:
    found = told(desk, agent, "--", "run", "-t", "two words")
    everything = json.dumps(found)
    for part in (service, KEY, "tiny", str(CONTEXT)):
        assert part in everything
    assert found["arguments"][-3:] == ["run", "-t", "two words"]
    assert not any(KEY in argument for argument in found["arguments"])
    assert all(mode == 0o600 for _, mode in found["files"].values())
    assert not any(Path(name).exists() for name in found["files"]), "temporary files are gone"


@each_agent
def test_an_agent_that_is_not_installed_is_told_with_how_to_get_it(
    pinfill: CommandLine, service: str, agent: LocalAgent
) -> None:
    assert_told(pinfill("launch", agent.name), "is not installed", agent.install_hint)


def test_others_variables_do_not_lead_elsewhere(desk: Path, service: str) -> None:
    claude = LOCAL_AGENTS[0]
    found = told(desk, claude, ANTHROPIC_API_KEY="real", CLAUDE_CODE_USE_BEDROCK="1", OTHER="stays")
    assert found["environment"].get("OTHER") == "stays"
    assert not {"ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK"} & found["environment"].keys()


def test_a_proxy_does_not_stand_between_the_agent_and_the_service(desk: Path, service: str) -> None:
    found = told(desk, LOCAL_AGENTS[1], HTTPS_PROXY="http://127.0.0.1:1", NO_PROXY="intern")
    assert found["environment"]["NO_PROXY"].split(",")[:2] == ["intern", "127.0.0.1"]


def test_a_pin_is_put_in_front_and_must_be_there(desk: Path, pinfill: CommandLine, service: str) -> None:
    body = {"name": "rubric", "text": "Rate the text from one to five."}
    made = httpx.post(f"{service}/pinfill/v1/pins", json=body, headers=AUTH)
    assert made.status_code == 201, made.text
    goose = LOCAL_AGENTS[1]
    assert told(desk, goose, "--model", "tiny@rubric")["environment"]["GOOSE_MODEL"] == "tiny@rubric"
    assert_told(pinfill("launch", "goose", "--model", "tiny@rubrik"), "rubrik")
    assert_told(pinfill("launch", "goose", "--model", "other"), "runs tiny, not other", "pinfill serve --model other")


@pytest.mark.parametrize(("end", "code"), [("0", 0), ("3", 3), ("signal", 128 + signal.SIGKILL)])
def test_the_exit_code_is_passed_on(desk: Path, service: str, end: str, code: int) -> None:
    install(desk, LOCAL_AGENTS[0])
    with launch("claude", END=end) as process:
        process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 7), (signal.SIGINT, 8)])
def test_signals_reach_the_agent_and_its_answer_counts(
    desk: Path, service: str, number: signal.Signals, code: int
) -> None:
    install(desk, LOCAL_AGENTS[0])
    with launch("claude", END="wait") as process:
        assert process.stdout is not None
        found = json.loads(process.stdout.readline())
        assert process.stdout.readline() == "waiting\n"
        if number is signal.SIGINT:  # a terminal sends it to everybody in it
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == code and "Traceback" not in err
    assert found["files"] and not any(Path(name).exists() for name in found["files"])


@each_agent
def test_print_masks_the_key_unless_it_is_asked_for(pinfill: CommandLine, service: str, agent: LocalAgent) -> None:
    for command in ("launch", "connect"):
        masked = pinfill(command, agent.name, "--print")
        assert masked.code == 0 and MASK in masked.out and KEY not in masked.out + masked.err
        assert KEY in pinfill(command, agent.name, "--print", "--show-key").out


@pytest.mark.parametrize("name", ["continue", "cline", "aider", "zed"])
def test_others_get_settings_to_paste(pinfill: CommandLine, service: str, name: str) -> None:
    shown = pinfill("connect", name, "--print", "--show-key")
    assert shown.code == 0 and all(part in shown.out for part in (service, KEY, "tiny", str(CONTEXT)))
    assert_told(pinfill("connect", name), f"pinfill connect {name} --print")
    assert_told(pinfill("launch", name), f"pinfill connect {name} --print")


def test_without_a_service_the_next_step_is_told(
    pinfill: CommandLine, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(desk, LOCAL_AGENTS[0])
    with socket.create_server(("127.0.0.1", 0)) as closed:
        monkeypatch.setenv("PINFILL_PORT", str(closed.getsockname()[1]))
    for command in (("launch", "claude"), ("connect", "claude"), ("connect", "claude", "--print")):
        assert_told(pinfill(*command), NOT_RUNNING)
    assert_told(pinfill("connect", "claude", "--undo"), "nothing to undo")


def test_an_unknown_agent_is_told(pinfill: CommandLine) -> None:
    assert_told(pinfill("launch", "clade"), "'clade'", "claude, goose, codex")
    assert_told(pinfill("connect", "clade"), "'clade'", "zed")


@each_agent
def test_connect_shows_and_writes_and_undo_takes_back(
    desk: Path, pinfill: CommandLine, service: str, agent: LocalAgent
) -> None:
    before = {path: path.read_bytes() for path in (desk / "user").rglob("*") if path.is_file()}
    shown = pinfill("connect", agent.name, "--yes")
    assert shown.code == 0 and "+++ " in shown.out and MASK in shown.out and KEY not in shown.out + shown.err
    assert f"pinfill connect {agent.name} --undo" in shown.err
    written = [path for path in (desk / "user").rglob("*") if path.is_file()]
    assert any(KEY in path.read_text() for path in written)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in written)
    again = pinfill("connect", agent.name, "--yes")
    assert again.code == 0 and "Nothing in the files changes" in again.err
    undone = pinfill("connect", agent.name, "--undo", "--yes")
    assert undone.code == 0 and KEY not in undone.out + undone.err
    assert {path: path.read_bytes() for path in (desk / "user").rglob("*") if path.is_file()} == before


def test_nothing_is_written_before_somebody_agrees(
    desk: Path, pinfill: CommandLine, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(os.devnull) as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        outcome = pinfill("connect", "codex")
    assert outcome.code == 1 and "pinfill connect codex --yes" in outcome.err and "+++ " in outcome.out
    plan = json.loads(pinfill("connect", "codex", "--json").out)
    assert (plan["agent"], plan["done"], plan["left"]) == ("codex", False, [])
    assert "base_url" in plan["files"][0]["diff"] and KEY not in json.dumps(plan)
    assert not (desk / "user" / ".codex").exists()
    assert json.loads(pinfill("connect", "codex", "--json", "--yes").out)["done"]
    assert KEY in (desk / "user" / ".codex" / "config.toml").read_text()


def test_a_context_that_is_too_small_is_told(pinfill: CommandLine, service: str) -> None:
    outcome = pinfill("connect", "claude", "--yes")
    assert outcome.code == 0 and "12,000 tokens" in outcome.err and "4,096" in outcome.err


def test_programs_are_found_and_say_their_version(desk: Path) -> None:
    agent = LOCAL_AGENTS[2]
    assert programs.find_program(agent, os.environ) is None
    program = desk / "bin" / agent.program
    program.write_text("#!/bin/sh\necho codex-cli 0.171.0\n")
    program.chmod(0o755)
    assert programs.find_program(agent, os.environ) == program
    assert programs.find_version(program) == "0.171.0"
    program.write_text("#!/bin/sh\nexit 3\n")
    assert programs.find_version(program) is None


def test_a_terminal_is_given_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    command = programs.terminal_command(LOCAL_AGENTS[0], "tiny@rubric")
    assert command[-4:] == ["launch", "claude", "--model", "tiny@rubric"] and KEY not in " ".join(command)


def test_agents_can_be_imported_without_anything_heavy() -> None:
    heavy = {"typer", "rich", "numpy", "onnxruntime", "httpx", "fastapi", "psutil"}
    modules = "pinfill_service.agents, pinfill_service.agents.connections, pinfill_service.agents.programs"
    program = f"import sys, {modules}; print(sorted({heavy!r} & sys.modules.keys()))"
    paths = [str(Path(pinfill_service.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

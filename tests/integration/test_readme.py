"""Every command of the README is run as it stands there."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pinfill_service.commands.local_service import local_service
from tests.support.default_model import default_model
from tests.support.tiny_gguf import TinyLlama

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = "\n".join(re.findall(r"```console\n(.*?)```", README, re.DOTALL))
COMMANDS = [line[2:] for line in BLOCKS.splitlines() if line.startswith("$ ")]
LIMIT_SECONDS = 600
SERVED = (
    "pin",
    "pins",
    "unpin",
    "doctor",
    "savings",
    "status",
    "entries",
    "evict",
    "rules",
)  # they ask a running service
AGENTS = ("launch", "connect")  # they ask it too, and run programs


def run(command: str, folder: Path, **environment: str) -> str:
    """The command's output; `pinfill` is this Python's."""
    words = shlex.split(command)
    if words[0] == "pinfill":
        words[:1] = [sys.executable, "-m", "pinfill_service.cli"]
    variables = os.environ | {"PINFILL_API_KEY": "a-key-for-tests"} | environment
    done = subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_dev(command: str, folder: Path) -> None:
    output = run(f"{command} -- --requests 2 --cold-requests 1", ROOT)
    assert "2 ratings" in output and "equal" in output


def run_tests(command: str, folder: Path) -> None:
    """It would run this test again; what counts is that CI runs the very same command."""
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()


def run_list(command: str, folder: Path) -> None:
    assert "smollm2-135m" in run(command, folder)


def run_key(command: str, folder: Path) -> None:
    assert run(command, folder).strip() == "a-key-for-tests"


def run_serve(command: str, folder: Path) -> None:
    """Started on a free port, asked to stop when it says where it is."""
    default_model()
    words = [sys.executable, "-m", "pinfill_service.cli", *shlex.split(command)[1:]]
    variables = os.environ | {"PINFILL_API_KEY": "a-key-for-tests", "PINFILL_PORT": "0"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables) as server:
        assert server.stdout is not None
        lines = []
        for line in server.stdout:
            lines.append(line)
            if "http://127.0.0.1:" in line:
                server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0, "".join(lines)


def run_batch(command: str, folder: Path) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2}
    line = {"custom_id": "one", "method": "POST", "url": "/v1/chat/completions", "body": body}
    (folder / "requests.jsonl").write_text(json.dumps(line) + "\n")
    run(command, folder)
    (answer,) = (json.loads(text) for text in (folder / "answers.jsonl").read_text().splitlines())
    assert answer["custom_id"] == "one" and answer["response"]["status_code"] == 200


def run_import(command: str, folder: Path) -> None:
    TinyLlama().write(folder / "model.gguf")
    home = {"PINFILL_HOME": str(folder / "home")}
    run(command, folder, **home)
    assert "model" in run("pinfill models list", folder, **home)


def run_show(command: str, folder: Path) -> None:
    home = {"PINFILL_HOME": str(folder / "home")}
    TinyLlama().write(folder / "model.gguf")
    run("pinfill models import model.gguf", folder, **home)
    assert "appends in place" in run(command, folder, **home)


def run_found(command: str, folder: Path) -> None:
    """The folders of other programs are looked for in the user's home, which is empty here."""
    run(command, folder, HOME=str(folder), USERPROFILE=str(folder))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the files the README names, beside the home of a running service."""
    folder = tmp_path_factory.mktemp("served")
    TinyLlama().write(folder / "model.gguf")
    (folder / "rubric.md").write_text((ROOT / "resources" / "samples" / "essay-rubric.md").read_text()[:40])
    for name, clock in (("one", "10:40"), ("two", "10:41")):
        messages = [{"role": "system", "content": f"It is {clock}."}, {"role": "user", "content": "Hi"}]
        (folder / f"{name}.json").write_text(json.dumps({"messages": messages}))
    home = {"PINFILL_HOME": str(folder / "home")}
    run("pinfill models import model.gguf", folder, **home)
    words = [sys.executable, "-m", "pinfill_service.cli", "serve", "--port", "0", "--model", "model"]
    variables = os.environ | home | {"PINFILL_API_KEY": "a-key-for-tests"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables) as server:
        assert server.stdout is not None
        assert any("http://127.0.0.1:" in line for line in server.stdout)
        yield folder
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


ABOUT_AGENTS = [command for command in COMMANDS if command.split()[1] in AGENTS]
PINNING = [command for command in COMMANDS if command.split()[1] in SERVED]


def test_the_commands_about_pins_one_after_the_other(served: Path) -> None:
    """In the order of the README; each finds what the ones before it made."""
    home = {"PINFILL_HOME": str(served / "home")}
    outputs = {command: run(command, served, **home) for command in PINNING}
    assert "model@rubric" in outputs["pinfill pin rubric.md"]
    assert "warm" in outputs["pinfill pins"]
    assert "equal to a cold run" in outputs["pinfill pins verify rubric"]
    assert "rubric" in outputs["pinfill entries"]
    assert "claude-billing-header" in outputs["pinfill rules"]
    assert "1 warm" in outputs["pinfill status"]
    assert "date or time" in outputs["pinfill doctor one.json two.json"]
    assert json.loads(run("pinfill pins --json", served, **home)) == {"pins": []}


def test_the_commands_about_agents_one_after_the_other(served: Path) -> None:
    """The agents are stand-ins that tell how they were called; `connect` asks nobody."""
    programs = served / "bin"
    programs.mkdir()
    for name in ("goose", "claude", "codex"):
        (programs / name).write_text('#!/bin/sh\necho "$(basename "$0") was given: $*"\n')
        (programs / name).chmod(0o755)
    home = {"PINFILL_HOME": str(served / "home"), "HOME": str(served), "PATH": f"{programs}:{os.environ['PATH']}"}
    unasked = {command: f"{command} --yes" if "connect" in command else command for command in ABOUT_AGENTS}
    outputs = {command: run(unasked[command], served, **home) for command in ABOUT_AGENTS}
    assert "goose was given" in outputs["pinfill launch goose"]
    (claude,) = (output for command, output in outputs.items() if "launch claude" in command)
    assert "What does this repository do?" in claude
    assert "a-key-for-tests" not in "".join(outputs.values())
    assert not (served / ".codex" / "config.toml").exists(), "connected and undone"


RUNNERS: dict[str, Callable[[str, Path], None]] = {
    "python3 installers/dev.py run": run_dev,
    "python3 installers/dev.py test": run_tests,
    "pinfill models list": run_list,
    "pinfill serve": run_serve,
    "pinfill key": run_key,
    "pinfill batch requests.jsonl answers.jsonl": run_batch,
    "pinfill models found": run_found,
    "pinfill models import model.gguf": run_import,
    "pinfill models show model": run_show,
}


@pytest.mark.parametrize("command", [each for each in COMMANDS if each not in {*PINNING, *ABOUT_AGENTS}])
def test_a_command_of_the_readme(command: str, tmp_path: Path) -> None:
    RUNNERS[command](command, tmp_path)


def test_the_readme_has_commands_and_nothing_left_to_fill_in() -> None:
    assert len(COMMANDS) >= 7 and "@@" not in README


def test_the_python_of_the_readme() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert "max_tokens" in code  # a small model may otherwise go on to the end of its context
    with local_service(model=str(default_model()), slots=2) as service:
        code = code.replace("http://127.0.0.1:7463", service.url).replace('"the key"', repr(service.key))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            scope = {"rubric": "Rate from one to five. " * 30, "essay": "The tap."}
            exec(code, scope)
            scope["client"].close()  # type: ignore[attr-defined]
    assert re.fullmatch(r"0 of \d+ tokens were there already\n", printed.getvalue())

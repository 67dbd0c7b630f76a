"""The page of agents, and agents in the tray's menu."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from pinfill_app.agents_menu import AgentsMenu
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.terminals import TERMINALS, terminal_line
from pinfill_app.trial_request import TrialAnswer, TrialRequests
from pinfill_app.windows.agents_change import ChangeDialog
from pinfill_app.windows.agents_page import AgentsPage
from pinfill_service.agents import find_local_agent
from pinfill_service.agents.agent import AgentError, Endpoint
from pinfill_service.agents.connections import Connections, State
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.models import LLAMA
from tests.support.pages import Shown, english, shown, status
from tests.support.real_app import real_service

Agents = Shown[AgentsPage]
PROGRAM, CONNECTED = 1, 2  # columns
CLAUDE = find_local_agent("claude")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user whose PATH has Claude Code and nothing else."""
    programs = tmp_path / "bin"
    programs.mkdir()
    _program(programs / "claude", "exit 0")
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(programs))
    return tmp_path


@pytest.fixture
def agents(qtbot: QtBot, home: Path, machine: Path) -> Iterator[Agents]:
    with english(), shown(qtbot, AgentsPage, home) as made:
        qtbot.waitUntil(lambda: bool(made.page.desk.facts), timeout=LIMIT_MILLISECONDS)
        yield made


def _program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def words(agents: Agents, name: str) -> list[str]:
    table, row = agents.page.table, agents.page.table.row_of(name)
    assert row is not None
    return [table.data(table.index(row, column)) for column in (PROGRAM, CONNECTED)]


def dialog(qtbot: QtBot, agents: Agents) -> ChangeDialog:
    qtbot.waitUntil(lambda: bool(agents.page.findChildren(ChangeDialog)), timeout=LIMIT_MILLISECONDS)
    return agents.page.findChildren(ChangeDialog)[-1]


def state(home: Path, machine: Path) -> State:
    return Connections(home, {"HOME": str(machine)}).state(CLAUDE)


def test_what_is_here_is_shown_and_what_is_not_says_how_to_get_it(agents: Agents) -> None:
    assert words(agents, "claude") == ["found", "not connected"] and words(agents, "goose")[0] == "not found"
    assert words(agents, "zed") == ["", "to be pasted by hand"]
    assert agents.page.selected is not None and agents.page.selected.agent.name == "claude"
    acts = agents.page.acts
    assert acts.launch_action.isEnabled() and acts.write_action.isEnabled() and not acts.undo_action.isEnabled()
    agents.page.shown(select="codex")
    assert find_local_agent("codex").install_hint in agents.page.detail.words.text()
    assert not acts.launch_action.isEnabled() and acts.write_action.isEnabled()
    agents.page.shown(select="zed")
    assert not acts.write_action.isEnabled() and acts.copy_action.isEnabled()


def test_a_configuration_is_shown_written_and_undone(qtbot: QtBot, home: Path, machine: Path, agents: Agents) -> None:
    settings = machine / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"theme": "dark"}\n')
    agents.page.shown(write="claude")
    change = dialog(qtbot, agents)
    assert "ANTHROPIC_BASE_URL" in change.plan.diff and "a-key" not in change.plan.diff
    change.reject()
    assert settings.read_text() == '{"theme": "dark"}\n' and state(home, machine) is State.not_connected

    agents.page.acts.write_action.trigger()
    qtbot.waitUntil(lambda: agents.page.findChildren(ChangeDialog) not in ([], [change]), timeout=LIMIT_MILLISECONDS)
    dialog(qtbot, agents).accept()
    qtbot.waitUntil(lambda: words(agents, "claude")[1] == "connected", timeout=LIMIT_MILLISECONDS)
    told = json.loads(settings.read_text())
    assert told["theme"] == "dark" and told["env"]["ANTHROPIC_AUTH_TOKEN"] == "a-key"
    assert "smollm2-135m" in agents.page.detail.words.text()

    agents.have(status=status("another-model"))
    assert "is not loaded" in agents.page.detail.words.text()
    agents.page.acts.undo_action.trigger()
    qtbot.waitUntil(
        lambda: any(each.plan.connection is None for each in agents.page.findChildren(ChangeDialog)),
        timeout=LIMIT_MILLISECONDS,
    )
    dialog(qtbot, agents).accept()
    qtbot.waitUntil(lambda: words(agents, "claude")[1] == "not connected", timeout=LIMIT_MILLISECONDS)
    assert settings.read_text() == '{"theme": "dark"}\n'


def test_a_file_that_cannot_be_edited_is_told_in_the_page(qtbot: QtBot, machine: Path, agents: Agents) -> None:
    (machine / ".claude").mkdir()
    (machine / ".claude" / "settings.json").write_text("{not json")
    agents.page.shown(write="claude")
    qtbot.waitUntil(lambda: "agents" in agents.page.notices.texts, timeout=LIMIT_MILLISECONDS)
    assert "settings.json" in agents.page.notices.texts["agents"] and not agents.page.findChildren(ChangeDialog)


def test_settings_are_copied_with_the_key_and_shown_without(agents: Agents) -> None:
    agents.page.acts.copy_action.trigger()
    assert "a-key" in QApplication.clipboard().text()
    shown_text = agents.page.detail.settings.toPlainText()
    assert "ANTHROPIC_BASE_URL" in shown_text and "a-key" not in shown_text


def test_without_a_model_nothing_is_offered_that_needs_one(agents: Agents) -> None:
    agents.have(status=status(None))
    acts = agents.page.acts
    assert not any(action.isEnabled() for action in (acts.launch_action, acts.write_action, acts.test_action))
    assert "No model is loaded" in agents.page.detail.words.text()


def test_an_agent_is_launched_in_the_terminal_that_is_there(qtbot: QtBot, machine: Path, agents: Agents) -> None:
    agents.page.acts.launch_action.trigger()
    assert "launch claude" in agents.page.notices.texts["agents"]  # there is no terminal: what to type
    said = machine / "said"
    _program(machine / "bin" / "xterm", f'echo "$@" > "{said}.new"; /bin/mv "{said}.new" "{said}"')
    agents.page.acts.launch_action.trigger()
    assert "terminal of its own" in agents.page.notices.texts["agents"]
    qtbot.waitUntil(said.exists, timeout=LIMIT_MILLISECONDS)
    line = said.read_text()
    assert line.startswith("-e /bin/sh -c ") and "launch claude" in line and "a-key" not in line


@pytest.mark.skipif(os.name == "nt", reason="terminals of Linux")
@pytest.mark.parametrize("name", [name for name, _ in TERMINALS])
def test_a_command_arrives_in_every_terminal_whatever_it_holds(tmp_path: Path, name: str) -> None:
    _program(tmp_path / name, "exit 0")
    command = ["/opt/a b/pinfill", "launch", "it's $HOME"]
    line = terminal_line(command, {"PATH": str(tmp_path)})
    assert line is not None and line[0] == str(tmp_path / name)
    script = line[line.index("-c") + 1]
    assert script.startswith("'/opt/a b/pinfill' launch 'it'\"'\"'s $HOME' || ")
    assert terminal_line(command, {"PATH": str(tmp_path / "none")}) is None


def test_the_test_shows_what_came_back(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    monkeypatch.setattr(TrialRequests, "send", lambda self, endpoint, done: sent.append((endpoint, done)))
    acts, detail = agents.page.acts, agents.page.detail
    acts.test_action.trigger()
    assert not acts.test_action.isEnabled() and "Waiting" in detail.outcome.text()
    endpoint, done = sent[0]
    assert endpoint == Endpoint("http://127.0.0.1:7463", "a-key", "smollm2-135m", 8192)
    done(TrialAnswer(0.41, 1_880, 12, "Hello."))
    assert detail.outcome.text() == 'Answered in 0.4 s: 1,880 cached, 12 new. "Hello."' and acts.test_action.isEnabled()
    acts.test_action.trigger()
    sent[1][1](Failure(FailureKind.UNREACHABLE, "Nothing answers."))
    assert detail.outcome.text() == "The test failed. Nothing answers."


def test_agents_are_told_when_the_address_changes(qtbot: QtBot, home: Path, machine: Path, agents: Agents) -> None:
    connections = Connections(home, os.environ)
    connections.apply(connections.plan(CLAUDE, Endpoint("http://127.0.0.1:7463", "a-key", "m", 8192)))
    told: list[tuple[str, str]] = []
    context = replace(agents.context, tell=lambda *words: told.append(words))
    menu = AgentsMenu(context, agents.page)
    settings = machine / ".claude" / "settings.json"
    context.supervisor.connected.emit("http://127.0.0.1:7463", "a-key")
    before = settings.read_text()
    for url, key in (("http://127.0.0.1:7464", "a-key"), ("http://127.0.0.1:7464", "another")):
        told.clear()
        context.supervisor.connected.emit(url, key)
        qtbot.waitUntil(lambda: len(told) == 1, timeout=LIMIT_MILLISECONDS)
        assert "Claude Code" in told[0][1]
        environ = json.loads(settings.read_text())["env"]
        assert (environ["ANTHROPIC_BASE_URL"], environ["ANTHROPIC_AUTH_TOKEN"]) == (url, key)
    connections.apply(connections.plan_undo(CLAUDE))
    assert not settings.exists() and "7463" in before
    menu.deleteLater()


def test_the_trays_menu_has_every_agent(qtbot: QtBot, agents: Agents) -> None:
    menu, made = QMenu(), AgentsMenu(agents.context, agents.page)
    qtbot.addWidget(menu)
    made.fill(menu)
    qtbot.waitUntil(lambda: bool(made._desk.facts), timeout=LIMIT_MILLISECONDS)
    menu.clear()
    made.fill(menu)
    titles = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert titles == ["Claude Code", "Goose", "Codex", "opencode", "qwen-code", "All agents..."]
    claude = menu.actions()[0].menu()
    assert isinstance(claude, QMenu)
    launch, write, copy, undo = claude.actions()
    assert [action.isEnabled() for action in (launch, write, copy, undo)] == [True, True, True, False]
    write.trigger()
    assert agents.pages == [("agents", {"write": "claude"})]
    copy.trigger()
    assert "ANTHROPIC_BASE_URL" in QApplication.clipboard().text()


def test_the_record_of_connections_may_be_broken(qtbot: QtBot, home: Path, agents: Agents) -> None:
    (home / "agents").mkdir()
    (home / "agents" / "connections.json").write_text("{")
    agents.page.acts.look_action.trigger()
    qtbot.waitUntil(lambda: words(agents, "claude")[1] == "cannot be read", timeout=LIMIT_MILLISECONDS)
    assert "connections.json" in agents.page.detail.words.text()
    outcomes: list[dict[str, AgentError | None]] = []
    agents.page.desk.tell_address("http://127.0.0.1:1", None, outcomes.append)
    qtbot.waitUntil(lambda: len(outcomes) == 1, timeout=LIMIT_MILLISECONDS)
    assert all("connections.json" in str(error) for error in outcomes[0].values())


def test_a_real_service_answers_the_test(qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with real_service(qtbot, home, monkeypatch) as application:
        outcomes: list[TrialAnswer | Failure] = []
        client = application.client
        trials = TrialRequests(application)
        endpoint = Endpoint(client.url, client.key, LLAMA.name, 128)
        for _ in range(2):
            count = len(outcomes)
            trials.send(endpoint, outcomes.append)
            qtbot.waitUntil(lambda count=count: len(outcomes) > count, timeout=LIMIT_MILLISECONDS)
        cold, warm = outcomes
        assert isinstance(cold, TrialAnswer) and isinstance(warm, TrialAnswer)
        assert cold.cached_tokens == 0 < warm.processed_tokens < warm.cached_tokens
        assert cold.processed_tokens == warm.cached_tokens + warm.processed_tokens and cold.answer == warm.answer
        trials.send(Endpoint(client.url, "wrong", LLAMA.name, 128), outcomes.append)
        qtbot.waitUntil(lambda: len(outcomes) == 3, timeout=LIMIT_MILLISECONDS)
        refused = outcomes[2]
        assert isinstance(refused, Failure) and refused.kind is FailureKind.KEY_REFUSED


def test_agents_are_told_of_by_their_titles(qtbot: QtBot, agents: Agents) -> None:
    menu = AgentsMenu(agents.context)
    menu._on_told({"claude": None, "qwen": None, "codex": AgentError("no room"), "": AgentError("no folder")})
    told = agents.told
    assert told == [
        ("Agents were updated", "Their configuration has the new address of the service: Claude Code, qwen-code."),
        ("Codex still has an old address", "no room"),
        ("Agents could not be updated", "no folder"),
    ]
    menu.deleteLater()

"""Connecting agents: what is written, that nothing else changes, and that it can be taken back exactly."""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.agents import AGENTS, LOCAL_AGENTS, config_file
from pinfill_service.agents.agent import MASK, NO_KEY, AgentError, Endpoint, Format, LocalAgent
from pinfill_service.agents.codex import Codex
from pinfill_service.agents.connections import Connections, State
from pinfill_service.agents.editors import editor_of
from pinfill_service.agents.settings_text import tree_of
from tests.support.config_texts import TEXTS, comments_of, meaning_of

KEY = "the-key-that-nobody-may-see"
ENDPOINT = Endpoint("http://127.0.0.1:7463", KEY, "tiny@rubric", 65_536)
MOVED = Endpoint("http://127.0.0.1:7464", KEY, "tiny@rubric", 65_536)
each_agent = pytest.mark.parametrize("agent", LOCAL_AGENTS, ids=lambda agent: agent.name)

FOREIGN = {
    Format.json: '// mine\n{\n  "theme": "dark", // for the night\n  "env": {"A": 1,},\n  "apiKey": "foreign-key"\n}\n',
    Format.yaml: "# mine\nGOOSE_PROVIDER: openai  # for now\nextensions:\n  developer: {enabled: true}\n",
    Format.toml: '# mine\nmodel = "gpt-5"  # for now\n\n[tui]\ntheme = "dark"\n',
}


class Desk:
    """A user's folder, and Pinfill's."""

    def __init__(self, folder: Path) -> None:
        self.user = folder / "user"
        self.environ = {"HOME": str(self.user)}
        self.home = folder / "pinfill"
        self.connections = Connections(self.home, self.environ)
        self.user.mkdir()

    def connect(self, agent: LocalAgent, endpoint: Endpoint = ENDPOINT) -> str:
        plan = self.connections.plan(agent, endpoint)
        self.connections.apply(plan)
        return plan.diff

    def undo(self, agent: LocalAgent) -> list[str]:
        plan = self.connections.plan_undo(agent)
        self.connections.apply(plan)
        return list(plan.left)

    def fill(self, agent: LocalAgent, texts: dict[Format, str] = FOREIGN, mode: int = 0o644) -> None:
        for file in agent.files(ENDPOINT, self.environ):
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.path.write_bytes(texts[file.format].encode())
            file.path.chmod(mode)

    def snapshot(self) -> dict[str, tuple[int, bytes | str | None]]:
        """Everything in the user's folder: rights, and content or where a link leads."""
        found: dict[str, tuple[int, bytes | str | None]] = {}
        for path in sorted(self.user.rglob("*")):
            mode = stat.S_IMODE(path.lstat().st_mode)
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(self.user))] = mode, content
        return found

    def values(self, agent: LocalAgent, endpoint: Endpoint = ENDPOINT) -> None:
        """Checks that every file says what it is to say, to a parser that is none of ours."""
        for file in agent.files(endpoint, self.environ):
            meaning = meaning_of(file.format, file.path.read_text(encoding="utf-8-sig"))
            assert contains(meaning, tree_of(file.values)), file.path


def contains(meaning: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return bool(meaning == wanted)
    return isinstance(meaning, dict) and all(k in meaning and contains(meaning[k], v) for k, v in wanted.items())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@each_agent
def test_files_that_were_not_there_are_made_and_removed(desk: Desk, agent: LocalAgent) -> None:
    before = desk.snapshot()
    assert desk.connections.state(agent) is State.not_connected
    diff = desk.connect(agent)
    desk.values(agent)
    assert desk.connections.state(agent) is State.connected
    assert "--- /dev/null" in diff and MASK in diff and KEY not in diff
    holding = [path for path in desk.user.rglob("*") if path.is_file() and KEY in path.read_text()]
    assert holding and all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in holding)
    assert desk.undo(agent) == []
    assert desk.snapshot() == before and desk.connections.state(agent) is State.not_connected


@each_agent
def test_foreign_settings_and_comments_stay_and_undo_is_exact(desk: Desk, agent: LocalAgent) -> None:
    desk.fill(agent)
    before = desk.snapshot()
    meanings = {f.path: meaning_of(f.format, f.path.read_text()) for f in agent.files(ENDPOINT, desk.environ)}
    diff = desk.connect(agent)
    desk.values(agent)
    assert KEY not in diff and "foreign-key" not in diff
    for file in agent.files(ENDPOINT, desk.environ):
        assert comments_of(file.format, file.path.read_text()) == comments_of(file.format, FOREIGN[file.format])
        text = file.path.read_text()
        for path in file.values:
            text = editor_of(file.format).remove(text, path)
        kept = {k: v for k, v in meanings[file.path].items() if (k,) not in file.values}
        assert contains(meaning_of(file.format, text), kept)
        holds_key = KEY in file.path.read_text()
        assert stat.S_IMODE(file.path.stat().st_mode) == (0o600 if holds_key else 0o644)
    desk.undo(agent)
    assert desk.snapshot() == before


@settings(deadline=None, max_examples=60)
@given(st.data(), st.sampled_from(LOCAL_AGENTS), st.integers(0, 3))
def test_whatever_was_written_comes_back(data: st.DataObject, agent: LocalAgent, times: int) -> None:
    """Connected any number of times, with other models and addresses, and undone: as if nothing had been."""
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder))
        desk.fill(agent, {kind: data.draw(texts).text for kind, texts in TEXTS.items()})
        before = desk.snapshot()
        try:
            desk.connect(agent)
        except AgentError:  # "env" may be a number
            assert desk.snapshot() == before
            return
        for number in range(times):
            desk.connect(agent, Endpoint(f"http://127.0.0.1:{number + 1}", KEY, f"m{number}", 4096 << number))
        desk.undo(agent)
        assert desk.snapshot() == before


@settings(deadline=None, max_examples=60)
@given(st.data(), st.sampled_from(LOCAL_AGENTS), st.integers(0, 2))
def test_what_others_changed_meanwhile_stays(data: st.DataObject, agent: LocalAgent, times: int) -> None:
    """A file that was edited after connecting: the edit stays, and what Pinfill wrote becomes what it was."""
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder))
        drawn = {kind: data.draw(texts) for kind, texts in TEXTS.items()}
        desk.fill(agent, {kind: each.text for kind, each in drawn.items()})
        try:
            desk.connect(agent)
        except AgentError:
            return
        for file in agent.files(ENDPOINT, desk.environ):
            editor, text = editor_of(file.format), file.path.read_text()
            file.path.write_text(editor.write(text, ("added_later",), "1"))
        for number in range(times):
            desk.connect(agent, Endpoint("http://127.0.0.1:1", KEY, f"m{number}", 4096))
        assert desk.undo(agent) == []
        for file in agent.files(ENDPOINT, desk.environ):
            meaning = meaning_of(file.format, file.path.read_text())
            assert meaning == drawn[file.format].meaning | {"added_later": 1}
            assert comments_of(file.format, file.path.read_text()) == comments_of(file.format, drawn[file.format].text)


@each_agent
def test_a_value_that_somebody_changed_stays_and_is_named(desk: Desk, agent: LocalAgent) -> None:
    desk.fill(agent)
    desk.connect(agent)
    file = agent.files(ENDPOINT, desk.environ)[-1]
    path = next(path for path, value in file.values.items() if value in (ENDPOINT.model, f"pinfill/{ENDPOINT.model}"))
    editor = editor_of(file.format)
    file.path.write_text(editor.write(file.path.read_text(), path, editor.dump("chosen-since")))
    assert desk.connections.state(agent) is State.changed
    assert desk.connections.refresh([agent], MOVED.url, KEY) == {}, "what is not as it was written is left alone"
    assert desk.undo(agent) == [f"{file.path}: {'.'.join(path)}"]
    meaning = meaning_of(file.format, file.path.read_text())
    assert contains(meaning, tree_of({path: "chosen-since"}))
    assert KEY not in file.path.read_text()


@each_agent
def test_an_agent_that_rewrites_its_file_is_undone_all_the_same(desk: Desk, agent: LocalAgent) -> None:
    """Without comments and in another layout, as qwen-code and Goose do."""
    desk.fill(agent)
    meanings = {f.path: meaning_of(f.format, f.path.read_text()) for f in agent.files(ENDPOINT, desk.environ)}
    desk.connect(agent)
    for file in agent.files(ENDPOINT, desk.environ):
        meaning = meaning_of(file.format, file.path.read_text())
        if file.format is Format.json:
            file.path.write_text(json.dumps({**meaning, "$version": 4}, indent=4))
        elif file.format is Format.yaml:
            import yaml

            file.path.write_text(yaml.safe_dump(meaning))
    assert desk.connections.state(agent) is State.connected
    assert desk.undo(agent) == []
    for file in agent.files(ENDPOINT, desk.environ):
        meaning = meaning_of(file.format, file.path.read_text())
        meaning.pop("$version", None)
        assert meaning == meanings[file.path]


@each_agent
def test_refresh_writes_another_address(desk: Desk, agent: LocalAgent) -> None:
    desk.fill(agent)
    before = desk.snapshot()
    assert desk.connections.refresh(LOCAL_AGENTS, MOVED.url, KEY) == {}
    desk.connect(agent)
    assert desk.connections.refresh(LOCAL_AGENTS, MOVED.url, KEY) == {agent.name: None}
    desk.values(agent, MOVED)
    connection = desk.connections.connection(agent)
    assert connection is not None and connection.url == MOVED.url
    desk.undo(agent)
    assert desk.snapshot() == before


@each_agent
def test_links_windows_lines_and_marks_stay(desk: Desk, agent: LocalAgent, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    desk.fill(agent)
    for number, file in enumerate(agent.files(ENDPOINT, desk.environ)):
        real = tmp_path / "dotfiles" / f"{number}"
        real.write_bytes(b"\xef\xbb\xbf" + FOREIGN[file.format].replace("\n", "\r\n").encode())
        file.path.unlink()
        file.path.symlink_to(real)
    before = desk.snapshot()
    originals = [path.read_bytes() for path in sorted((tmp_path / "dotfiles").iterdir())]
    desk.connect(agent)
    desk.values(agent)
    for file in agent.files(ENDPOINT, desk.environ):
        data = file.path.read_bytes()
        assert file.path.is_symlink() and data.startswith(b"\xef\xbb\xbf")
        assert data.count(b"\r\n") == data.count(b"\n") > 3
    desk.undo(agent)
    assert desk.snapshot() == before
    assert [path.read_bytes() for path in sorted((tmp_path / "dotfiles").iterdir())] == originals


def test_the_record_holds_no_key_and_is_private(desk: Desk) -> None:
    for agent in LOCAL_AGENTS:
        desk.fill(agent)
        desk.connect(agent)
        desk.connect(agent, MOVED)  # what was kept of the first time is no key either
    files = [path for path in desk.home.rglob("*") if path.is_file()]
    assert files and all(KEY not in path.read_text() for path in files)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files if path.name != "lock")
    assert stat.S_IMODE((desk.home / "agents").stat().st_mode) == 0o700


def test_a_file_that_changes_after_it_was_shown_is_left_alone(desk: Desk) -> None:
    agent = Codex()
    plan = desk.connections.plan(agent, ENDPOINT)
    path = agent.files(ENDPOINT, desk.environ)[0].path
    path.parent.mkdir(parents=True)
    path.write_text("a = 1\n")
    with pytest.raises(AgentError, match="changed in the meantime"):
        desk.connections.apply(plan)
    assert path.read_text() == "a = 1\n" and desk.connections.state(agent) is State.not_connected


def test_a_crash_between_two_files_can_be_undone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = next(each for each in LOCAL_AGENTS if each.name == "goose")
    desk.fill(agent)
    before, written, write = desk.snapshot(), [], config_file.write

    def crash_at_the_second(path: Path, content: config_file.Content) -> None:
        if len(written) == 1:
            raise KeyboardInterrupt
        written.append(path)
        write(path, content)

    plan = desk.connections.plan(agent, ENDPOINT)
    monkeypatch.setattr(config_file, "write", crash_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        desk.connections.apply(plan)
    monkeypatch.setattr(config_file, "write", write)
    assert desk.snapshot() != before and desk.connections.state(agent) is State.changed
    desk.undo(agent)
    assert desk.snapshot() == before


def break_as_text(path: Path) -> None:
    path.write_text("{ [ = : not anything")


def break_as_bytes(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00")


def break_as_folder(path: Path) -> None:
    path.mkdir()


def break_as_pipe(path: Path) -> None:
    os.mkfifo(path)


def break_as_large(path: Path) -> None:
    path.write_bytes(b" " * (config_file.MAX_BYTES + 1))


@pytest.mark.parametrize("damage", [break_as_text, break_as_bytes, break_as_folder, break_as_pipe, break_as_large])
@each_agent
def test_what_cannot_be_edited_is_left_alone(desk: Desk, agent: LocalAgent, damage: Callable[[Path], None]) -> None:
    path = agent.files(ENDPOINT, desk.environ)[-1].path
    path.parent.mkdir(parents=True)
    damage(path)
    before = path.lstat()
    with pytest.raises(AgentError, match=re.escape(str(path))):
        desk.connect(agent)
    assert path.lstat() == before and desk.connections.state(agent) is State.not_connected


def test_nothing_to_undo_is_told(desk: Desk) -> None:
    with pytest.raises(AgentError, match="nothing to undo"):
        desk.undo(Codex())


def test_a_damaged_record_is_told(desk: Desk) -> None:
    desk.connect(Codex())
    (desk.home / "agents" / "connections.json").write_text("{")
    with pytest.raises(AgentError, match="Move it away"):
        desk.connections.state(Codex())


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_settings_to_paste_announce_everything(agent: Any) -> None:
    text = agent.settings_text(ENDPOINT)
    for part in (ENDPOINT.url, KEY, ENDPOINT.model, str(ENDPOINT.context_length)):
        assert part in text
    assert KEY not in agent.settings_text(ENDPOINT.masked())
    assert NO_KEY in agent.settings_text(Endpoint(ENDPOINT.url, None, "m", 4096))


def test_an_endpoint_does_not_show_its_key() -> None:
    assert KEY not in repr(ENDPOINT)
    assert all(KEY not in repr(agent.launch(ENDPOINT)) for agent in LOCAL_AGENTS)
    assert all(KEY not in repr(agent.files(ENDPOINT, {"HOME": "/x"})) for agent in LOCAL_AGENTS)


def test_claude_code_refuses_a_name_like_its_own() -> None:
    agent = LOCAL_AGENTS[0]
    with pytest.raises(AgentError, match="pinfill models import"):
        agent.launch(Endpoint(ENDPOINT.url, KEY, "claude-mine", 65_536))

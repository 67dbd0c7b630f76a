"""`pinfill uninstall-state`: all of the user's is shown and goes, nothing else, and never under a running service."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend

from pinfill_service.agents import find_local_agent
from pinfill_service.agents.agent import Endpoint
from pinfill_service.agents.connections import Connections
from pinfill_service.state_lock import state_lock
from tests.support.command_line import CommandLine, assert_told


class MemoryKeyring(KeyringBackend):
    """Holds one key."""

    priority = 1  # type: ignore[assignment]

    def __init__(self, key: str | None) -> None:
        super().__init__()
        self.key = key

    def get_password(self, service: str, username: str) -> str | None:
        return self.key if (service, username) == ("pinfill", "api-key") else None

    def set_password(self, service: str, username: str, password: str) -> None:
        raise AssertionError("makes a key")

    def delete_password(self, service: str, username: str) -> None:
        assert (service, username) == ("pinfill", "api-key")
        self.key = None


@pytest.fixture
def pinfill(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[CommandLine]:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring("a key"))
    yield CommandLine(capsys, monkeypatch)
    keyring.set_keyring(before)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder as a service leaves it, something of the user's own, and a link to a folder of models elsewhere."""
    folder = tmp_path / "home"
    with state_lock(folder, 7463):
        pass
    (folder / "models" / "tiny").mkdir(parents=True)
    (folder / "models" / "tiny" / "model.onnx").write_bytes(b"x" * 3_000)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "large").write_bytes(b"x")
    (folder / "models" / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "kv" / "0123").mkdir(parents=True)
    (folder / "kv" / "0123" / "pin.safetensors").write_bytes(b"x" * 2_000_000)
    for name in ("ledger.sqlite3", "ledger.sqlite3-wal", "settings.toml", "service.log", "service.log.1", "api-key"):
        (folder / name).write_text("x")
    (tmp_path / "config" / "autostart").mkdir(parents=True)
    (tmp_path / "config" / "autostart" / "pinfill.desktop").write_text("[Desktop Entry]\n")
    return folder


def held_key() -> str | None:
    return keyring.get_password("pinfill", "api-key")


def test_everything_is_shown_and_removed(pinfill: CommandLine, home: Path, tmp_path: Path) -> None:
    outcome = pinfill("uninstall-state", "--yes")

    assert outcome.code == 0, outcome
    shown = {line.strip().partition(":")[0] for line in outcome.out.splitlines()}
    assert {"2.0 MB  cached prefixes of pins and sessions", "-  key in the system keyring"} <= shown
    assert str(home / "models") in outcome.out
    assert not home.exists()
    assert not (tmp_path / "config" / "autostart" / "pinfill.desktop").exists()
    assert held_key() is None
    assert (tmp_path / "elsewhere" / "large").exists()


def test_a_second_time_there_is_nothing(pinfill: CommandLine, home: Path) -> None:
    pinfill("uninstall-state", "--yes")
    outcome = pinfill("uninstall-state")

    assert outcome.code == 0
    assert "There is nothing of Pinfill's" in outcome.err


def test_what_somebody_else_put_there_stays_and_is_named(pinfill: CommandLine, home: Path) -> None:
    (home / "thesis.odt").write_text("years of work")

    outcome = pinfill("uninstall-state", "--yes")

    assert [path.name for path in home.iterdir()] == ["thesis.odt"]
    assert f"not written by Pinfill: {home / 'thesis.odt'}" in outcome.out


def test_models_can_be_kept(pinfill: CommandLine, home: Path) -> None:
    outcome = pinfill("uninstall-state", "--yes", "--keep-models")

    assert outcome.code == 0
    assert [path.name for path in home.iterdir()] == ["models"]
    assert (home / "models" / "tiny" / "model.onnx").stat().st_size == 3_000


def test_without_an_answer_nothing_is_removed(pinfill: CommandLine, home: Path) -> None:
    before = sorted(home.rglob("*"))
    outcome = pinfill("uninstall-state")

    assert outcome.code == 1
    assert "pinfill uninstall-state --yes" in outcome.err
    assert sorted(home.rglob("*")) == before
    assert held_key() == "a key"


def test_json_only_shows_unless_it_is_told_to_remove(pinfill: CommandLine, home: Path) -> None:
    shown = json.loads(pinfill("uninstall-state", "--json").out)

    assert shown["removed"] is False and home.exists() and held_key() == "a key"
    sizes = {item["kind"]: item["bytes"] for item in shown["items"]}
    assert sizes["models"] == 3_000  # without what the link points to
    removed = json.loads(pinfill("uninstall-state", "--json", "--yes").out)
    assert removed == {**shown, "removed": True}
    assert not home.exists()


def test_under_a_running_service_it_refuses(pinfill: CommandLine, home: Path) -> None:
    with state_lock(home, 7463):
        before = sorted(home.rglob("*"))
        outcome = pinfill("uninstall-state", "--yes")

        assert_told(outcome, "already works on", "stop it")
        assert sorted(home.rglob("*")) == before
    assert held_key() == "a key"


def test_agents_get_back_what_was_theirs(pinfill: CommandLine, home: Path, tmp_path: Path) -> None:
    config = tmp_path / "config" / "goose" / "config.yaml"
    config.parent.mkdir()
    config.write_text("# mine\nGOOSE_PROVIDER: other\n")
    connections = Connections(home, os.environ)
    goose = find_local_agent("goose")
    connections.apply(connections.plan(goose, Endpoint("http://127.0.0.1:7463", "a key", "tiny", 8192)))
    assert config.read_text() != "# mine\nGOOSE_PROVIDER: other\n"

    outcome = pinfill("uninstall-state", "--yes")

    assert outcome.code == 0, outcome
    assert f"settings in {goose.title}: " in outcome.out and str(config) in outcome.out
    assert config.read_text() == "# mine\nGOOSE_PROVIDER: other\n"
    assert not home.exists()


def test_what_cannot_be_undone_stops_it_before_anything_is_lost(
    pinfill: CommandLine, home: Path, tmp_path: Path
) -> None:
    (home / "agents").mkdir()
    (home / "agents" / "connections.json").write_text("not JSON")

    assert_told(pinfill("uninstall-state", "--yes"), "connections.json cannot be read")
    assert (home / "ledger.sqlite3").exists() and held_key() == "a key"


def test_a_folder_of_a_newer_version_can_be_removed_too(pinfill: CommandLine, home: Path) -> None:
    (home / "state.json").write_text('{"version": 999}')

    assert pinfill("uninstall-state", "--yes").code == 0
    assert not home.exists()


def test_a_keyring_that_does_not_answer_does_not_stop_it(pinfill: CommandLine, home: Path) -> None:
    class Broken(MemoryKeyring):
        def get_password(self, service: str, username: str) -> str | None:
            raise RuntimeError("no D-Bus")

    keyring.set_keyring(Broken(None))

    assert pinfill("uninstall-state", "--yes").code == 0
    assert not home.exists()

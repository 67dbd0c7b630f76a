"""`pinfill uninstall-state`: all of the user's is shown and goes, nothing else, and never under a running service."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backends.fail
import pytest

from pinfill_service.agents import find_local_agent
from pinfill_service.agents.agent import Endpoint
from pinfill_service.agents.connections import Connections
from pinfill_service.state_lock import state_lock
from tests.support.command_line import CommandLine, assert_told
from tests.support.keyrings import LockedKeyring, MemoryKeyring, TalkativeKeyring, used


class KeptKeyring(MemoryKeyring):
    """Holds the key and the token, and takes nothing new."""

    def __init__(self) -> None:
        super().__init__({("pinfill", "api-key"): "a key", ("pinfill", "hugging-face-token"): "hf_a_token"})

    def set_password(self, service: str, username: str, password: str) -> None:
        raise AssertionError("makes a key")


@pytest.fixture
def pinfill(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[CommandLine]:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with used(KeptKeyring()):
        yield CommandLine(capsys, monkeypatch)


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
    for name in ("ledger.sqlite3", "ledger.sqlite3-wal", "settings.toml", "service.log", "service.log.1"):
        (folder / name).write_text("x")
    for name in ("api-key", "hugging-face-token", "hugging-face-token.0a1b2c3d"):
        (folder / name).write_text("hf_a_secret")
    (tmp_path / "config" / "autostart").mkdir(parents=True)
    (tmp_path / "config" / "autostart" / "pinfill.desktop").write_text("[Desktop Entry]\n")
    return folder


def held_key() -> str | None:
    return keyring.get_password("pinfill", "api-key")


def held_token() -> str | None:
    return keyring.get_password("pinfill", "hugging-face-token")


def test_everything_is_shown_and_removed(pinfill: CommandLine, home: Path, tmp_path: Path) -> None:
    outcome = pinfill("uninstall-state", "--yes")

    assert outcome.code == 0, outcome
    shown = {line.strip().partition(":")[0] for line in outcome.out.splitlines()}
    in_keyring = {"-  key in the system keyring", "-  Hugging Face token in the system keyring"}
    assert {"2.0 MB  cached prefixes of pins and sessions", "22 bytes  Hugging Face token"} | in_keyring <= shown
    assert "hf_a_" not in outcome.out + outcome.err
    assert str(home / "models") in outcome.out
    assert not home.exists()
    assert not (tmp_path / "config" / "autostart" / "pinfill.desktop").exists()
    assert held_key() is None and held_token() is None
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


def test_a_key_may_be_left_in_a_locked_keyring(pinfill: CommandLine, home: Path) -> None:
    keyring.set_keyring(LockedKeyring())

    outcome = pinfill("uninstall-state", "--yes", "--keep-models")

    assert outcome.code == 1 and [path.name for path in home.iterdir()] == ["models"]
    assert "unknown  key in the system keyring: pinfill, api-key. The system keyring is locked." in outcome.out
    assert "The key in the system keyring (pinfill, api-key) may be left" in outcome.err
    assert "Unlock the keyring, then run this again: pinfill uninstall-state --keep-models" in outcome.err


def test_once_it_is_unlocked_the_key_goes_with_a_second_run(pinfill: CommandLine, home: Path) -> None:
    unlocked = keyring.get_keyring()
    keyring.set_keyring(LockedKeyring())
    assert pinfill("uninstall-state", "--yes").code == 1 and not home.exists()
    again = pinfill("uninstall-state", "--yes")
    assert again.code == 1 and "There is nothing" not in again.err
    keyring.set_keyring(unlocked)
    assert held_key() == "a key"

    assert pinfill("uninstall-state", "--yes").code == 0
    assert held_key() is None and held_token() is None


def test_json_tells_what_may_be_left(pinfill: CommandLine, home: Path) -> None:
    keyring.set_keyring(LockedKeyring())

    shown = pinfill("uninstall-state", "--json")
    assert shown.code == 0 and home.exists(), "it only shows"
    key, token = json.loads(shown.out)["unreached"]
    assert key == {
        "kind": "key in the system keyring",
        "where": "pinfill, api-key",
        "reason": "The system keyring is locked.",
        "locked": True,
    }
    assert token["where"] == "pinfill, hugging-face-token"
    removed = pinfill("uninstall-state", "--json", "--yes")
    assert removed.code == 1 and json.loads(removed.out) == {**json.loads(shown.out), "removed": True}


def test_a_keyring_that_does_not_work_does_not_stop_it_and_is_told(pinfill: CommandLine, home: Path) -> None:
    keyring.set_keyring(TalkativeKeyring())

    outcome = pinfill("uninstall-state", "--yes")
    assert outcome.code == 0 and not home.exists()
    assert "may be left: The system keyring cannot be used (no D-Bus)." in outcome.err
    assert "with the keyring's own program" in outcome.err


def test_without_a_keyring_nothing_can_be_left(pinfill: CommandLine, home: Path) -> None:
    keyring.set_keyring(keyring.backends.fail.Keyring())

    outcome = pinfill("uninstall-state", "--yes")
    assert outcome.code == 0 and "left" not in outcome.err + outcome.out

"""The state folder's version: newer ones are refused, older ones migrated after a backup, failures undone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pinfill_service.state_lock import state_lock
from pinfill_service.state_version import FILE, VERSION, StateVersionError, bring_up_to_date


def version_of(home: Path) -> int:
    return int(json.loads((home / FILE).read_text())["version"])


def test_a_folder_says_its_version_from_the_first_start_on(tmp_path: Path) -> None:
    with state_lock(tmp_path / "home", 1):
        assert version_of(tmp_path / "home") == VERSION


def test_a_newer_folder_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"version": VERSION + 1}))
    with pytest.raises(StateVersionError, match="newer Pinfill"), state_lock(tmp_path, 1):
        pytest.fail("the folder was used")
    assert version_of(tmp_path) == VERSION + 1
    (tmp_path / FILE).write_text(json.dumps({"version": VERSION}))
    with state_lock(tmp_path, 1):
        pass  # and the lock was given back


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": "1"}', '{"version": 0}', '{"version": true}', "[" * 9000]
)
def test_a_damaged_version_is_not_guessed(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(StateVersionError, match="damaged"):
        bring_up_to_date(tmp_path)
    assert (tmp_path / FILE).read_text() == text


def test_an_older_folder_is_migrated_step_by_step_after_a_backup(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    ledger.write_text("a")
    steps = {
        1: lambda home: ledger.write_text(ledger.read_text() + "b") and None,
        2: lambda home: ledger.write_text(ledger.read_text() + "c") and None,
    }
    backup = bring_up_to_date(tmp_path, version=3, migrations=steps)
    assert ledger.read_text() == "abc" and version_of(tmp_path) == 3
    assert backup is not None and (backup / "ledger.sqlite3").read_text() == "a"
    assert backup.stat().st_mode & 0o777 == 0o700
    assert bring_up_to_date(tmp_path, version=3, migrations=steps) is None
    assert ledger.read_text() == "abc"


def test_a_step_that_fails_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    ledger.write_text("a")
    connections = tmp_path / "agents" / "connections.json"
    connections.parent.mkdir()
    connections.write_text("{}")

    def fail(home: Path) -> None:
        ledger.write_text("half")
        connections.unlink()
        raise OSError("no space")

    with pytest.raises(StateVersionError, match="as it was before"):
        bring_up_to_date(tmp_path, version=2, migrations={1: fail})
    assert ledger.read_text() == "a" and not (tmp_path / FILE).exists()
    assert connections.read_text() == "{}"

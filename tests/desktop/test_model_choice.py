"""Which model the service has at its next start."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from pinfill_app import model_choice
from pinfill_app.client import Client
from pinfill_app.model_choice import ModelChoice
from pinfill_app.state import Store
from pinfill_service.api.schemas.manage import ModelStateEvent
from tests.support.desktop import LIMIT_MILLISECONDS


@pytest.fixture
def store() -> Store:
    return Store(Client())


def happens(store: Store, name: str | None, state: str) -> None:
    store.model_state_changed.emit(ModelStateEvent.model_validate({"name": name, "state": state}))


def test_the_model_that_was_loaded_last_is_kept(qtbot: QtBot, home: Path, store: Store) -> None:
    path = home / "settings.toml"
    path.write_text("# mine\nport = 7500\n")
    choice = ModelChoice(store, lambda *_: None)
    happens(store, "other", "loading")  # which may fail
    happens(store, None, "unloaded")
    happens(store, "mine", "loaded")
    qtbot.waitUntil(lambda: "mine" in path.read_text().split('"'), timeout=LIMIT_MILLISECONDS)
    assert tomllib.loads(path.read_text()) == {"port": 7500, "model": "mine"} and "# mine" in path.read_text()
    choice.deleteLater()


@pytest.mark.parametrize(("variable", "name"), [("PINFILL_MODEL", "mine"), ("", "smollm2-135m")])
def test_nothing_is_written_that_would_change_nothing(
    qtbot: QtBot, home: Path, store: Store, monkeypatch: pytest.MonkeyPatch, variable: str, name: str
) -> None:
    if variable:
        monkeypatch.setenv(variable, "another")
    else:
        monkeypatch.delenv("PINFILL_MODEL", raising=False)
    kept: list[str] = []
    monkeypatch.setattr(ModelChoice, "_on_kept", lambda _, name, outcome: kept.append(f"{name} {outcome}"))
    choice = ModelChoice(store, lambda *_: None)
    happens(store, name, "loaded")
    qtbot.waitUntil(lambda: kept == [f"{name} None"], timeout=LIMIT_MILLISECONDS)
    assert not (home / "settings.toml").exists()
    choice.deleteLater()


def test_what_cannot_be_kept_is_told(qtbot: QtBot, home: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(changes: object) -> None:
        raise OSError("The disk is full.")

    monkeypatch.setattr(model_choice, "keep", full)
    told: list[tuple[str, str]] = []
    choice = ModelChoice(store, lambda *words: told.append(words))
    happens(store, "mine", "loaded")
    qtbot.waitUntil(lambda: told == [("mine is loaded, but not at the next start", "The disk is full.")])
    choice.deleteLater()

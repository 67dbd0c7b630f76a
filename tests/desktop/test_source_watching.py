"""The files of pins, watched by the application: real files, a scripted service."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from pinfill_app.commands import Output
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.source_watching import SourceWatching
from pinfill_service.api.schemas.manage import Pin, SourceFile
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.pages import Asked
from tests.support.prefixes import Shown, pin


class Watched:
    """What is watched, what was asked, and what was told."""

    def __init__(self, qtbot: QtBot, home: Path) -> None:
        self._qtbot = qtbot
        self._shown = Shown(home)
        self.client, self.told = self._shown.client, self._shown.told
        self.watching = SourceWatching(self._shown.context)
        self.client.answers["PATCH", "pins"] = self._patched

    def have(self, *pins: Pin) -> None:
        self._shown.have_prefixes(list(pins))

    def _patched(self, asked: Asked) -> Pin:
        return next(pin for pin in self._shown.store.pins if pin.name == asked.path[1])

    def until_asked(self, *expected: Asked) -> None:
        def changes() -> list[Asked]:
            return [asked for asked in self.client.asked if asked.method != "GET"]

        self._qtbot.waitUntil(lambda: changes() == list(expected), timeout=LIMIT_MILLISECONDS)

    def end(self) -> None:
        self.have()
        self._qtbot.waitUntil(lambda: not self.watching.is_watching, timeout=LIMIT_MILLISECONDS)


@pytest.fixture
def watched(qtbot: QtBot, home: Path) -> Iterator[Watched]:
    made = Watched(qtbot, home)
    yield made
    made.end()


def made_of(name: str, path: Path, **fields: Any) -> Pin:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    held = SourceFile(path=str(path), size=1, mtime=0.0, sha256=digest)
    return pin(name, sources=[held], **fields)


def stale(name: str, why: str) -> Asked:
    return Asked("PATCH", ("pins", name), {"stale": why})


def refresh(name: str) -> Asked:
    return Asked("RUN", ("pins", "refresh", "--no-wait", "--", name))


def test_a_change_refreshes_a_pin_that_wants_it_and_marks_another_stale(watched: Watched, tmp_path: Path) -> None:
    path, other = tmp_path / "a.md", tmp_path / "b.md"
    path.write_text("before")
    other.write_text("stays")
    watched.client.answers["RUN", "pins"] = lambda _: Output("")
    by_hand, by_itself = made_of("by-hand", path), made_of("by-itself", path, auto_refresh=True)
    watched.have(by_hand, by_itself, made_of("untouched", other), pin("of-text"))
    path.write_text("after")
    watched.until_asked(stale("by-hand", "a.md changed"), refresh("by-itself"))


def test_a_stale_pin_whose_file_is_the_old_one_again_is_said_to_be_so(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("as it was")
    watched.have(made_of("stale", path, state="stale"), made_of("by-itself", path, state="stale", auto_refresh=True))
    watched.until_asked(stale("stale", ""), stale("by-itself", ""))


def test_what_changed_while_nobody_watched_is_found(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("before")
    held = made_of("held", path)
    path.unlink()
    watched.have(held)
    watched.until_asked(stale("held", "a.md is gone"))


def test_a_refresh_that_fails_marks_the_pin_with_the_reason(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("before")
    held = made_of("-held", path, auto_refresh=True)
    path.unlink()
    said = "a.md: cannot be read. " + "x" * 600
    failure = Failure(FailureKind.REFUSED, f"Eine Datei ist weg. Details: {said}", said=said)
    watched.client.answers["RUN", "pins"] = lambda _: failure
    watched.have(held)
    watched.until_asked(refresh("-held"), stale("-held", said[:500]))


def test_the_same_pins_again_are_not_looked_at_again(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("before")
    held = made_of("held", path)
    path.write_text("after")
    for hits in range(3):
        watched.have(held.model_copy(update={"hits": hits}))
    watched.until_asked(stale("held", "a.md changed"))
    watched.end()
    assert len([asked for asked in watched.client.asked if asked.method == "PATCH"]) == 1


def test_without_watches_left_it_is_told(watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("inotify instance limit reached")

    monkeypatch.setattr("pinfill_app.source_watching.SourceWatcher", refuse)
    path = tmp_path / "a.md"
    path.write_text("x")
    watched.have(made_of("a", path))
    watched._qtbot.waitUntil(lambda: bool(watched.told), timeout=LIMIT_MILLISECONDS)
    ((title, words),) = watched.told
    assert title == "The files of pins cannot be watched"
    assert words.startswith("inotify instance limit reached. A pin whose file has changed is refreshed only when")


def test_a_file_that_is_its_old_self_again_makes_the_pin_warm_again(watched: Watched, tmp_path: Path) -> None:
    text = tmp_path / "a.md"
    text.write_text("A")
    watched.have(made_of("held", text))
    text.write_text("B")
    watched.until_asked(stale("held", "a.md changed"))
    text.write_text("A")
    watched.until_asked(stale("held", "a.md changed"), stale("held", ""))


def test_a_refresh_that_came_first_does_not_leave_the_pin_stale(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")
    held = made_of("p", path)
    path.write_text("new")
    refreshed = made_of("p", path)
    watched.client.answers["PATCH", "pins"] = lambda asked: refreshed  # as the service has it by then
    watched.have(held)
    watched.until_asked(stale("p", "a.md changed"), stale("p", ""))

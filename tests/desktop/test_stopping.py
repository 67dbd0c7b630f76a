"""What takes long can be stopped: the prefill of a new pin, and the reading of files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from pinfill_app.client import Client
from pinfill_app.commands import Commands, Output
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.tray_actions import TrayActions
from pinfill_app.tray_menu import TrayMenu
from pinfill_app.windows.pin_files_dialog import FilesToPin, PinFilesDialog
from pinfill_app.windows.pin_text_dialog import PinTextDialog
from pinfill_service.api.schemas.manage import PinText, Unpinned
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.pages import Asked, english
from tests.support.prefixes import Shown, pin, shown, source

NEW = {"hits": 0, "verified": None}
CONTENT = PinText(kind="text", text="Be kind.", messages=[], tools=[])


@pytest.fixture
def on(qtbot: QtBot, home: Path) -> Iterator[Shown]:
    with english(), shown(qtbot, home) as made:
        made.client.answers["DELETE", "pins"] = lambda asked: Unpinned(name=asked.path[1], tokens=9, prefill_seconds=1)
        made.client.answers["GET", "pins", "typed", "content"] = CONTENT
        yield made


def click(qtbot: QtBot, on: Shown, words: str) -> None:
    """The button of a notice."""

    def found() -> list[QPushButton]:
        buttons = on.page.notices.findChildren(QPushButton)
        return [each for each in buttons if each.text().replace("&", "") == words]

    qtbot.waitUntil(lambda: bool(found()))  # looks at once: an answer would come a moment later
    found()[-1].click()


def test_a_pin_of_files_is_stopped_at_once_and_can_be_pinned_again(qtbot: QtBot, on: Shown, home: Path) -> None:
    (home / "a.md").write_text("A rubric.")
    on.have_prefixes([pin("a", state="prefilling", sources=[source(str(home / "a.md"))], **NEW)])
    on.select("a")
    on.page.actions_of_rows.stop.trigger()
    assert on.client.changes() == [("DELETE", "pins", "a")]
    qtbot.waitUntil(lambda: "Stopped: a is not pinned." in on.page.notices.texts.get("stopped", ""))
    click(qtbot, on, "Pin again...")
    (dialog,) = on.page.findChildren(PinFilesDialog)
    qtbot.waitUntil(lambda: [given.path for given in dialog.given] == [home / "a.md"])
    dialog.reject()


def test_what_was_typed_is_not_lost(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("typed", state="queued", **NEW)])
    on.page.shown(stop="typed")  # as the tray asks
    qtbot.waitUntil(lambda: on.client.changes() == [("DELETE", "pins", "typed")])
    click(qtbot, on, "Pin again...")
    (dialog,) = on.page.findChildren(PinTextDialog)
    assert dialog.findChild(QPlainTextEdit).toPlainText() == "Be kind." and on.page.notices.texts == {}
    dialog.reject()


def test_a_text_that_cannot_be_kept_is_not_given_up(qtbot: QtBot, on: Shown) -> None:
    on.client.answers["GET", "pins", "typed", "content"] = Failure(FailureKind.TIMEOUT, "It took too long.")
    on.have_prefixes([pin("typed", state="prefilling", **NEW)])
    on.page.shown(stop="typed")
    qtbot.waitUntil(lambda: on.page.notices.texts == {"stopped": "typed could not be stopped. It took too long."})
    assert on.client.changes() == []


@pytest.mark.parametrize("fields", [{"state": "warm"}, {"state": "stale"}, {"state": "prefilling", "hits": 3}])
def test_a_pin_that_is_of_use_is_only_unpinned(qtbot: QtBot, on: Shown, fields: dict[str, object]) -> None:
    on.have_prefixes([pin("a", **NEW | fields)])
    on.select("a")
    actions = on.page.actions_of_rows
    assert actions.remove.isVisible() and not actions.stop.isVisible() and actions.stop not in actions.for_menu
    on.page.shown(stop="a")
    assert on.client.asked == []


def test_reading_files_is_stopped_and_the_dialog_comes_back(qtbot: QtBot, on: Shown, home: Path) -> None:
    (home / "a.md").write_text("A rubric.")
    on.client.answers["RUN", "pin"] = Output("")
    on.page.pinning._pin_files(FilesToPin("rubric", (home / "a.md",), auto_refresh=True))
    click(qtbot, on, "Stop")
    (dialog,) = on.page.findChildren(PinFilesDialog)
    qtbot.waitUntil(lambda: bool(dialog.given))
    assert dialog.wanted() == FilesToPin("rubric", (home / "a.md",), auto_refresh=True)
    assert on.page.notices.texts == {}
    dialog.reject()


def test_reading_files_again_is_stopped_and_the_next_pin_has_its_turn(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin(name, sources=[source(f"/{name}.md")]) for name in ("a", "b")])
    on.client.answers["RUN", "pins"] = Output("")
    on.select("a", "b")
    on.page.actions_of_rows.refresh.trigger()
    assert [asked[-1] for asked in on.client.changes()] == ["a"]
    click(qtbot, on, "Stop")
    assert [asked[-1] for asked in on.client.changes()] == ["a", "b"]
    qtbot.waitUntil(lambda: on.page.notices.texts == {})
    assert len(on.client.changes()) == 2


def test_a_comparison_is_stopped_with_those_behind_it_and_what_is_known_is_told(qtbot: QtBot, on: Shown) -> None:
    def answer(asked: Asked) -> Failure:
        if asked.path[1] == "b":
            QTimer.singleShot(0, lambda: click(qtbot, on, "Stop"))  # before it is answered
        return Failure(FailureKind.REFUSED, f"Not {asked.path[1]}.")

    on.have_prefixes([pin(name) for name in ("a", "b", "c")])
    on.client.answers["POST", "pins"] = answer
    on.select("a", "b", "c")
    on.page.actions_of_rows.verify.trigger()
    qtbot.waitUntil(lambda: on.page.notices.texts == {"verify": "a could not be verified. Not a."})
    assert [asked[2] for asked in on.client.changes()] == ["a", "b"]
    on.client.answers["POST", "pins"] = lambda asked: Failure(FailureKind.REFUSED, f"Not {asked.path[1]}.")
    on.page.actions_of_rows.verify.trigger()  # and again all of them
    qtbot.waitUntil(lambda: on.page.notices.texts.get("verify", "").count("Not") == 3)


def test_a_comparison_that_is_stopped_leaves_nothing(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("a")])
    on.client.answers["POST", "pins"] = lambda asked: Failure(FailureKind.REFUSED, "Not.")
    on.select("a")
    on.page.actions_of_rows.verify.trigger()
    click(qtbot, on, "Stop")
    assert on.page.notices.texts == {}
    QTest.qWait(0)
    assert on.page.notices.texts == {} and len(on.client.changes()) == 1


def entries(menu: QMenu, name: str) -> dict[str, QAction]:
    """Of a pin's menu."""
    menu.aboutToShow.emit()
    (found,) = (action.menu() for action in menu.actions() if action.text().startswith(name))
    assert isinstance(found, QMenu)
    return {action.text(): action for action in found.actions()}


def test_the_trays_menu_offers_to_stop_what_runs(qtbot: QtBot, on: Shown) -> None:
    actions = TrayActions(on.context, lambda *_: None)
    menu = TrayMenu(on.context, actions, lambda: None, lambda: None)
    qtbot.addWidget(menu)
    on.client.answers["RUN", "pins"] = Output("")
    on.have_prefixes([pin("new", state="prefilling", **NEW), pin("old", sources=[source("/a.md")])])
    entries(menu, "new")["Stop prefilling"].trigger()
    assert on.pages == [("prefixes", {"stop": "new"})]
    assert "Stop prefilling" not in entries(menu, "old")
    entries(menu, "old")["Refresh"].trigger()
    assert "Refresh" not in entries(menu, "old")
    stop = entries(menu, "old")["Stop reading its files"]
    stop.trigger()
    assert "Refresh" in entries(menu, "old")


@pytest.mark.skipif(os.name == "nt", reason="a script of POSIX's shell")
def test_a_command_that_is_stopped_ends_and_says_nothing(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    program = home / "endless"
    program.write_text(f"#!/bin/sh\ntouch '{home / 'begun'}'\nexec tail -f /dev/null\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    commands, outcomes = Commands(Client()), list[Output | Failure]()
    for end in (lambda command: command.stop(), lambda _: commands.stop_all()):
        command = commands.run("pin", done=outcomes.append)
        qtbot.waitUntil(lambda: (home / "begun").exists(), timeout=LIMIT_MILLISECONDS)
        (home / "begun").unlink()
        end(command)
        qtbot.waitUntil(lambda: not commands._running, timeout=LIMIT_MILLISECONDS)
    assert outcomes == []

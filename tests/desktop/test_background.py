"""Work beside the GUI thread: what comes back, where, and what is left of it."""

from __future__ import annotations

import threading
from functools import partial

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from pinfill_app.background import GuiThread, in_background
from tests.support.desktop import LIMIT_MILLISECONDS

HERE = threading.current_thread().name


class Thing:
    """Tells the thread in which nobody needed it any more."""

    def __init__(self, ends: list[str]) -> None:
        self._ends = ends

    def __del__(self) -> None:
        self._ends.append(threading.current_thread().name)


def test_what_work_returns_or_raises_comes_to_the_gui_thread(qtbot: QtBot) -> None:
    owner = QObject()
    came: list[tuple[str, object]] = []

    def done(outcome: object) -> None:
        came.append((threading.current_thread().name, outcome))

    def fail() -> None:
        raise ValueError("no")

    in_background(owner, lambda: threading.current_thread().name, done)
    qtbot.waitUntil(lambda: len(came) == 1, timeout=LIMIT_MILLISECONDS)
    in_background(owner, fail, done)
    qtbot.waitUntil(lambda: len(came) == 2, timeout=LIMIT_MILLISECONDS)
    assert came[0] == (HERE, "background")
    assert came[1][0] == HERE
    assert isinstance(came[1][1], ValueError)


def test_nothing_comes_to_an_owner_that_is_gone(qtbot: QtBot) -> None:
    owner, other = QObject(), QObject()
    may_end = threading.Event()
    came: list[str] = []
    in_background(owner, may_end.wait, lambda _: came.append("gone"))
    delete(owner)
    may_end.set()
    GuiThread(other).call(lambda: came.append("there"))
    qtbot.waitUntil(lambda: "there" in came, timeout=LIMIT_MILLISECONDS)
    qtbot.waitUntil(lambda: not _threads(), timeout=LIMIT_MILLISECONDS)
    qtbot.wait(0)  # what the last of them posted
    assert came == ["there"]


def test_what_work_holds_is_let_go_in_the_gui_thread(qtbot: QtBot) -> None:
    owner = QObject()
    ends: list[str] = []
    for _ in range(200):
        in_background(owner, partial(id, Thing(ends)), lambda _: None)
    qtbot.waitUntil(lambda: len(ends) == 200, timeout=LIMIT_MILLISECONDS)
    assert set(ends) == {HERE}


def test_calls_from_another_thread_come_in_order_each_once(qtbot: QtBot) -> None:
    owner = QObject()
    gui = GuiThread(owner)
    came: list[tuple[str, int]] = []

    def call_all() -> None:
        for number in range(100):
            gui.call(lambda number=number: came.append((threading.current_thread().name, number)))  # type: ignore[misc]

    thread = threading.Thread(target=call_all)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: len(came) == 100, timeout=LIMIT_MILLISECONDS)
    assert came == [(HERE, number) for number in range(100)]


def _threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "background"]

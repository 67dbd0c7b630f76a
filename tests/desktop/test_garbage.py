"""Where cycles of Python objects are collected."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from pinfill_app.garbage import GarbageCollection
from tests.support.desktop import LIMIT_MILLISECONDS


class Cycle:
    """Refers to itself; tells the thread in which it is collected."""

    def __init__(self, ends: list[str]) -> None:
        self._ends, self._itself = ends, self

    def __del__(self) -> None:
        self._ends.append(threading.current_thread().name)


@pytest.fixture
def collection() -> Iterator[GarbageCollection]:
    collection = GarbageCollection(milliseconds=10)
    collection.start()
    yield collection
    collection.stop()


def allocate() -> None:
    """More than enough for Python to collect of its own accord."""
    kept: list[list[object]] = [[] for _ in range(20 * gc.get_threshold()[0])]
    assert kept


def test_what_a_thread_allocates_is_collected_in_the_gui_thread(qtbot: QtBot, collection: GarbageCollection) -> None:
    ends: list[str] = []
    Cycle(ends)
    thread = threading.Thread(target=allocate, name="background")
    thread.start()
    thread.join()
    assert ends == []
    kept = [[] for _ in range(20 * gc.get_threshold()[0])]  # type: ignore[var-annotated]
    qtbot.waitUntil(lambda: ends == [threading.current_thread().name], timeout=LIMIT_MILLISECONDS)
    assert kept


def test_python_collects_again_afterwards(collection: GarbageCollection) -> None:
    assert gc.get_freeze_count() > len(sys.modules)
    collection.stop()
    assert gc.isenabled() and gc.get_freeze_count() == 0

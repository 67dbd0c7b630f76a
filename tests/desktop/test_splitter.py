"""Splitters: moved with the keyboard, kept over a restart, given up where what was kept is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from pinfill_app.settings import AppSettings
from pinfill_app.widgets.splitter import Splitter
from pinfill_app.windows.activity import ActivityPage
from pinfill_app.windows.help_pages import HelpPages
from tests.support.pages import request, shown

UP_AND_DOWN = (Qt.Orientation.Vertical, Qt.Key.Key_Up, Qt.Key.Key_Down)
LEFT_AND_RIGHT = (Qt.Orientation.Horizontal, Qt.Key.Key_Left, Qt.Key.Key_Right)


def made(qtbot: QtBot, home: Path, orientation: Qt.Orientation = Qt.Orientation.Vertical) -> Splitter:
    split = Splitter(orientation, "Edge")
    qtbot.addWidget(split)
    for _ in range(2):
        part = QWidget()
        part.setMinimumSize(50, 50)
        split.addWidget(part)
    split.setSizes([1, 1])
    split.keep_sizes(AppSettings(home), "a")
    split.resize(400, 400)
    split.show()
    return split


@pytest.mark.parametrize(("orientation", "back", "forth"), [UP_AND_DOWN, LEFT_AND_RIGHT])
def test_a_handle_follows_the_arrow_keys_and_stays_where_it_was_put(
    qtbot: QtBot, home: Path, orientation: Qt.Orientation, back: Qt.Key, forth: Qt.Key
) -> None:
    split = made(qtbot, home, orientation)
    handle = split.handle(1)
    assert handle.focusPolicy() & Qt.FocusPolicy.TabFocus and handle.accessibleName() == "Edge"
    handle.setFocus()
    first = split.sizes()
    for _ in range(3):
        QTest.keyClick(handle, forth)
    QTest.keyClick(handle, back)
    moved = split.sizes()
    assert moved[0] == first[0] + 32
    split.hide()
    assert made(qtbot, home, orientation).sizes() == moved
    QTest.keyClick(handle, Qt.Key.Key_Home)
    assert split.sizes()[0] == 50  # no part vanishes
    QTest.keyClick(handle, Qt.Key.Key_End)
    assert split.sizes()[1] == 50


@pytest.mark.parametrize("kept", ["", "1", "1 2 3", "a b", "-5 9", "0 400", "999999999999999999 1"])
def test_damaged_sizes_are_not_used(qtbot: QtBot, home: Path, kept: str) -> None:
    settings = AppSettings(home)
    settings._values.setValue("splits/a", kept)
    settings.save()
    sizes = made(qtbot, home).sizes()
    assert abs(sizes[0] - sizes[1]) <= 1


def test_the_parts_of_pages_are_kept(qtbot: QtBot, home: Path) -> None:
    kept = []
    for _ in range(2):
        with shown(qtbot, ActivityPage, home) as page:
            page.have(requests=(request("1"),))
            (split,) = page.page.findChildren(Splitter)
            kept.append(split.sizes())
            split.handle(1).setFocus()
            QTest.keyClick(split.handle(1), Qt.Key.Key_Up)
            kept.append(split.sizes())
            page.page.hide()
    assert kept[0] != kept[1] == kept[2] != kept[3]


def test_the_list_of_help_pages_stays_as_wide_as_it_was_made(qtbot: QtBot, home: Path) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    kept = []
    for _ in range(2):
        dialog = HelpPages(AppSettings(home), window)
        dialog.show()
        (split,) = dialog.findChildren(Splitter)
        kept.append(split.sizes())
        QTest.keyClick(split.handle(1), Qt.Key.Key_Right)
        kept.append(split.sizes())
        dialog.close()
    assert kept[0] != kept[1] == kept[2] != kept[3]

"""The window: keys of a page count wherever the focus is, and it comes back inside the screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QListWidget
from pytestqt.qtbot import QtBot

from pinfill_app.help_menu import HelpMenu
from pinfill_app.theme import GRID
from pinfill_app.windows.log_page import LogPage
from pinfill_app.windows.main_window import MainWindow
from pinfill_app.windows.pin_text_dialog import PinTextDialog
from pinfill_app.windows.prefixes import PrefixesPage
from tests.support.pages import Shown, english, status

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def on(qtbot: QtBot, home: Path) -> Iterator[Shown[MainWindow]]:
    with english():
        made = Shown(MainWindow, home)
        qtbot.addWidget(made.page)
        made.have(status=status())
        made.page.show_page("prefixes")
        qtbot.waitUntil(made.page.isActiveWindow)
        yield made


def press(on: Shown[MainWindow], key: Qt.Key) -> None:
    """While the navigation has the focus."""
    navigation = on.page.findChild(QListWidget)
    navigation.setFocus()
    QTest.keyClick(navigation, key, CONTROL)


def test_the_pages_own_keys_work_from_the_navigation(qtbot: QtBot, on: Shown[MainWindow]) -> None:
    prefixes, log = on.page.findChild(PrefixesPage), on.page.findChild(LogPage)
    press(on, Qt.Key.Key_F)
    assert prefixes.bar.search.hasFocus()
    press(on, Qt.Key.Key_O)
    (chooser,) = on.page.findChildren(QFileDialog)
    chooser.close()
    data = QMimeData()
    data.setText("A rubric.")
    QGuiApplication.clipboard().setMimeData(data)
    press(on, Qt.Key.Key_V)
    (dialog,) = on.page.findChildren(PinTextDialog)
    assert dialog.text == "A rubric."
    dialog.reject()
    on.page.show_page("log")
    press(on, Qt.Key.Key_F)
    assert log.search.hasFocus() and not prefixes.bar.search.hasFocus()


def test_a_window_that_was_larger_than_the_screen_is_now_comes_back_inside_it(qtbot: QtBot, home: Path) -> None:
    screen = QGuiApplication.primaryScreen().availableGeometry()
    sizes = []
    for place in (QRect(40, 60, 500, 400), screen.adjusted(0, 0, 900, 900)):
        made = Shown(MainWindow, home)
        qtbot.addWidget(made.page)
        made.page.setGeometry(place)
        made.context.settings.geometry = made.page.saveGeometry()
        made.context.settings.save()
        again = Shown(MainWindow, home)
        qtbot.addWidget(again.page)
        assert screen.contains(again.page.geometry())
        sizes.append(again.page.size())
    assert sizes[0] == QSize(500, 400) and sizes[1].height() < screen.height() - GRID


def test_the_first_steps_get_what_is_typed(qtbot: QtBot, on: Shown[MainWindow]) -> None:
    menu = HelpMenu(on.context, on.page)
    menu.show_first_steps()
    assert menu._first_run is not None
    qtbot.waitUntil(menu._first_run.isActiveWindow)
    menu._first_run.close()

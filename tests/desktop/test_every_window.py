"""What holds for every page and every dialog, in every language: it fits small screens, and needs no mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QSize, Qt, QTranslator
from PySide6.QtGui import QAccessible, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenuBar,
    QPlainTextEdit,
    QProgressBar,
    QScrollArea,
    QSpinBox,
    QTextBrowser,
    QWidget,
)
from pytestqt.qtbot import QtBot

from pinfill_app.translations import LANGUAGES, use_language
from pinfill_app.widgets.page_frame import PageFrame
from tests.support.every_window import Seen, every_window, menus, prepare_machine

SMALL = QSize(640, 370)  # a screen of 1280 x 800 at 200 %, without a panel and the window's title
CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QSpinBox,
    QTextBrowser,
)


@pytest.fixture(params=["en", *LANGUAGES])
def windows(
    request: pytest.FixtureRequest, qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Iterator[Seen]]:
    application, before = QApplication.instance(), QLocale()
    assert application is not None
    use_language(application, request.param)
    prepare_machine(home, monkeypatch)
    yield every_window(qtbot, home)
    for translator in application.findChildren(QTranslator):
        QCoreApplication.removeTranslator(translator)
        translator.deleteLater()
    QLocale.setDefault(before)


def inside(window: QWidget) -> list[QWidget]:
    """Everything that is shown, but for what Qt's own widgets are made of."""
    shown = [each for each in window.findChildren(QWidget) if each.isVisibleTo(window)]
    return [
        each
        for each in shown
        if not each.objectName().startswith("qt_")
        and not isinstance(each, QHeaderView)
        and not isinstance(each.parent(), QLineEdit)
    ]


def controls(window: QWidget) -> list[QWidget]:
    return [each for each in inside(window) if isinstance(each, CONTROLS)]


def test_it_fits_a_small_screen(windows: Iterator[Seen]) -> None:
    for name, window in windows:
        least = window.minimumSizeHint().expandedTo(window.minimumSize())
        assert least.boundedTo(SMALL) == least, (name, least)
        screen = window.screen().availableSize()
        assert window.size().boundedTo(screen) == window.size(), (name, window.size())
        if isinstance(window, QMainWindow):
            window.resize(SMALL)
            QApplication.processEvents()
            assert window.size() == SMALL, name
        for area in window.findChildren(QScrollArea):
            if area.isVisible():
                assert area.horizontalScrollBar().maximum() == 0, (name, area.widget())


def test_what_does_not_fit_can_be_scrolled_to(windows: Iterator[Seen]) -> None:
    for name, window in windows:
        window.resize(SMALL)
        QApplication.processEvents()
        for frame in window.findChildren(PageFrame):
            page = frame.widget()
            if page.isVisible():
                below = [each for each in page.findChildren(QWidget) if each.isVisibleTo(page)]
                lowest = max(each.mapTo(page, each.rect().bottomLeft()).y() for each in below if each.parent() is page)
                assert lowest < page.height() <= frame.viewport().height() + frame.verticalScrollBar().maximum(), name


def test_no_two_controls_have_the_same_key(windows: Iterator[Seen]) -> None:
    found: dict[str, list[str]] = {}
    for name, window in windows:
        texts = [each.text() for each in inside(window) if isinstance(each, QAbstractButton)]
        texts += [each.text() for each in inside(window) if isinstance(each, QLabel) and each.buddy() is not None]
        texts += [action.text() for bar in window.findChildren(QMenuBar) for action in bar.actions()]
        found |= {f"{name}: {key}": twice for key, twice in same_keys(texts).items()}
    assert found == {}


def test_no_two_entries_of_a_menu_have_the_same_key(windows: Iterator[Seen]) -> None:
    found: dict[str, list[str]] = {}
    for name, window in windows:
        for menu in menus(window):
            texts = [action.text() for action in menu.actions() if action.isVisible()]
            found |= {f"{name}, {menu.title()}: {key}": twice for key, twice in same_keys(texts).items()}
    assert found == {}


def same_keys(texts: list[str]) -> dict[str, list[str]]:
    """What has a key that something else has, too."""
    by_key: dict[str, list[str]] = {}
    for text in texts:
        by_key.setdefault(QKeySequence.mnemonic(text).toString(), []).append(text)
    return {key: found for key, found in by_key.items() if key and len(found) > 1}


def test_every_control_can_be_reached_with_the_keyboard(windows: Iterator[Seen]) -> None:
    found = [
        (name, control)
        for name, window in windows
        for control in controls(window)
        if not isinstance(control, QProgressBar) and not control.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    assert found == []


def test_every_control_has_a_name_for_a_screen_reader(windows: Iterator[Seen]) -> None:
    found = [
        (name, control)
        for name, window in windows
        for control in controls(window)
        if not QAccessible.queryAccessibleInterface(control).text(QAccessible.Text.Name).strip()
    ]
    assert found == []

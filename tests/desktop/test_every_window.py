"""What holds for every page and every dialog, in every language: it fits small screens, and needs no mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QSize, QTranslator
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMainWindow,
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
from tests.support.every_window import Seen, every_window, prepare_machine

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

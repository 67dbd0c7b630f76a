"""Qt without a screen, English whatever the machine's language is, and a state folder of each test's own.

As in the application, cycles of Python objects are collected in the GUI thread only.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before Qt is loaded


@pytest.fixture(scope="module", autouse=True)
def collection_of_garbage() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()
    gc.collect()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in [name for name in os.environ if name.startswith("PINFILL_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("PINFILL_HOME", str(folder))
    yield folder


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    yield
    QLocale.setDefault(before)


@pytest.fixture
def speaking(qtbot: QtBot) -> Iterator[QCoreApplication]:
    """The application, for `use_language`; what that loads is forgotten afterwards."""
    application = QApplication.instance()
    assert application is not None
    yield application
    for translator in application.findChildren(QTranslator):
        application.removeTranslator(translator)
        translator.deleteLater()

"""The help pages in the languages that the window speaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from pinfill_app.settings import AppSettings
from pinfill_app.translations import LANGUAGES, use_language
from pinfill_app.windows import help_pages as module
from pinfill_app.windows.help_pages import HelpPages, help_pages
from pinfill_service.resources import resource

TITLES = {
    "en": ("Connect a coding agent", "Memory and disk"),
    "de": ("Einen Coding-Agenten verbinden", "Speicher und Festplatte"),
    "zh_CN": ("连接编程智能体", "内存和磁盘"),
}


@pytest.mark.parametrize("language", TITLES)
def test_pages_are_shown_in_the_windows_language_and_lead_to_each_other(
    qtbot: QtBot, speaking: QCoreApplication, home: Path, language: str
) -> None:
    use_language(speaking, language)
    window = QWidget()
    qtbot.addWidget(window)
    dialog = HelpPages(AppSettings(home), window)
    titles = [dialog.pages.item(row).text() for row in range(dialog.pages.count())]
    assert tuple(titles[:2]) == TITLES[language]
    assert len(titles) == len({*titles}) == len(list(resource("help").glob("*.md")))
    dialog.text.anchorClicked.emit(QUrl("budgets.md"))
    assert dialog.text.toPlainText().startswith(TITLES[language][1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_that_is_not_translated_is_shown_in_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    (tmp_path / language).mkdir()
    for name in ("a.md", "b.md", f"{language}/b.md", f"{language}/stray.md"):
        (tmp_path / name).touch()
    monkeypatch.setattr(module, "resource", lambda name: tmp_path)
    assert help_pages(language) == [tmp_path / "a.md", tmp_path / language / "b.md"]
    assert help_pages(None) == [tmp_path / "a.md", tmp_path / "b.md"]

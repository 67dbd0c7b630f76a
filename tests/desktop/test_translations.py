"""German and Chinese: nothing is missing, nothing has gone stale, placeholders and keys are kept."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from pytestqt.qtbot import QtBot

from installers import translations as tool
from pinfill_app import units
from pinfill_app.service_state import ServiceState
from pinfill_app.settings import LANGUAGES as CHOICES
from pinfill_app.translations import FOLDER, LANGUAGES, language_of, use_language
from pinfill_app.windows.settings_page import SettingsPage
from pinfill_app.wording import state_word
from tests.support.pages import shown

WORDS = {"de": ("Einstellungen", "Mit dem &Computer starten", "bereit"), "zh_CN": ("设置", "随计算机启动(&C)", "就绪")}


def fields(text: str) -> list[str]:
    """The placeholders; those without a number count up."""
    names = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
    return sorted(name or str(number) for number, name in enumerate(names))


def keys(text: str) -> int:
    return text.replace("&&", "").count("&")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_a_finished_translation_that_fits(language: str) -> None:
    translations = tool.read(language)
    assert list(translations) == tool.messages(), "run installers/translations.py, and translate what it lists"
    for (context, source), text in translations.items():
        assert text and text.strip() == text, (context, source)
        assert fields(text) == fields(source), (context, source, text)
        assert keys(text) == keys(source), (context, source, text)
        assert text.count("\n") == source.count("\n") and ("..." in text) == ("..." in source), (context, source, text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_loaded_is_what_was_written(qtbot: QtBot, language: str) -> None:
    translator = QTranslator()
    assert translator.load(f"pinfill_{language}", str(FOLDER))
    for (context, source), text in tool.read(language).items():
        assert translator.translate(context, source) == text, "run installers/translations.py"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_application_speaks_it(home: Path, qtbot: QtBot, speaking: QCoreApplication, language: str) -> None:
    use_language(speaking, language)
    title, login, ready = WORDS[language]
    with shown(qtbot, SettingsPage, home) as made:
        assert (made.page.title(), made.page.application.login.text()) == (title, login)
    assert state_word(ServiceState.READY) == ready
    assert units.tokens(1_880) == {"de": "1.880 Token", "zh_CN": "1,880 个 token"}[language]
    qt = QCoreApplication.translate("QPlatformTheme", "Cancel")
    assert qt != "Cancel"


def test_english_is_spoken_where_it_was_chosen(speaking: QCoreApplication) -> None:
    use_language(speaking, "en")
    assert state_word(ServiceState.READY) == "ready" and units.tokens(1_880) == "1,880 tokens"


@pytest.mark.parametrize(
    ("locale", "language"),
    [("de_AT", "de"), ("zh_CN", "zh_CN"), ("zh_SG", "zh_CN"), ("zh_TW", None), ("en_GB", None), ("fr_FR", None)],
)
def test_the_systems_language_is_found(locale: str, language: str | None) -> None:
    assert language_of(QLocale(locale)) == language


def test_every_language_can_be_chosen() -> None:
    assert {*CHOICES} == {"", "en", *LANGUAGES} and LANGUAGES == tool.LANGUAGES


def test_texts_are_found_behind_their_short_names_and_only_plain_ones(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "def _tr(text):\n    return QCoreApplication.translate('units', text)\n"
        "class A(B):\n    def f(self):\n        tr = QCoreApplication.translate\n"
        "        return self.tr('one' ' two'), tr('x', 'three'), _tr('{} four')\n"
    )
    assert tool.messages(tmp_path) == [("A", "one two"), ("units", "{} four"), ("x", "three")]
    (tmp_path / "b.py").write_text("class A(B):\n    def f(self):\n        self.tr(f'{x}')\n")
    with pytest.raises(tool.NotTranslatableError, match=r"b\.py:3"):
        tool.messages(tmp_path)

"""The token of Hugging Face on the page of settings: kept, forgotten, never shown, and no keyring asked for nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from pinfill_app.plan import Plan
from pinfill_app.windows.settings_hub import TOPIC, HubSection
from pinfill_app.windows.settings_page import SettingsPage
from pinfill_service.keys import KeyPlace
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.hub import no_token
from tests.support.keyrings import LockedKeyring, MemoryKeyring, untouched, used
from tests.support.pages import Shown, english, shown

TOKEN = "hf_ThisIsTheToken0123456789"
KEPT = ("pinfill", "hugging-face-token")


@pytest.fixture(autouse=True)
def user(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Without a token and without a keyring."""
    with no_token(monkeypatch, tmp_path), english():
        yield


@pytest.fixture
def page(qtbot: QtBot, home: Path) -> Iterator[Shown[SettingsPage]]:
    with shown(qtbot, SettingsPage, home) as made:
        yield made


@pytest.fixture
def section(page: Shown[SettingsPage]) -> HubSection:
    return page.page.hub


def say(qtbot: QtBot, section: HubSection, words: str) -> None:
    qtbot.waitUntil(lambda: words in section.note.text(), timeout=LIMIT_MILLISECONDS)


def told(qtbot: QtBot, page: Shown[SettingsPage], words: str) -> None:
    qtbot.waitUntil(lambda: words in page.page.notices.texts.get(TOPIC, ""), timeout=LIMIT_MILLISECONDS)


def give(qtbot: QtBot, section: HubSection, text: str) -> None:
    section.field.setText(text)
    qtbot.keyClick(section.field, Qt.Key.Key_Return)


def open_keyring(page: Shown[SettingsPage], home: Path) -> None:
    """The API key was found in the keyring."""
    page.supervisor.plan = Plan(home, "127.0.0.1", 7463, "a-key", KeyPlace.KEYRING)
    page.page.hub.look()


def test_without_a_keyring_it_is_kept_in_a_file_and_that_is_told(
    qtbot: QtBot, page: Shown[SettingsPage], section: HubSection, home: Path
) -> None:
    path = home / "hugging-face-token"
    say(qtbot, section, "There is none.")
    assert section.field.echoMode() is QLineEdit.EchoMode.Password and not section.save.isEnabled()
    give(qtbot, section, f" {TOKEN} ")
    told(qtbot, page, "which only you can read")
    assert path.read_text() == TOKEN and str(path) in section.note.text() and section.field.text() == ""
    assert TOKEN not in "".join(label.text() for label in page.page.findChildren(QLabel))
    section.forget.click()
    qtbot.waitUntil(lambda: not path.exists(), timeout=LIMIT_MILLISECONDS)
    say(qtbot, section, "There is none.")
    assert TOPIC not in page.page.notices.texts and not section.forget.isEnabled()


def test_with_a_keyring_it_is_kept_there(
    qtbot: QtBot, page: Shown[SettingsPage], section: HubSection, home: Path
) -> None:
    with used(MemoryKeyring()) as store:
        open_keyring(page, home)
        say(qtbot, section, "There is none.")
        section.field.setText(TOKEN)
        section.save.click()
        say(qtbot, section, "in the system keyring.")
        assert store.kept == {KEPT: TOKEN} and TOPIC not in page.page.notices.texts
        section.forget.click()
        say(qtbot, section, "There is none.")
        assert store.kept == {}


def test_a_keyring_that_may_be_locked_is_not_asked_by_a_look(qtbot: QtBot, home: Path) -> None:
    with untouched(), shown(qtbot, SettingsPage, home) as made:
        say(qtbot, made.page.hub, "looked for when a model is downloaded")
        assert TOPIC not in made.page.notices.texts and made.page.hub.forget.isEnabled()


def test_a_locked_keyring_is_told(qtbot: QtBot, page: Shown[SettingsPage], section: HubSection) -> None:
    with used(LockedKeyring()):
        give(qtbot, section, TOKEN)
        told(qtbot, page, "could not be saved. The system keyring is locked. Unlock it, then save the token again.")
        assert section.field.text() == TOKEN and section.save.isEnabled()
        section.forget.click()
        told(qtbot, page, "could not be forgotten. The system keyring is locked.")


def test_what_is_no_token_is_refused_at_once(
    qtbot: QtBot, page: Shown[SettingsPage], section: HubSection, home: Path
) -> None:
    give(qtbot, section, "hf_two words")
    assert "That is no token" in page.page.notices.texts[TOPIC] and not section.field.isReadOnly()
    give(qtbot, section, "   ")
    assert not section.save.isEnabled() and not (home / "hugging-face-token").exists()


def test_tokens_from_elsewhere_are_named(
    qtbot: QtBot, page: Shown[SettingsPage], section: HubSection, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = home.parent / "huggingface" / "token"
    login.parent.mkdir()
    login.write_text(TOKEN)
    with used(MemoryKeyring()):
        open_keyring(page, home)
        say(qtbot, section, str(login))
        assert not section.forget.isEnabled()
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    section.look()
    say(qtbot, section, "HF_TOKEN, which wins")
    monkeypatch.setenv("HF_TOKEN", "not one")
    section.look()
    told(qtbot, page, "HF_TOKEN is set, but not to a token")


def test_a_keyring_that_waits_for_a_person_holds_nothing_up(
    qtbot: QtBot, page: Shown[SettingsPage], section: HubSection
) -> None:
    answered = threading.Event()

    class Waiting(MemoryKeyring):
        def set_password(self, service: str, username: str, password: str) -> None:
            assert answered.wait(LIMIT_MILLISECONDS / 1_000)
            super().set_password(service, username, password)

    with used(Waiting()) as store:
        give(qtbot, section, TOKEN)
        say(qtbot, section, "It may want its password.")
        assert not section.save.isEnabled() and not section.forget.isEnabled() and section.field.isReadOnly()
        section.look()  # the page is shown again meanwhile: that does not take the outcome away
        answered.set()
        say(qtbot, section, "It is kept in the system keyring.")
        assert store.kept == {KEPT: TOKEN} and not section.field.isReadOnly()


def test_it_can_be_reached_by_keyboard_and_has_names(section: HubSection) -> None:
    label = next(each for each in section.findChildren(QLabel) if each.buddy() is not None)
    assert label.buddy().focusProxy() is section.field and "&" in label.text()
    assert section.field.accessibleName() == "Access token of Hugging Face"
    for button in (section.save, section.forget):
        assert "&" in button.text() and button.focusPolicy() & Qt.FocusPolicy.TabFocus

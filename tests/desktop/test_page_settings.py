"""The page of settings: what counts at once, what needs a restart, what nobody can change here."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from pinfill_app.autostart import autostart
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.plan import Plan
from pinfill_app.self_test import SelfTest
from pinfill_app.service_settings import keep, next_start
from pinfill_app.service_state import ServiceState
from pinfill_app.settings import AppSettings
from pinfill_app.theme import Theme, is_dark, use_theme
from pinfill_app.windows.self_test_dialog import SelfTestDialog
from pinfill_app.windows.settings_page import SettingsPage
from pinfill_service.api.schemas import manage
from pinfill_service.keys import KeyPlace
from pinfill_service.settings import Settings
from pinfill_service.settings_file import SettingsFileError, write_settings
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.pages import Asked, Shown, english, shown
from tests.support.real_app import real_service
from tests.support.sample_service import settings as sample_settings

Page = Shown[SettingsPage]


@pytest.fixture
def page(qtbot: QtBot, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (home / "settings.toml").write_text("# mine\nport = 7500\n")
    with english(), shown(qtbot, SettingsPage, home) as made:
        made.client.answers["GET", "settings"] = sample_settings()
        made.client.answers["PATCH", "settings"] = lambda asked: changed(asked)
        made.page.shown()
        qtbot.waitUntil(lambda: made.page.network.port.value() == 7500, timeout=LIMIT_MILLISECONDS)
        qtbot.waitUntil(lambda: made.page.memory.memory.value() == 2_048, timeout=LIMIT_MILLISECONDS)
        yield made
    use_theme(Theme.SYSTEM)


def changed(asked: Asked) -> manage.SettingsView:
    """What the service answers to a change."""
    view = sample_settings()
    rules = [rule.model_copy(update={"on": asked.body.get("rules", {}).get(rule.name, rule.on)}) for rule in view.rules]
    return view.model_copy(update={"values": view.values | asked.body, "rules": rules})


def on_disk(home: Path) -> dict[str, Any]:
    path = home / "settings.toml"
    return tomllib.loads(path.read_text()) if path.exists() else {}


def test_what_the_service_can_change_is_asked_of_it(qtbot: QtBot, home: Path, page: Page) -> None:
    page.page.memory.memory.setValue(1_024)
    page.page.memory.memory.setValue(4_096)
    page.page.memory.history.click()
    page.page.memory.history.click()
    page.page.send()
    assert page.client.asked[-1].body == {"memory_budget_mib": 4_096, "history": page.page.memory.history.isChecked()}
    assert page.client.changes() == [("PATCH", "settings")]
    qtbot.waitUntil(lambda: "4.3 GB" in page.page.memory._memory_note.text(), timeout=LIMIT_MILLISECONDS)
    assert on_disk(home) == {"port": 7500} and page.page.notices.texts == {}


def test_the_self_test_is_here_too(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SelfTest, "start", lambda self, *options: None)
    page.page.test_button.click()
    (dialog,) = page.page.findChildren(SelfTestDialog)
    assert dialog.isVisible()
    dialog.reject()


def test_what_needs_a_restart_is_kept_and_says_so(
    qtbot: QtBot, home: Path, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    restarts: list[bool] = []
    monkeypatch.setattr(page.supervisor, "restart", lambda: restarts.append(True))
    page.page.model.threads.setValue(3)
    page.page.model.context_length.setValue(5)  # shorter than anything the service takes
    page.page.network.port.setValue(8_000)
    page.page.send()
    qtbot.waitUntil(lambda: "restart" in page.page.notices.texts, timeout=LIMIT_MILLISECONDS)
    assert on_disk(home) == {"port": 8_000, "threads": 3, "context_length": 16}
    assert (home / "settings.toml").read_text().startswith("# mine\n") and page.client.changes() == []
    assert all(word in page.page.notices.texts["restart"] for word in ("threads", "port", "context length"))
    page.page.model.context_length.setValue(0)
    page.page.send()
    qtbot.waitUntil(lambda: "context_length" not in on_disk(home), timeout=LIMIT_MILLISECONDS)
    page.supervisor.connected.emit("http://127.0.0.1:8000", "a-key")
    assert "restart" not in page.page.notices.texts


def test_other_machines_are_let_in_only_knowingly(qtbot: QtBot, home: Path, page: Page) -> None:
    network = page.page.network
    assert "not encrypted" in network._open_note.text() and not network.names.isEnabled()
    network.open.click()
    page.page.send()
    qtbot.waitUntil(lambda: on_disk(home).get("host") == "0.0.0.0", timeout=LIMIT_MILLISECONDS)
    qtbot.waitUntil(network.names.isEnabled, timeout=LIMIT_MILLISECONDS)
    assert on_disk(home)["allowed_hosts"] and not {"127.0.0.1", "localhost"} & {*on_disk(home)["allowed_hosts"]}
    network.names.clear()
    qtbot.keyClicks(network.names, "laptop, 10.0.0.7 ,")
    qtbot.keyClick(network.names, Qt.Key.Key_Return)
    page.page.send()
    qtbot.waitUntil(lambda: on_disk(home)["allowed_hosts"] == ["laptop", "10.0.0.7"], timeout=LIMIT_MILLISECONDS)
    network.open.click()
    page.page.send()
    qtbot.waitUntil(lambda: on_disk(home) == {"port": 7500}, timeout=LIMIT_MILLISECONDS)


def test_what_the_environment_sets_is_locked(qtbot: QtBot, page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINFILL_PORT", "7600")
    monkeypatch.setenv("PINFILL_NO_KEY", "true")
    page.page.shown()
    qtbot.waitUntil(lambda: page.page.network.port.value() == 7600, timeout=LIMIT_MILLISECONDS)
    assert not page.page.network.port.isEnabled() and "PINFILL_PORT" in page.page.network.port.toolTip()
    assert not page.page.network.open.isEnabled() and "no_key" in page.page.network.open.toolTip()
    assert page.page.model.threads.isEnabled()


def test_whatever_rules_the_service_lists_can_be_switched(qtbot: QtBot, page: Page) -> None:
    rules = page.page.rules
    assert {name: box.isChecked() for name, box in rules.boxes.items()} == {
        "claude-billing-header": True,
        "tools-by-name": False,
    }
    for box in rules.boxes.values():
        box.click()
    page.page.send()
    assert page.client.asked[-1].body == {"rules": {"claude-billing-header": False, "tools-by-name": True}}
    qtbot.waitUntil(rules.boxes["tools-by-name"].isChecked, timeout=LIMIT_MILLISECONDS)
    page.say(ServiceState.STOPPED)
    assert not rules.isVisible()


def test_what_is_refused_is_told_and_taken_back(qtbot: QtBot, page: Page) -> None:
    page.client.answers["PATCH", "settings"] = Failure(FailureKind.REFUSED, "The disk is full.")
    page.page.memory.memory.setValue(1)
    page.page.send()
    qtbot.waitUntil(lambda: page.page.notices.texts.get("failure") == "The disk is full.", timeout=LIMIT_MILLISECONDS)
    assert page.page.memory.memory.value() == 2_048


def test_a_stopped_service_gets_everything_with_its_next_start(qtbot: QtBot, home: Path, page: Page) -> None:
    page.say(ServiceState.FAILED)
    page.page.memory.memory.setValue(512)
    page.page.send()
    qtbot.waitUntil(lambda: on_disk(home).get("memory_budget_mib") == 512, timeout=LIMIT_MILLISECONDS)
    assert page.client.changes() == [] and "restart" not in page.page.notices.texts


def test_settings_that_cannot_be_read_lock_the_form(qtbot: QtBot, home: Path, page: Page) -> None:
    (home / "settings.toml").write_text("port = 'many'\n")
    page.page._start = None
    page.page.shown()
    qtbot.waitUntil(lambda: "file" in page.page.notices.texts, timeout=LIMIT_MILLISECONDS)
    assert "port" in page.page.notices.texts["file"] and not page.page.network.isEnabled()


def test_the_application_is_changed_at_once(home: Path, page: Page) -> None:
    section = page.page.application
    section.theme.setCurrentIndex(section.theme.findData(Theme.DARK.value))
    section.theme.activated.emit(section.theme.currentIndex())
    assert is_dark(QApplication.palette()) and AppSettings(home).theme is Theme.DARK
    section.language.activated.emit(section.language.findData("de"))
    assert AppSettings(home).language == "de" and "next start" in section._language_note.text()
    section.log_level.activated.emit(section.log_level.findData("debug"))
    assert AppSettings(home).log_level == "debug" and "log" in page.page.notices.texts["restart"]
    section.notifications.click()
    assert not AppSettings(home).notifications
    section.login.click()
    assert autostart().is_on()
    autostart().turn_off()
    page.page.shown()
    assert not section.login.isChecked()


def test_starting_at_login_that_fails_is_told(tmp_path: Path, page: Page) -> None:
    (tmp_path / "config").write_text("not a folder")
    page.page.application.login.click()
    assert "cannot be written" in page.page.notices.texts["failure"] and not page.page.application.login.isChecked()


@pytest.mark.parametrize(
    ("place", "words"),
    [(KeyPlace.FILE, "api-key"), (KeyPlace.KEYRING, "keyring"), (KeyPlace.SETTINGS, "PINFILL_API_KEY")],
)
def test_the_key_is_copied_and_never_shown(home: Path, page: Page, place: KeyPlace, words: str) -> None:
    page.supervisor.plan = Plan(home, "127.0.0.1", 7463, "a-key", place)
    page.say(ServiceState.READY)
    assert words in page.page.key.note.text() and "a-key" not in page.page.key.note.text()
    page.page.key.copy.click()
    assert QApplication.clipboard().text() == "a-key"


def test_one_function_writes_settings_and_leaves_the_rest_alone(home: Path) -> None:
    path = home / "settings.toml"
    path.write_text("# mine\nport = 1  # why\n[rules]\na = true\nb = false\n")
    write_settings(path, {"port": None, "threads": 2, "rules": {"b": True}})
    assert tomllib.loads(path.read_text()) == {"threads": 2, "rules": {"a": True, "b": True}}
    assert path.read_text().startswith("# mine\n")
    path.write_text("[")
    with pytest.raises(SettingsFileError, match=r"settings\.toml could not be changed"):
        write_settings(path, {"port": 1})


def test_every_control_is_for_a_setting_that_exists(home: Path) -> None:
    names = {"memory_budget_mib", "disk_budget_mib", "keep_sessions", "history", "context_length", "threads"}
    names |= {"port", "host", "allowed_hosts", "no_key", "rules"}
    assert names <= Settings.model_fields.keys() and names <= next_start().values.keys()
    assert keep({"threads": 5}).values["threads"] == 5 and "api_key" not in next_start().values


def test_a_real_service_takes_what_is_changed(qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with real_service(qtbot, home, monkeypatch) as application:
        application.window.show_page("settings")
        page = application.window.page
        assert isinstance(page, SettingsPage)
        qtbot.waitUntil(lambda: bool(page.rules.boxes), timeout=LIMIT_MILLISECONDS)
        qtbot.waitUntil(page.memory.isEnabled, timeout=LIMIT_MILLISECONDS)
        page.memory.memory.setValue(77)
        next(iter(page.rules.boxes.values())).click()
        page.send()
        qtbot.waitUntil(lambda: on_disk(home).keys() == {"memory_budget_mib", "rules"}, timeout=LIMIT_MILLISECONDS)

        def budget() -> int:
            status = application.store.status
            return status.memory.budget_bytes if status is not None and status.memory is not None else 0

        application.store.reload()
        qtbot.waitUntil(lambda: budget() == 77 << 20, timeout=LIMIT_MILLISECONDS)

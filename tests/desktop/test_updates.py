"""A newer version: asked for only if that is wanted, once a day, told once, and skipped for good."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from pinfill_app import update_words
from pinfill_app.application import PinfillApplication
from pinfill_app.release_source import USER_AGENT, ReleaseSource
from pinfill_app.releases import NoRelease, Release
from pinfill_app.service_state import ServiceState
from pinfill_app.settings import AppSettings
from pinfill_app.updates import DAY, Pace, Updates
from pinfill_app.widgets.form import Section
from pinfill_app.windows.settings_page import SettingsPage
from pinfill_app.windows.settings_updates import UpdatesRow
from pinfill_service import __version__
from tests.support.desktop import LIMIT_MILLISECONDS, QUICK, scripted
from tests.support.pages import english, shown
from tests.support.raw_http import json_answer, raw_server
from tests.support.updates import ScriptedSource, no_manager

NEWER, NEWEST = Release("v99.0"), Release("v99.1")
AT_ONCE = Pace((0, 0), (1, 1))
NOON = 1_700_000_000.0
ANSWER = b'{"tag_name": "v99.0", "draft": false, "prerelease": false}'


class Clock:
    """Set by hand, and counts how often it was looked at."""

    now, looks = NOON, 0

    def __call__(self) -> float:
        self.looks += 1
        return self.now


class Day:
    """Updates on such a clock, and what they said."""

    def __init__(self, home: Path) -> None:
        self.clock = Clock()
        self.settings, self.source = AppSettings(home), ScriptedSource()
        self.updates = Updates(self.settings, self.source, Pace(), self.clock)
        self.told: list[str] = []
        self.updates.found.connect(self._on_found)

    def _on_found(self) -> None:
        assert self.updates.newer is not None
        self.told.append(self.updates.newer.version)

    def tick(self, seconds: float = 0.0) -> int:
        """The timer rings, so much later. How often somebody was asked until now."""
        self.clock.now += seconds
        assert self.updates._timer.isActive()
        self.updates._on_time()
        return self.source.questions


@pytest.fixture
def day(qtbot: QtBot, home: Path) -> Day:
    return Day(home)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that the browser was to show."""
    pages: list[str] = []

    def open_page(url: QUrl) -> bool:
        pages.append(url.toString())
        return len(pages) == 1  # the second time there is no browser

    monkeypatch.setattr(QDesktopServices, "openUrl", open_page)
    return pages


# When it is asked


def test_it_is_off_until_somebody_turns_it_on(day: Day, home: Path) -> None:
    day.updates.start()
    assert not day.updates.is_wanted and not day.updates._timer.isActive()
    day.updates.set_wanted(True)
    assert AppSettings(home).tell_newer_version and day.updates._timer.isActive() and day.source.questions == 0
    day.updates.set_wanted(False)
    assert not AppSettings(home).tell_newer_version and not day.updates._timer.isActive()


def test_the_first_look_is_minutes_after_the_start_and_not_for_all_at_the_same_time(day: Day) -> None:
    day.updates.set_wanted(True)
    waits = set()
    for _ in range(20):
        day.updates.start()
        waits.add(day.updates._timer.interval())
    assert len(waits) > 1 and all(120_000 <= wait <= 600_000 for wait in waits)


def test_once_a_day_by_the_clock_whatever_comes_of_it_and_over_restarts(day: Day, home: Path) -> None:
    day.updates.set_wanted(True)
    assert day.tick() == 1 and day.tick(60) == 1
    day.source.answer(NoRelease.UNREACHABLE)
    assert day.tick(DAY / 2) == 1
    again = Day(home)  # started anew
    again.clock.now = day.clock.now
    again.updates.start()
    assert again.tick() == 0 and again.tick(DAY / 2) == 1  # the machine may have slept: it is one tick later
    again.source.answer(NoRelease.NONE_PUBLISHED)
    assert again.tick(-10 * DAY) == 2  # the clock was wrong, and is set back
    again.source.answer(NoRelease.NONE_PUBLISHED)
    assert again.tick(60) == 2


@pytest.mark.parametrize("value", ["soon", "nan", "inf", "-1", ""])
def test_a_time_that_is_none_does_not_stop_it(day: Day, value: str) -> None:
    day.settings._values.setValue("last_release_check", value)
    day.updates.set_wanted(True)
    assert day.tick() == 1
    day.source.answer(NoRelease.NONE_PUBLISHED)
    assert day.tick(60) == 1


def test_turned_off_while_it_asks_no_answer_is_waited_for(day: Day) -> None:
    day.updates.set_wanted(True)
    day.tick()
    day.updates.set_wanted(False)
    assert not day.source.is_asking


def test_what_fails_by_itself_is_one_line_in_the_log(day: Day, caplog: pytest.LogCaptureFixture) -> None:
    day.updates.set_wanted(True)
    day.tick()
    day.source.answer(NoRelease.UNREACHABLE)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] and day.updates.outcome is None
    caplog.clear()
    day.tick(DAY)
    day.source.answer(NoRelease.NONE_PUBLISHED)
    assert caplog.records == [] and day.updates.outcome is None


# What is told


def test_a_newer_version_is_told_once_and_known_after_a_restart(day: Day, home: Path) -> None:
    day.updates.set_wanted(True)
    for answer in (Release(__version__), NEWER, NEWER, NEWEST):
        day.tick(DAY)
        day.source.answer(answer)
    assert day.told == ["99.0", "99.1"]
    again = Day(home)
    again.updates.start()
    assert again.updates.newer == NEWEST and again.told == [] and again.source.questions == 0


def test_the_version_that_runs_is_not_news(day: Day) -> None:
    day.updates.set_wanted(True)
    for answer in (Release(__version__), Release("v0.0.1")):
        day.tick(DAY)
        day.source.answer(answer)
        assert day.updates.newer is None
    assert day.told == []


def test_what_was_skipped_is_told_again_only_when_asked(day: Day) -> None:
    day.updates.set_wanted(True)
    day.tick()
    day.source.answer(NEWER)
    day.updates.skip()
    assert day.updates.newer is None
    day.tick(DAY)
    day.source.answer(NEWER)
    assert day.updates.newer is None and day.told == ["99.0"]
    day.tick(DAY)
    day.source.answer(NEWEST)
    assert day.updates.newer == NEWEST and day.told == ["99.0", "99.1"]
    day.updates.skip()
    day.updates.check_now()
    day.source.answer(NEWEST)
    assert day.updates.newer == NEWEST and day.told == ["99.0", "99.1"]  # who asked sees it in the window


def test_a_click_asks_although_it_is_off_and_once(day: Day, home: Path) -> None:
    day.updates.start()
    day.updates.check_now()
    day.updates.check_now()
    assert day.updates.is_checking and day.source.questions == 1
    day.source.answer(NEWER)
    assert day.updates.newer == NEWER and not day.updates.is_checking and not day.updates._timer.isActive()
    again = Day(home)
    again.updates.start()
    assert again.updates.newer is None  # it is off


def test_who_clicks_while_it_is_asked_anyway_is_told_why_not(day: Day, caplog: pytest.LogCaptureFixture) -> None:
    day.updates.set_wanted(True)
    day.tick()
    day.updates.check_now()
    day.updates.set_wanted(False)  # the click still waits
    assert day.source.questions == 1 and day.source.is_asking
    day.source.answer(NoRelease.REFUSED)
    assert day.updates.outcome is NoRelease.REFUSED and caplog.records == []


@pytest.mark.parametrize("kept", ["v99.0; rm", "../evil", "99", "v0.0.1"])
def test_what_is_kept_is_looked_at_as_closely_as_an_answer(day: Day, kept: str) -> None:
    day.settings.found_release = kept
    day.updates.set_wanted(True)
    newer = day.updates.newer
    assert (newer.page.toString() if newer else None) in (None, "https://github.com/pinfill/pinfill/releases/tag/99")


# In the window


def test_the_settings_say_what_is_sent_and_keep_the_switch(qtbot: QtBot, home: Path) -> None:
    with english(), shown(qtbot, SettingsPage, home) as made:
        row = made.page.application.updates
        assert not row.box.isChecked() and not row.answer.isVisible()
        assert "api.github.com" in row.note.text() and USER_AGENT in row.note.text()
        for wanted in (True, False):
            row.box.click()
            assert AppSettings(home).tell_newer_version is row.box.isChecked() is wanted


def test_a_click_says_that_it_asks_and_what_came_of_it(qtbot: QtBot, day: Day) -> None:
    section = Section("This application")
    qtbot.addWidget(section)
    section.show()
    row = UpdatesRow(day.updates, section)
    for outcome, words in ((NoRelease.REFUSED, "Check again in an hour."), (NEWER, "Pinfill 99.0 is out.")):
        row.check_now.click()
        assert row.answer.text() == "Asking api.github.com..." and row.answer.isVisible()
        day.source.answer(outcome)
        assert row.answer.text().endswith(words)


@pytest.mark.parametrize("outcome", [*NoRelease, NEWER, Release(__version__), Release("v0.0.1")])
def test_every_outcome_has_words(outcome: Release | NoRelease) -> None:
    words = update_words.what_came_of_it(outcome)
    assert words.endswith(".") and "{" not in words


@pytest.mark.parametrize(
    ("platform", "prefix", "words"),
    [
        ("linux", "/usr/lib/pinfill", "sudo apt-get install ./pinfill_99.0_amd64.deb"),
        ("linux", "HOME/.local/lib/pinfill", "Download pinfill-99.0-linux-x86_64.tar.gz there"),
        ("win32", "HOME/Programs/Pinfill", "Download pinfill-99.0-setup.exe there"),
        ("linux", "HOME/src/.venv", ""),
    ],
)
def test_who_knows_how_it_was_installed_says_how_to_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, prefix: str, words: str
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    folder = tmp_path / "Programs" / "Pinfill"
    folder.mkdir(parents=True)
    (folder / "pinfill.py").touch()
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(sys, "prefix", prefix.replace("HOME", str(tmp_path)))
    said = update_words.how_to_update(NEWER)
    assert words in said and bool(said) == bool(words)


Start = Callable[[ReleaseSource, Callable[[], float]], PinfillApplication]


@pytest.fixture
def start(qtbot: QtBot, home: Path) -> Iterator[Start]:
    """The whole application on a scripted service, which looks at the clock at once and all the time."""
    made: list[PinfillApplication] = []

    def start_one(source: ReleaseSource, clock: Callable[[], float]) -> PinfillApplication:
        made.append(
            PinfillApplication(home, scripted(home), QUICK, [], lambda kept: Updates(kept, source, AT_ONCE, clock))
        )
        made[0].start(minimised=False)
        return made[0]

    yield start_one
    made[0].quit()
    qtbot.waitUntil(lambda: made[0].supervisor.state is ServiceState.STOPPED, timeout=LIMIT_MILLISECONDS)
    made[0].window.deleteLater()
    made[0].menu.deleteLater()
    made[0].deleteLater()


def no_clock() -> float:
    raise AssertionError("the days were counted")


def test_by_default_nobody_is_asked(qtbot: QtBot, start: Start) -> None:
    application = start(ReleaseSource(make_manager=no_manager), no_clock)
    qtbot.waitUntil(lambda: application.supervisor.state is ServiceState.READY, timeout=LIMIT_MILLISECONDS)
    assert application.settings.last_release_check == 0.0 and not application.updates._source.is_asking


def test_turned_on_it_is_asked_once_and_told_everywhere(
    qtbot: QtBot, home: Path, start: Start, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    settings = AppSettings(home)
    settings.tell_newer_version, settings.first_run_done = True, True
    clock = Clock()
    with raw_server([json_answer(ANSWER)]) as server, english():
        application = start(ReleaseSource(QUrl(server.url)), clock)
        told: list[tuple[str, str]] = []
        monkeypatch.setattr(application.notifications, "_show", lambda *words: told.append(words))
        notices = application.window.notices
        qtbot.waitUntil(lambda: "newer" in notices.texts and clock.looks > 5, timeout=LIMIT_MILLISECONDS)
        assert len(server.requests) == 1
    assert told == [("Pinfill 99.0 is out.", "Open Pinfill to see where to get it.")]
    assert notices.texts["newer"].startswith(f"Pinfill 99.0 is out. This is {__version__};")
    buttons = {button.text(): button for button in notices.findChildren(QPushButton)}
    application.menu.render_state()
    entry = next(action for action in application.menu.actions() if action.text() == "Pinfill 99.0 is out...")
    buttons["Open the download page"].click()
    entry.trigger()
    assert opened == ["https://github.com/pinfill/pinfill/releases/tag/v99.0"] * 2
    assert told[1:] == [("The download page cannot be opened", f"Open {opened[0]} in a browser.")]
    buttons["Skip this version"].click()
    assert "newer" not in notices.texts
    application.menu.render_state()
    assert not any("99.0" in action.text() for action in application.menu.actions())

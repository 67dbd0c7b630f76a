"""Newer versions in tests: nobody is asked, or a script answers."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtNetwork import QNetworkAccessManager

from pinfill_app.release_source import ReleaseSource
from pinfill_app.releases import NoRelease, Release
from pinfill_app.settings import AppSettings
from pinfill_app.updates import Updates


def no_manager(_: QObject) -> QNetworkAccessManager:
    """In place of a manager: whoever would send a request fails the test."""
    raise AssertionError("somebody was to be asked for a newer version")


def silent_updates(home: Path) -> Updates:
    """That fail the test when they ask."""
    return Updates(AppSettings(home), ReleaseSource(make_manager=no_manager))


class ScriptedSource(ReleaseSource):
    """Counts the questions; `answer` answers the one under way."""

    def __init__(self) -> None:
        super().__init__(make_manager=no_manager)
        self.questions = 0
        self._is_asked = False

    @property
    def is_asking(self) -> bool:
        return self._is_asked

    def ask(self) -> None:
        self.questions += not self._is_asked
        self._is_asked = True

    def give_up(self) -> None:
        self._is_asked = False

    def answer(self, outcome: Release | NoRelease) -> None:
        assert self._is_asked
        self._is_asked = False
        self.answered.emit(outcome)

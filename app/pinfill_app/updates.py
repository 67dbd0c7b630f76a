"""Whether a newer version is out. Nobody is asked unless the person turned that on, or clicks "Check now"."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QDesktopServices

from pinfill_app.release_source import ReleaseSource
from pinfill_app.releases import NoRelease, Release, release_of
from pinfill_app.settings import AppSettings

DAY = 24 * 60 * 60.0  # seconds

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """Milliseconds, at random between two numbers: until the clock is first looked at, and from then on.

    The clock says whether a day has passed, because timers stand still while the machine sleeps. And so that not all
    machines that wake at nine ask at nine, before their network is back.
    """

    first: tuple[int, int] = (2 * 60_000, 10 * 60_000)
    later: tuple[int, int] = (10 * 60_000, 20 * 60_000)


class Updates(QObject):
    """Asks once a day at most, whatever comes of it; a day later again. Nothing is downloaded or installed.

    `found` follows the first answer that names a newer version, `changed` everything that is shown.
    """

    changed = Signal()
    found = Signal()

    def __init__(
        self,
        settings: AppSettings,
        source: ReleaseSource | None = None,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings, self._clock = settings, clock
        self._source, self._pace = source or ReleaseSource(parent=self), pace or Pace()
        self._was_clicked = False
        self._known: Release | None = None
        self.outcome: Release | NoRelease | None = None  # of the last question that a person is told the answer of
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._on_time)
        self._source.answered.connect(self._on_answered)

    @property
    def is_wanted(self) -> bool:
        return self._settings.tell_newer_version

    @property
    def is_checking(self) -> bool:
        """For somebody who waits for the answer."""
        return self._was_clicked

    @property
    def newer(self) -> Release | None:
        """The release to tell of; None also for one that was skipped."""
        release = self._known
        if release is None or not release.is_newer or release.tag == self._settings.skipped_release:
            return None
        return release

    def start(self) -> None:
        """From now on the days are counted, if that is wanted. What was found before is known already."""
        if self.is_wanted:
            self._known = release_of(self._settings.found_release)
            self._wait(self._pace.first)
            self.changed.emit()

    def set_wanted(self, wanted: bool) -> None:
        self._settings.tell_newer_version = wanted
        self._settings.save()
        if wanted:
            self.start()
            return
        self._timer.stop()
        if not self._was_clicked:
            self._source.give_up()
        self._known = self.outcome = None
        self.changed.emit()

    def check_now(self) -> None:
        """Asks, whether that is turned on or not: it is asked for."""
        self._was_clicked = True
        self._ask()
        self.changed.emit()

    def skip(self) -> None:
        """Nothing more is said of the newer version, until there is one after it, or somebody asks."""
        if self.newer is not None:
            self._settings.skipped_release = self.newer.tag
            self._settings.save()
            self.outcome = None
            self.changed.emit()

    def open_page(self, tell: Callable[[str, str], None]) -> None:
        """Shows the newer version's page in the browser; `tell` gets a title and words when there is none."""
        if self.newer is not None and not QDesktopServices.openUrl(self.newer.page):
            address = self.newer.page.toString()
            tell(self.tr("The download page cannot be opened"), self.tr("Open {} in a browser.").format(address))

    def _wait(self, between: tuple[int, int]) -> None:
        self._timer.start(random.randint(*between))

    def _on_time(self) -> None:
        since = self._clock() - self._settings.last_release_check
        if not 0 <= since < DAY:  # a clock that was set back counts as a day, too
            self._ask()
        self._wait(self._pace.later)

    def _ask(self) -> None:
        self._settings.last_release_check = self._clock()
        self._settings.save()
        self._source.ask()

    def _on_answered(self, answer: Release | NoRelease) -> None:
        was_clicked, self._was_clicked = self._was_clicked, False
        is_release = isinstance(answer, Release)
        self.outcome = answer if was_clicked or is_release else None
        if isinstance(answer, Release):
            self._keep(answer, was_clicked)
        elif not was_clicked and answer is not NoRelease.NONE_PUBLISHED:
            log.warning("whether a newer version is out is not known (%s)", answer.name.lower())
        self.changed.emit()

    def _keep(self, release: Release, was_clicked: bool) -> None:
        if was_clicked and release.tag == self._settings.skipped_release:
            self._settings.skipped_release = ""
        is_first = release.tag != self._settings.found_release
        self._settings.found_release = release.tag
        self._settings.save()
        self._known = release
        if is_first and self.newer is not None and not was_clicked:
            self.found.emit()

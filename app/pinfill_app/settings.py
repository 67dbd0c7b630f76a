"""What a person chose for the application itself; what the service runs with is in settings.toml."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

from pinfill_app.theme import Theme

FILE = "app.ini"
LANGUAGES = ("", "en", "de", "zh_CN")
MOST_PIXELS = 100_000
LOG_LEVELS = ("error", "warning", "info", "debug")

log = logging.getLogger(__name__)


class AppSettings:
    """Values kept in the state folder. One that cannot be read is the default."""

    def __init__(self, home: Path) -> None:
        self._values = QSettings(str(home / FILE), QSettings.Format.IniFormat)

    @property
    def theme(self) -> Theme:
        value = str(self._values.value("theme", Theme.SYSTEM))
        return Theme(value) if value in list(Theme) else Theme.SYSTEM

    @theme.setter
    def theme(self, value: Theme) -> None:
        self._values.setValue("theme", value.value)

    @property
    def log_level(self) -> str:
        """How much the service logs, from its next start on: one of LOG_LEVELS."""
        value = str(self._values.value("log_level", "info"))
        return value if value in LOG_LEVELS else "info"

    @log_level.setter
    def log_level(self, value: str) -> None:
        self._values.setValue("log_level", value)

    @property
    def notifications(self) -> bool:
        """Whether pins that are warm, and problems, are told beside the tray."""
        return self._values.value("notifications", True, type=bool) is True

    @notifications.setter
    def notifications(self, value: bool) -> None:
        self._values.setValue("notifications", value)

    @property
    def language(self) -> str:
        """One of LANGUAGES; "" is the system's. It counts from the next start of the application on."""
        value = str(self._values.value("language", ""))
        return value if value in LANGUAGES else ""

    @language.setter
    def language(self, value: str) -> None:
        self._values.setValue("language", value)

    @property
    def tell_newer_version(self) -> bool:
        """Whether it is asked once a day if a newer version is out."""
        return self._values.value("tell_newer_version", False, type=bool) is True

    @tell_newer_version.setter
    def tell_newer_version(self, value: bool) -> None:
        self._values.setValue("tell_newer_version", value)

    @property
    def last_release_check(self) -> float:
        """When that was last asked, in seconds since 1970; 0 before it ever was."""
        value = self._values.value("last_release_check", 0.0, type=float)
        return value if isinstance(value, float) else 0.0

    @last_release_check.setter
    def last_release_check(self, value: float) -> None:
        self._values.setValue("last_release_check", value)

    @property
    def found_release(self) -> str:
        """The tag of the release that was last found, and told of; empty before one was."""
        return str(self._values.value("found_release", ""))

    @found_release.setter
    def found_release(self, value: str) -> None:
        self._values.setValue("found_release", value)

    @property
    def skipped_release(self) -> str:
        """The tag of the release that the person does not want to hear of; empty when there is none."""
        return str(self._values.value("skipped_release", ""))

    @skipped_release.setter
    def skipped_release(self, value: str) -> None:
        self._values.setValue("skipped_release", value)

    @property
    def first_run_done(self) -> bool:
        return self._values.value("first_run_done", False, type=bool) is True

    @first_run_done.setter
    def first_run_done(self, value: bool) -> None:
        self._values.setValue("first_run_done", value)

    @property
    def geometry(self) -> QByteArray:
        """Where the window was; empty before it was ever closed."""
        value = self._values.value("geometry")
        return value if isinstance(value, QByteArray) else QByteArray()

    @geometry.setter
    def geometry(self, value: QByteArray) -> None:
        self._values.setValue("geometry", value)

    def table(self, name: str) -> str:
        """How the columns of a table were arranged, as it has written that; empty before it did."""
        return str(self._values.value(f"tables/{name}", ""))

    def set_table(self, name: str, layout: str) -> None:
        self._values.setValue(f"tables/{name}", layout)

    def split(self, name: str) -> list[int]:
        """The sizes of the parts of a splitter, in pixels; empty before it was ever moved."""
        try:
            sizes = [int(part) for part in str(self._values.value(f"splits/{name}", "")).split()]
        except ValueError:
            return []
        return sizes if all(0 < size < MOST_PIXELS for size in sizes) else []

    def set_split(self, name: str, sizes: Sequence[int]) -> None:
        self._values.setValue(f"splits/{name}", " ".join(map(str, sizes)))

    def save(self) -> None:
        """Writes what was changed now."""
        self._values.sync()
        if self._values.status() is not QSettings.Status.NoError:
            log.warning("%s cannot be written", self._values.fileName())

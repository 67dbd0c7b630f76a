"""A .desktop file in the folder for programs that start at login (Desktop Application Autostart Specification)."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from pinfill_app.autostart import AutostartError, start_command

FILE = "pinfill.desktop"
_ESCAPED = '"`$\\'  # inside the quotes of an Exec argument


class DesktopFile:
    """Implements Autostart. A file that the desktop's own settings have turned off counts as off."""

    @property
    def path(self) -> Path:
        base = os.environ.get("XDG_CONFIG_HOME") or ""
        folder = Path(base) if os.path.isabs(base) else Path.home() / ".config"
        return folder / "autostart" / FILE

    def is_on(self) -> bool:
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return False
        return not {"Hidden=true", "X-GNOME-Autostart-enabled=false"} & {line.replace(" ", "") for line in lines}

    def turn_on(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self.path.with_suffix(".new")
            unfinished.write_text(_entry(start_command()), encoding="utf-8")
            unfinished.replace(self.path)
        except OSError as error:
            words = QCoreApplication.translate("autostart", "{} cannot be written: {}.")
            raise AutostartError(words.format(self.path, error.strerror)) from error

    def turn_off(self) -> None:
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            words = QCoreApplication.translate("autostart", "{} cannot be deleted: {}.")
            raise AutostartError(words.format(self.path, error.strerror)) from error


def _entry(command: list[str]) -> str:
    lines = {
        "Type": "Application",
        "Name": "Pinfill",
        "Comment": "Keeps long prompt prefixes warm",
        "Exec": " ".join(map(_quoted, command)),
        "Terminal": "false",
        "X-GNOME-Autostart-enabled": "true",
    }
    return "[Desktop Entry]\n" + "".join(f"{name}={value}\n" for name, value in lines.items())


def _quoted(argument: str) -> str:
    """As an argument of Exec, whose value is a string of a desktop file, where a backslash is doubled once more."""
    inner = "".join(f"\\{mark}" if mark in _ESCAPED else mark for mark in argument).replace("%", "%%")
    return f'"{inner}"'.replace("\\", "\\\\")

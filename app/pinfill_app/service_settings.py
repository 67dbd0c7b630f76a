"""The settings with which the service starts next time, read and changed beside the GUI thread."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psutil

from pinfill_service.settings import Settings, home
from pinfill_service.settings_file import write_settings

FILE = "settings.toml"
_PREFIX = "PINFILL_"


@dataclass(frozen=True, slots=True)
class NextStart:
    """`values` as settings.toml and the environment give them. `fixed` are those that the environment sets, which wins
    over the file. Sizes are bytes.
    """

    values: Mapping[str, Any]
    fixed: frozenset[str]
    memory_bytes: int
    free_disk_bytes: int
    cores: int


def next_start() -> NextStart:
    """Raises ValidationError and OSError for settings that cannot be used."""
    values = Settings.from_flags().model_dump(mode="json", exclude={"api_key"})
    fixed = frozenset(name for name in values if f"{_PREFIX}{name.upper()}" in os.environ)
    folder = next(path for path in (home(), *home().parents) if path.exists())
    return NextStart(
        values,
        fixed,
        psutil.virtual_memory().total,
        psutil.disk_usage(str(folder)).free,
        psutil.cpu_count(logical=False) or os.cpu_count() or 1,
    )


def keep(changes: Mapping[str, Any]) -> NextStart:
    """Writes settings for the next start; None takes one out. Raises SettingsFileError and as next_start does."""
    home().mkdir(mode=0o700, parents=True, exist_ok=True)
    write_settings(home() / FILE, changes)
    return next_start()

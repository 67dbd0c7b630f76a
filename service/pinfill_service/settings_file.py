"""Changing settings.toml, which people write too."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError


class SettingsFileError(Exception):
    """The file could not be changed. The message says why."""


def write_settings(path: Path, changes: Mapping[str, Any]) -> None:
    """Changes values in a settings file and leaves everything else in it as it is, comments too. Raises
    SettingsFileError. None takes a setting out, so that its default counts; a mapping changes only the keys it has.
    """
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
        for name, value in changes.items():
            if value is None:
                document.pop(name, None)
            elif isinstance(value, dict) and isinstance(document.get(name), dict):
                document[name].update(value)
            else:
                document[name] = value
        unfinished = path.with_suffix(".new")
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(tomlkit.dumps(document))
        unfinished.replace(path)
    except (OSError, TOMLKitError) as error:
        raise SettingsFileError(f"{path.name} could not be changed: {error}.") from error

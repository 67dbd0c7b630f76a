"""Whether Pinfill works on another folder than a log-in would give it."""

from __future__ import annotations

import os

_VARIABLES = ("PINFILL_HOME", "XDG_DATA_HOME")


def folder_is_chosen() -> bool:
    """Only a variable says so, which what is started elsewhere may not have."""
    return any(os.environ.get(name) for name in _VARIABLES)

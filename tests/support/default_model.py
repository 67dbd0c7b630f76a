"""The default model as a folder: a real one, pulled once for all tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pinfill_service.models.library import ModelLibrary
from pinfill_service.settings import DEFAULT_MODEL, home


@cache
def default_model() -> Path:
    """Its folder. Pulls it when `installers/dev.py` has not done so; a failure names the next step."""
    library = ModelLibrary(home())
    library.pull(DEFAULT_MODEL)
    return library.path(DEFAULT_MODEL)

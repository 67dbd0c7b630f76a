"""The list of a window's pages."""

from __future__ import annotations

from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListWidget


class PageList(QListWidget):
    """Keeps the keyboard while its own keys go from page to page, each of which takes it when it is shown."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        self.setFocus()

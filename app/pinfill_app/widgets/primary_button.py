"""The one button of a page that most people want."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QPushButton, QWidget


class PrimaryButton(QPushButton):
    """Has the colour of what is selected, light and dark."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._follow_theme()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.ApplicationPaletteChange:
            self._follow_theme()

    def _follow_theme(self) -> None:
        palette, general = QPalette(), QApplication.palette()
        for role, source in (
            (QPalette.ColorRole.Button, QPalette.ColorRole.Highlight),
            (QPalette.ColorRole.ButtonText, QPalette.ColorRole.HighlightedText),
        ):
            for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
                palette.setColor(group, role, general.color(QPalette.ColorGroup.Active, source))
        self.setPalette(palette)

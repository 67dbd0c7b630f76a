"""The one button of a page that most people want."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

DARKER = 150  # percent: the style draws buttons lighter, and the text has to be read


class PrimaryButton(QPushButton):
    """Has the colour of what is selected, light and dark."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._follow_theme()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._follow_theme()

    def _follow_theme(self) -> None:
        palette, general = QPalette(), QApplication.palette()
        ground = general.color(QPalette.ColorGroup.Active, QPalette.ColorRole.Highlight).darker(DARKER)
        text = general.color(QPalette.ColorGroup.Active, QPalette.ColorRole.HighlightedText)
        for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
            palette.setColor(group, QPalette.ColorRole.Button, ground)
            palette.setColor(group, QPalette.ColorRole.ButtonText, text)
        now = self.palette().color(QPalette.ColorGroup.Active, QPalette.ColorRole.Button)
        if now != ground:  # setting it is a change, too
            self.setPalette(palette)

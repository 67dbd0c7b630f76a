"""Text to read and to copy from: configuration, changes, lines of a log."""

from __future__ import annotations

from PySide6.QtGui import QFontDatabase, QPalette, QSyntaxHighlighter, QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from pinfill_app.theme import cached_color, failure_color, readable_on


class PlainView(QPlainTextEdit):
    """Fixed-width text that cannot be changed. Tab leaves it."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setAccessibleName(name)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.font().pointSizeF())
        self.setFont(font)

    def show_text(self, text: str) -> None:
        """The same text leaves the cursor and what is selected alone."""
        if text != self.toPlainText():
            self.setPlainText(text)


class DiffColors(QSyntaxHighlighter):
    """Lines that come and lines that go, which their first character tells too."""

    def __init__(self, view: PlainView) -> None:
        super().__init__(view.document())
        self._view = view

    def highlightBlock(self, text: str) -> None:
        palette: QPalette = self._view.palette()
        heads = text.startswith(("+++", "---"))
        look = QTextCharFormat()
        if heads or text.startswith("@@"):
            look.setForeground(palette.color(QPalette.ColorRole.PlaceholderText))
        elif text.startswith("+"):
            look.setForeground(readable_on(cached_color(palette), palette.color(QPalette.ColorRole.Base)))
        elif text.startswith("-"):
            look.setForeground(failure_color(palette))
        else:
            return
        self.setFormat(0, len(text), look)

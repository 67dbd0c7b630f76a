"""Two texts side by side, with what is different in them marked."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QApplication, QGridLayout, QLabel, QPlainTextEdit, QWidget

from pinfill_app.theme import GRID, cached_color, processed_color
from pinfill_app.word_difference import Span, differing

SHOWN_LINES = 3
_MARK_OPACITY = 0.3


class Difference(QWidget):
    """`before` on the left in the colour of what is cached, `after` on the right in that of what is processed. The
    marks are underlined and bold, too, for whom the colours are the same.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._texts = ("", "")
        self._panes = (_Pane(self), _Pane(self))
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        layout.setHorizontalSpacing(GRID)
        captions = (self.tr("&Cached, from before"), self.tr("&Now"))
        for column, (caption, pane) in enumerate(zip(captions, self._panes, strict=True)):
            label = QLabel(caption)
            label.setBuddy(pane)
            pane.setAccessibleName(caption.replace("&", ""))
            layout.addWidget(label, 0, column)
            layout.addWidget(pane, 1, column)

    def show_texts(self, before: str, after: str, *, show_spaces: bool = False) -> None:
        """`show_spaces`: white space is what it is about."""
        self._texts = before, after
        for pane in self._panes:
            pane.show_spaces(show_spaces)
        self._render()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._render()

    def _render(self) -> None:
        changes = differing(*self._texts)
        spans = [change.before for change in changes], [change.after for change in changes]
        colors = cached_color(self.palette()), processed_color(self.palette())
        for pane, text, marked, color in zip(self._panes, self._texts, spans, colors, strict=True):
            pane.show_text(text, marked, color)
            words = ", ".join(text[start:end] for start, end in marked if start < end)
            pane.setAccessibleDescription(self.tr("Different: {}").format(words) if words else "")


class _Pane(QPlainTextEdit):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._use_fixed_font()

    def show_spaces(self, wanted: bool) -> None:
        option = self.document().defaultTextOption()
        flag = QTextOption.Flag.ShowTabsAndSpaces
        option.setFlags(option.flags() | flag if wanted else option.flags() & ~flag)
        self.document().setDefaultTextOption(option)

    def show_text(self, text: str, marked: Sequence[Span], color: QColor) -> None:
        """Scrolls to the first of the marks, which may be empty."""
        self.setCurrentCharFormat(QTextCharFormat())  # or all of the text has that of the last mark
        self.setPlainText(text)
        mark, ground = QTextCharFormat(), QColor(color)
        ground.setAlphaF(_MARK_OPACITY)
        mark.setBackground(ground)
        mark.setFontWeight(QFont.Weight.Bold)
        mark.setFontUnderline(True)
        cursor = self.textCursor()
        for start, end in marked:
            cursor.setPosition(_units(text[:start]))
            cursor.setPosition(_units(text[:end]), QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(mark)
        cursor.setPosition(_units(text[: marked[0][1]]) if marked else 0)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.ApplicationFontChange:
            self._use_fixed_font()

    def sizeHint(self) -> QSize:
        frame = 2 * self.frameWidth() + round(2 * self.document().documentMargin())
        return QSize(30 * self.fontMetrics().averageCharWidth(), SHOWN_LINES * self.fontMetrics().lineSpacing() + frame)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width() // 2, self.sizeHint().height())

    def _use_fixed_font(self) -> None:
        font = QApplication.font()
        font.setFamilies(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families())
        font.setStyleHint(QFont.StyleHint.Monospace)
        self.setFont(font)


def _units(text: str) -> int:
    """Its length as Qt counts: characters beyond the basic plane are two."""
    return len(text) + sum(ord(character) > 0xFFFF for character in text)

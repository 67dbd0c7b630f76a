"""What a page says where it has nothing to show: why, and what to do."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from pinfill_app.theme import GRID, MARGIN

Choice = tuple[str, Callable[[], object]]  # a button's label, and what it does


class EmptyState(QWidget):
    """A sentence, and buttons for what it proposes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[str, tuple[str, ...]] = ("", ())
        self._words = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._row = QHBoxLayout()
        self._row.setSpacing(GRID)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(MARGIN)
        layout.addStretch(2)
        layout.addWidget(self._words)
        layout.addLayout(self._row)
        layout.addStretch(3)

    @property
    def words(self) -> str:
        return self._words.text()

    def tell(self, words: str, *choices: Choice) -> None:
        """Buttons stay the same ones, with the focus, as long as their labels do."""
        labels = tuple(label for label, _ in choices)
        if (words, labels) == self._shown:
            return
        self._shown = words, labels
        self._words.setText(words)
        while (item := self._row.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        self._row.addStretch(1)
        for label, act in choices:
            button = QPushButton(label)
            button.clicked.connect(lambda _checked=False, act=act: act())
            self._row.addWidget(button)
        self._row.addStretch(1)

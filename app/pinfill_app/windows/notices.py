"""Lines above the pages that tell what a person should know, until it is not so any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from pinfill_app.icons import pixmap, set_icon
from pinfill_app.theme import GRID, MARGIN, cached_color, failure_color


class Weight(Enum):
    """How much a notice matters; the value is its icon."""

    INFO = "info"
    FAILURE = "warning"


@dataclass(frozen=True, slots=True)
class Notice:
    """`action` and `other_action` are buttons' labels and what they do."""

    text: str
    weight: Weight = Weight.INFO
    action: tuple[str, Callable[[], None]] | None = None
    other_action: tuple[str, Callable[[], None]] | None = None
    can_close: bool = True


class Notices(QWidget):
    """At most one notice a topic; a later one of the same topic takes its place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: dict[str, tuple[Notice, QWidget]] = {}
        self._closed: dict[str, str] = {}  # what a person has read
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)

    @property
    def texts(self) -> dict[str, str]:
        """What is told, by topic."""
        return {topic: notice.text for topic, (notice, _) in self._lines.items()}

    def show_notice(self, topic: str, notice: Notice) -> None:
        """Unless a person has closed one with the same text, and it was not withdrawn since."""
        shown = self._lines.get(topic)
        if (shown and shown[0].text == notice.text) or self._closed.get(topic) == notice.text:
            return
        self.withdraw(topic)
        line = _Line(notice, lambda: self._close(topic))
        self._lines[topic] = notice, line
        self._layout.addWidget(line)

    def withdraw(self, topic: str) -> None:
        """It is not so any more."""
        self._closed.pop(topic, None)
        if topic in self._lines:
            _, line = self._lines.pop(topic)
            self._layout.removeWidget(line)
            line.hide()
            line.deleteLater()

    def _close(self, topic: str) -> None:
        text = self._lines[topic][0].text
        self.withdraw(topic)
        self._closed[topic] = text


class _Line(QFrame):
    def __init__(self, notice: Notice, close: Callable[[], None]) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.StyledPanel)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        layout.setSpacing(GRID)
        self._weight, self._sign = notice.weight, QLabel()
        layout.addWidget(self._sign, alignment=Qt.AlignmentFlag.AlignTop)
        text = QLabel(notice.text, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        policy = text.sizePolicy()  # that of a wrapping label: its height depends on its width
        policy.setHorizontalPolicy(QSizePolicy.Policy.Expanding)
        text.setSizePolicy(policy)
        layout.addWidget(text)
        for label, act in filter(None, (notice.action, notice.other_action)):
            button = QPushButton(label)
            button.clicked.connect(act)
            layout.addWidget(button)
        if notice.can_close:
            cross = QToolButton(autoRaise=True)
            cross.setAccessibleName(self.tr("Close this notice"))
            set_icon(cross, "close")
            cross.clicked.connect(close)
            layout.addWidget(cross)
        self._paint_sign()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._paint_sign()

    def _paint_sign(self) -> None:
        color = failure_color(self.palette()) if self._weight is Weight.FAILURE else cached_color(self.palette())
        self._sign.setPixmap(pixmap(self._weight.value, 2 * GRID, color))

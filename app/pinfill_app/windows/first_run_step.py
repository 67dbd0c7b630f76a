"""What one of the first steps is: a heading, words, a bar while something is under way, and buttons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from pinfill_app.service_state import ServiceState
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.heading import heading
from pinfill_app.windows.page import Context
from pinfill_app.wording import state_word

Choice = tuple[str, Callable[[], object]]  # a button's label, and what it does


class Step(QWidget):
    """Subclasses answer `render_state`, which calls `tell`. `changed` follows every rendering; `left` says that a
    button leads elsewhere.
    """

    changed = Signal()
    left = Signal()

    def __init__(self, title: str, about: str, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.is_done = False
        self.failure = ""
        self._acts: dict[str, Callable[[], object]] = {}
        self.buttons: dict[str, QPushButton] = {}  # by label
        self.words = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._bar = QProgressBar()
        self._bar.setAccessibleName(title)
        self._row = QHBoxLayout()
        self._row.setSpacing(GRID)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(MARGIN)
        layout.addWidget(heading(title))
        layout.addWidget(QLabel(about, wordWrap=True, textFormat=Qt.TextFormat.PlainText))
        layout.addWidget(self.words)
        layout.addWidget(self._bar)
        layout.addLayout(self._row)
        layout.addStretch(1)

    def render_state(self) -> None:
        """Says how things stand."""
        raise NotImplementedError

    def tell(self, words: str, *choices: Choice, done: bool = False, share: float | None = None) -> None:
        """`share`, 0 to 1, is how much of something is done that is under way. What failed is told with the words."""
        self.is_done = done
        self.words.setText("\n\n".join(filter(None, (self.failure, words))))
        self._bar.setVisible(share is not None)
        self._bar.setValue(int(100 * (share or 0)))
        self._acts = dict(choices)
        if list(self._acts) != list(self.buttons):
            self._make_buttons()
        self.changed.emit()

    def why_not(self) -> tuple[str, *tuple[Choice, ...]] | None:
        """Why nothing can be done yet; None when the service answers."""
        supervisor = self.context.supervisor
        if supervisor.state in (ServiceState.STOPPED, ServiceState.FAILED):
            words = self.tr("The service is not running ({}). {}").format(
                state_word(supervisor.state), supervisor.message.split("\n", 1)[0]
            )
            return words.strip(), (self.tr("&Start the service"), supervisor.start)
        if not supervisor.state.answers or self.context.store.status is None:
            return (self.tr("The service is {}.").format(state_word(supervisor.state)),)
        return None

    def leave_for(self, page: str, **hints: object) -> None:
        """Closes the first steps and goes on in the window."""
        self.left.emit()
        self.context.show_page(page, **hints)

    def _make_buttons(self) -> None:
        while (item := self._row.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        self.buttons.clear()
        for label in self._acts:
            self.buttons[label] = button = QPushButton(label)
            button.setAutoDefault(False)
            button.clicked.connect(lambda _checked=False, label=label: self._acts[label]())
            self._row.addWidget(button)
        self._row.addStretch(1)

"""A button for an action of a menu."""

from __future__ import annotations

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QPushButton, QWidget

from pinfill_app.widgets.primary_button import PrimaryButton


class ActionButton(QPushButton):
    """Looks as the action says, and does what it does; not there while the action is not to be seen. `text` stands for
    the action's where a shorter one is clear.
    """

    def __init__(self, action: QAction, parent: QWidget, text: str = "") -> None:
        super().__init__(text, parent)
        self._action, self._own_text = action, text
        action.changed.connect(self._render)
        self.clicked.connect(action.trigger)
        self._render()

    def _render(self) -> None:
        action = self._action
        self.setText(self._own_text or action.text())
        self.setIcon(action.icon())
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self.setToolTip(f"{action.toolTip()} ({keys})" if keys else action.toolTip())
        self.setEnabled(action.isEnabled())
        self.setVisible(action.isVisible())


class PrimaryActionButton(ActionButton, PrimaryButton):
    """The action that most people want."""

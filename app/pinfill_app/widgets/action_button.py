"""A button for an action of a menu."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QWidget

from pinfill_app.widgets.primary_button import PrimaryButton


class ActionButton(QPushButton):
    """Looks as the action says, and does what it does; not there while the action is not to be seen."""

    def __init__(self, action: QAction, parent: QWidget) -> None:
        super().__init__("", parent)
        self._action = action
        action.changed.connect(self._render)
        self.clicked.connect(action.trigger)
        self._render()

    def _render(self) -> None:
        action = self._action
        self.setText(action.text())
        self.setIcon(action.icon())
        self.setToolTip(action.toolTip())
        self.setEnabled(action.isEnabled())
        self.setVisible(action.isVisible())


class PrimaryActionButton(ActionButton, PrimaryButton):
    """The action that most people want."""

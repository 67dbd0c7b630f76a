"""The dialog that shows what would be changed in an agent's files, before it is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from pinfill_app.theme import MARGIN
from pinfill_app.widgets.plain_view import DiffColors, PlainView
from pinfill_app.widgets.text_size import resize_to_text
from pinfill_service.agents.agent import LocalAgent
from pinfill_service.agents.connections import Plan

WIDTH, HEIGHT = 100, 26  # characters, lines


class ChangeDialog(QDialog):
    """Keys are masked in what it shows. Accepted: make the changes."""

    def __init__(self, agent: LocalAgent, plan: Plan, parent: QWidget) -> None:
        super().__init__(parent)
        self.plan = plan
        undo = plan.connection is None
        title = self.tr("Undo the configuration of {}") if undo else self.tr("Write the configuration of {}")
        self.setWindowTitle(title.format(agent.title))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        words = QLabel("\n".join(self._words(agent, undo)), wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        diff = PlainView(self.tr("What changes"))
        self._colors = DiffColors(diff)
        diff.show_text(plan.diff)
        diff.setVisible(not plan.changes_nothing)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setAutoDefault(False)
        self.accept_button = buttons.addButton(
            self.tr("&Undo") if undo else self.tr("&Write"), QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.accept_button.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(MARGIN)
        layout.addWidget(words)
        layout.addWidget(diff, 1)
        layout.addWidget(buttons)
        if not plan.changes_nothing:
            resize_to_text(self, WIDTH, HEIGHT)

    def _words(self, agent: LocalAgent, undo: bool) -> list[str]:
        if undo:
            words = self.tr("{} no longer uses Pinfill after that. What you changed yourself stays.")
        else:
            words = self.tr(
                "{} uses Pinfill from its next start. The rest of its files stays as it is, and this can be undone."
            )
        lines = [words.format(agent.title)]
        if self.plan.changes_nothing:
            lines.append(self.tr("Nothing in the files changes."))
        if self.plan.left:
            lines.append(self.tr("Left as it is, because it was changed since: {}").format(", ".join(self.plan.left)))
        return lines

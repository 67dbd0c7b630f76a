"""What all dialogs that pin something have: what is pinned, its name, and what it is used as."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from pinfill_app.pin_names import LONGEST, suggested_name, typed_name
from pinfill_app.state import Store
from pinfill_app.theme import GRID, MARGIN

WIDTH = 84  # characters
ROW_HEIGHT = 1.6  # of the font's, in lists


class PinDialog(QDialog):
    """Subclasses lay out what is pinned in `body`, tell `suggest_name` what a name can be made of, and answer
    `wanted` and `problem`. It closes at once when Pin is pressed; `chosen` carries the dialog.
    """

    chosen = Signal(object)

    def __init__(self, title: str, store: Store, parent: QWidget) -> None:
        super().__init__(parent)
        self._store = store
        self.setWindowTitle(title)
        self.body = QVBoxLayout()
        self.body.setSpacing(GRID)
        self._name = QLineEdit(maxLength=LONGEST)
        self._name.textChanged.connect(self.check)
        self._hint = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._hint.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.form = QFormLayout()
        self.form.setSpacing(GRID)
        self.form.addRow(self.tr("&Name"), self._name)
        self.form.addRow("", self._hint)
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self._buttons.button(QDialogButtonBox.StandardButton.Cancel).setAutoDefault(False)
        self._pin = self._buttons.addButton(self.tr("&Pin"), QDialogButtonBox.ButtonRole.AcceptRole)
        self._pin.setDefault(True)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(MARGIN)
        layout.addLayout(self.body, 1)
        layout.addLayout(self.form)
        layout.addWidget(self._buttons)
        store.pins_changed.connect(self.check)
        store.status_changed.connect(self.check)

    def sizeHint(self) -> QSize:
        wide = QSize(WIDTH * self.fontMetrics().averageCharWidth(), 0)
        return super().sizeHint().expandedTo(wide).boundedTo(self.screen().availableSize())

    @property
    def name(self) -> str:
        """The pin's name; empty while there is none."""
        return typed_name(self._name.text())

    def set_name(self, name: str) -> None:
        self._name.setText(name)
        self._name.setModified(True)

    def suggest_name(self, text: str) -> None:
        """Proposes a name, unless a person has typed one."""
        if not self._name.isModified():
            self._name.setText(suggested_name(text, [pin.name for pin in self._store.pins]))

    def wanted(self) -> object:
        """What it was told."""
        raise NotImplementedError

    def problem(self) -> str:
        """Why this cannot be pinned yet; empty when it can."""
        raise NotImplementedError

    def check(self) -> None:
        """Says what is missing, or what the pin will be used as."""
        trouble = self.problem() or self._name_problem()
        self._hint.setText(trouble or self._use())
        self._pin.setEnabled(not trouble)

    def accept(self) -> None:
        self.check()
        if self._pin.isEnabled():
            super().accept()
            self.chosen.emit(self)

    def showEvent(self, event: QShowEvent) -> None:
        self.check()
        super().showEvent(event)

    def _name_problem(self) -> str:
        if not self._name.text().strip():
            return self.tr("Give it a name: programs choose it by that.")
        if not self.name:
            return self.tr("A name needs Latin letters or digits: it becomes part of a model's name.")
        taken = next((pin.name for pin in self._store.pins if pin.name.casefold() == self.name.casefold()), None)
        if taken is not None:
            return self.tr("There is a pin {} already. Choose another name, or unpin that one first.").format(taken)
        return ""

    def _use(self) -> str:
        status = self._store.status
        if status is None or status.model is None:
            return self.tr("No model is loaded. Load one, then pin.")
        return self.tr("Used as the model {}").format(f"{status.model.name}@{self.name}")

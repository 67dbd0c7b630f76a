"""Pinning a text: typed, pasted, or from the clipboard."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialogButtonBox, QLabel, QPlainTextEdit, QWidget

from pinfill_app import units
from pinfill_app.state import Store
from pinfill_app.windows.pin_dialog import PinDialog
from pinfill_service.api.schemas.manage import PinCreate

MOST_CHARACTERS = 2_000_000  # more than any model's context, and what an editor stays quick with
LINES = 12


class PinTextDialog(PinDialog):
    """The text becomes the system prompt of whoever uses the pin."""

    def __init__(self, text: str, store: Store, parent: QWidget) -> None:
        super().__init__(self.tr("Pin text"), store, parent)
        label = QLabel(self.tr("&Text, put in front of every request that uses it"))
        self._text = QPlainTextEdit(tabChangesFocus=True)
        self._text.setMinimumHeight(LINES * self.fontMetrics().lineSpacing())
        label.setBuddy(self._text)
        self._count = QLabel()
        self.body.addWidget(label)
        self.body.addWidget(self._text, 1)
        self.body.addWidget(self._count)
        paste = self._buttons.addButton(self.tr("Paste &clipboard"), QDialogButtonBox.ButtonRole.ActionRole)
        paste.setAutoDefault(False)
        paste.clicked.connect(lambda: self.put(QGuiApplication.clipboard().text()))
        self._text.textChanged.connect(self._on_text)
        self.put(text)
        (self._name if text else self._text).setFocus()

    @property
    def text(self) -> str:
        return self._text.toPlainText()

    def put(self, text: str) -> None:
        """Takes the place of what is there. The end of a text that is far too long is left out, which is said."""
        self._text.setPlainText(text[: MOST_CHARACTERS + 1])

    def wanted(self) -> PinCreate:
        return PinCreate(name=self.name, text=self.text)

    def problem(self) -> str:
        if self._text.document().characterCount() > MOST_CHARACTERS:
            return self.tr("The text is too long: at most {} characters.").format(units.number(MOST_CHARACTERS))
        return "" if self.text.strip() else self.tr("Type or paste the text to pin.")

    def _on_text(self) -> None:
        count = self._text.document().characterCount() - 1  # it counts a line end that is not there
        self._count.setText(self.tr("{} characters").format(units.number(count)))
        self.suggest_name(self._text.document().firstBlock().text()[:200])
        self.check()

"""Forms of settings: sections with a heading, controls with a note below them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QLabel, QSpinBox, QVBoxLayout, QWidget

from pinfill_app.theme import GRID
from pinfill_app.widgets.heading import heading

_SECTION = 1.15  # of the text's size
_NUMBER = 18  # characters


class Section(QWidget):
    """A heading, and rows of a label and a control."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.form = QFormLayout()
        self.form.setHorizontalSpacing(2 * GRID)
        self.form.setVerticalSpacing(GRID)
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint)
        self.form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(heading(title, _SECTION))
        layout.addLayout(self.form)

    def add(self, label: str, control: QWidget, note: str = "") -> QLabel:
        """One row; returns its note, which is hidden while it is empty. `label` may mark a key with "&"."""
        said = Note(note)
        if label:
            self.form.addRow(label, control)
            control.setAccessibleName(label.replace("&", ""))
        else:
            self.form.addRow(control)
        self.form.addRow("", said) if label else self.form.addRow(said)
        return said


class Note(QLabel):
    """Explains a control, in a quieter colour."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.setVisible(bool(text))

    def setText(self, text: str, /) -> None:
        super().setText(text)
        self.setVisible(bool(text))


def number_box(low: int, high: int, step: int, suffix: str, changed: Callable[[int], None]) -> QSpinBox:
    """A number; `changed` is called when it is finished, not for every digit."""
    box = QSpinBox(minimum=low, maximum=high, singleStep=step, suffix=suffix)
    box.setGroupSeparatorShown(True)
    box.setKeyboardTracking(False)
    box.setAlignment(Qt.AlignmentFlag.AlignRight)
    box.setMinimumWidth(_NUMBER * box.fontMetrics().averageCharWidth())
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the wheel scrolls the page
    box.valueChanged.connect(changed)
    return box


def choice_box(choices: list[tuple[str, str]], changed: Callable[[str], None]) -> QComboBox:
    """One of several: (value, what people read)."""
    box = QComboBox()
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    for value, words in choices:
        box.addItem(words, value)
    box.activated.connect(lambda index: changed(str(box.itemData(index))))
    return box


def check_box(text: str, changed: Callable[[bool], None]) -> QCheckBox:
    """Yes or no; `changed` is called for what a person does."""
    box = QCheckBox(text)
    box.clicked.connect(changed)
    return box

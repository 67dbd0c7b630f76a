"""Forms of settings: sections with a heading, controls with a note below them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QSpinBox,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from pinfill_app.theme import GRID
from pinfill_app.widgets.heading import heading

_SECTION = 1.15  # of the text's size
_NUMBER = 18  # characters
_LABEL = 28
_QUIET = 0.75  # of the text's colour


class Section(QWidget):
    """A heading, and rows of a label and a control."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = QGridLayout()  # a form layout gives notes that wrap too little room
        self._rows.setHorizontalSpacing(2 * GRID)
        self._rows.setVerticalSpacing(GRID)
        self._rows.setColumnMinimumWidth(0, _LABEL * self.fontMetrics().averageCharWidth())  # the same in all sections
        self._rows.setColumnStretch(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(heading(title, _SECTION))
        layout.addLayout(self._rows)

    def add(self, label: str, control: QWidget, note: str = "") -> QLabel:
        """One row; returns its note, which is hidden while it is empty. `label` may mark a key with "&"."""
        said, field = Note(note), QWidget()
        column = QVBoxLayout(field)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(control, alignment=Qt.AlignmentFlag.AlignLeft)
        column.addWidget(said)
        if label:
            name = QLabel(label)
            name.setBuddy(control)
            name.setMinimumHeight(control.sizeHint().height())
            row = self._rows.rowCount()
            self._rows.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            self._rows.addWidget(field, row, 1)
            control.setAccessibleName(label.replace("&", ""))
        else:
            style = self.style()
            box = style.pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth)
            said.setIndent(box + style.pixelMetric(QStyle.PixelMetric.PM_CheckBoxLabelSpacing))
            self.add_wide(field)
        return said

    def add_wide(self, widget: QWidget) -> None:
        """A row without a label."""
        self._rows.addWidget(widget, self._rows.rowCount(), 0, 1, 2)


class Note(QLabel):
    """Explains a control, in a quieter colour."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.setVisible(bool(text))
        self._follow_theme()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._follow_theme()

    def setText(self, text: str, /) -> None:
        super().setText(text)
        self.setVisible(bool(text))

    def _follow_theme(self) -> None:
        palette, color = QPalette(), QApplication.palette().color(QPalette.ColorRole.WindowText)
        color.setAlphaF(_QUIET)
        palette.setColor(QPalette.ColorRole.WindowText, color)
        if self.palette().color(QPalette.ColorRole.WindowText) != color:  # setting it is a change, too
            self.setPalette(palette)


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

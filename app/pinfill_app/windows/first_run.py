"""The first steps: a model, a pin, an agent. Each can be left out; shown once, and again from the menu of help."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from pinfill_app import units
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.form import Note
from pinfill_app.widgets.text_size import resize_to_text
from pinfill_app.windows.first_run_agent import AgentStep
from pinfill_app.windows.first_run_model import ModelStep
from pinfill_app.windows.first_run_pin import PinStep
from pinfill_app.windows.first_run_step import Step
from pinfill_app.windows.page import Context

WIDTH, HEIGHT = 72, 20  # characters, lines


class FirstRun(QDialog):
    """Blocks nothing: the window behind it can be used. Closed at any step, it counts as seen."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._settings = context.settings
        self.setWindowTitle(self.tr("First steps with Pinfill"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.steps: tuple[Step, ...] = (ModelStep(context), PinStep(context), AgentStep(context))
        self._stack = QStackedWidget()
        for step in self.steps:
            self._stack.addWidget(step)
            step.changed.connect(self._render)
            step.left.connect(self.close)
        self._count = Note(" ")
        self.back = QPushButton(self.tr("&Back"))
        self.back.clicked.connect(lambda: self._go(-1))
        self.next = QPushButton()
        self.next.setDefault(True)
        self.next.clicked.connect(lambda: self._go(1))
        self._lay_out()
        self._render()

    @property
    def step(self) -> Step:
        """The one that is shown."""
        return self.steps[self._stack.currentIndex()]

    def done(self, result: int, /) -> None:
        self._settings.first_run_done = True
        self._settings.save()
        super().done(result)

    def _go(self, by: int) -> None:
        place = self._stack.currentIndex() + by
        if place == len(self.steps):
            self.accept()
            return
        self._stack.setCurrentIndex(max(0, place))
        self.step.render_state()
        self._render()

    def _render(self) -> None:
        place = self._stack.currentIndex()
        last = place == len(self.steps) - 1
        words = self.tr("Step {} of {}")
        self._count.setText(words.format(units.number(place + 1), units.number(len(self.steps))))
        self.back.setEnabled(place > 0)
        if last:
            self.next.setText(self.tr("&Finish"))
        else:
            self.next.setText(self.tr("&Next") if self.step.is_done else self.tr("&Skip this step"))

    def event(self, event: QEvent, /) -> bool:
        handled = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:  # words have changed
            self._grow()
        return handled

    def _grow(self) -> None:
        """Nothing that is said is cut off: words that wrap need more height than a layout asks for by itself."""
        needed = self.heightForWidth(self.width())
        if needed > self.height():
            self.resize(self.width(), needed)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self._count)
        row.addStretch(1)
        row.addWidget(self.back)
        row.addWidget(self.next)
        self.back.setAutoDefault(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(MARGIN)
        layout.addWidget(self._stack, 1)
        layout.addLayout(row)
        resize_to_text(self, WIDTH, HEIGHT)

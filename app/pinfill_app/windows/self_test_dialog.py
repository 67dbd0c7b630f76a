"""The dialog that runs the self-test and shows what it found, fit for a bug report."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QProgressBar, QVBoxLayout, QWidget

from pinfill_app import units
from pinfill_app.failure_words import failure_words
from pinfill_app.self_test import Outcome, SelfTest
from pinfill_app.theme import MARGIN
from pinfill_app.tray_actions import copy
from pinfill_app.widgets.plain_view import PlainView
from pinfill_app.widgets.text_size import resize_to_text
from pinfill_service.selftest.report import Report

WIDTH, HEIGHT = 90, 30  # characters, lines


class SelfTestDialog(QDialog):
    """Begins when it is made; closing it ends the test. `options` as after `pinfill selftest`."""

    def __init__(self, parent: QWidget, *options: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Self-test"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.words = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.words.setText(self.tr("Looks at the machine, loads the model, and asks it the same thing twice..."))
        self._progress = QProgressBar(minimum=0, maximum=0)
        self._progress.setAccessibleName(self.windowTitle())
        self.text = PlainView(self.tr("Report"))
        self.text.hide()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy_button = buttons.addButton(self.tr("&Copy report"), QDialogButtonBox.ButtonRole.ActionRole)
        self.copy_button.setEnabled(False)
        self.copy_button.clicked.connect(lambda: copy(f"{self.text.toPlainText()}\n"))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(MARGIN)
        for widget in (self.words, self._progress):
            layout.addWidget(widget)
        layout.addWidget(self.text, 1)
        layout.addWidget(buttons)
        resize_to_text(self, WIDTH, HEIGHT)
        self._test: SelfTest | None = SelfTest(self)
        self._test.finished.connect(self._on_finished)
        self._test.start(*options)

    def done(self, result: int, /) -> None:
        if self._test is not None:
            self._test.stop()
            self._test = None
        super().done(result)

    def _on_finished(self, outcome: Outcome) -> None:
        self._test = None
        self._progress.hide()
        if outcome.report is None:
            self.words.setText(self.tr("The self-test failed. {}").format(outcome.text))
            return
        problems = (failure_words(problem.code, problem.message) for problem in outcome.report.problems)
        self.words.setText("\n".join((self._verdict(outcome.report), *problems)))
        self.text.show_text(outcome.text)
        self.text.show()
        self.copy_button.setEnabled(True)

    def _verdict(self, report: Report) -> str:
        run = report.request
        if run is None:
            return self.tr("No answer came, so nothing could be compared.")
        if not run.equal:
            return self.tr("The answer from the cache is another one. Please report this, with the text below.")
        if not run.cached_tokens:
            return self.tr("Answers come, but nothing was cached. Please report this, with the text below.")
        words = self.tr("All is well: the answer from the cache is the same, first word after {} instead of {}.")
        return words.format(units.duration(run.warm_seconds), units.duration(run.cold_seconds))

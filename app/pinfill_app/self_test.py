"""The self-test of `pinfill selftest`, as a child process."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from pydantic import ValidationError
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Signal

from pinfill_app.command_errors import CHILD, failure_of
from pinfill_service.selftest.report import Report


@dataclass(frozen=True, slots=True)
class Outcome:
    """`report` None: there is none, and `text` says why. Otherwise `text` is the report as JSON."""

    report: Report | None
    text: str


class SelfTest(QObject):
    """One run. `finished` carries its Outcome, once; it does not come after `stop`."""

    finished = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        for name, value in CHILD.items():
            environment.insert(name, value)
        self._process.setProcessEnvironment(environment)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)

    def start(self, *options: str) -> None:
        """`options` as after `pinfill selftest`."""
        command = ["-P", "-m", "pinfill_service.cli", "selftest", "--json", *options]
        self._process.start(sys.executable, command)

    def stop(self) -> None:
        """Nobody wants to know any more."""
        self._process.finished.disconnect(self._on_finished)
        self._process.errorOccurred.disconnect(self._on_error)
        self._process.kill()
        self._process.waitForFinished(1_000)  # it was killed

    def _on_finished(self) -> None:
        text = bytes(self._process.readAllStandardOutput().data()).decode("utf-8", "replace").strip()
        try:
            report = Report.model_validate_json(text)
        except ValidationError:
            errors = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace")
            self.finished.emit(Outcome(None, failure_of(errors, self.tr("It ended without a word.")).message))
        else:
            self.finished.emit(Outcome(report, text))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # every other one is followed by `finished`
            self.finished.emit(Outcome(None, self._process.errorString()))

"""Looks for models of other programs with `pinfill models found`, in a process of its own: files may be hostile."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QObject, QProcess, QProcessEnvironment, QTimer, Signal

from pinfill_app.command_errors import CHILD, failure_of
from pinfill_app.models.found_model import FoundModel, read_found

ARGUMENTS = ("-P", "-m", "pinfill_service.cli", "models", "found", "--json")
LIMIT_MILLISECONDS = 60_000  # a folder may be on a slow disk
MOST_BYTES, MOST_MODELS = 2 << 20, 1_000
_LAST_BYTES = 10_000  # kept of what it says on stderr


class FoundModels(QObject):
    """What the last look has found; one that failed leaves what was found before, and the reason in `failure`.

    One look at a time. `changed` follows when it begins and when it has ended. `arguments` are Python's.
    """

    changed = Signal()

    def __init__(
        self, parent: QObject | None = None, arguments: Sequence[str] = ARGUMENTS, limit: int = LIMIT_MILLISECONDS
    ) -> None:
        super().__init__(parent)
        self.models: tuple[FoundModel, ...] = ()
        self.failure = ""
        self.has_looked = False
        self._arguments = list(arguments)
        self._process: QProcess | None = None
        self._output, self._errors = b"", b""
        self._killed_because = ""
        self._timer = QTimer(self, singleShot=True, interval=limit)
        self._timer.timeout.connect(self._on_timeout)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.end_now)

    @property
    def is_looking(self) -> bool:
        return self._process is not None

    def look_once(self) -> None:
        """Looks, unless that was done before."""
        if not self.has_looked:
            self.look()

    def look(self) -> None:
        """Does nothing while a look is under way."""
        if self._process is not None:
            return
        self.has_looked = True
        self.failure, self._killed_because = "", ""
        self._output, self._errors = b"", b""
        self._process = process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        for variable, value in CHILD.items():
            environment.insert(variable, value)
        process.setProcessEnvironment(environment)
        process.setStandardInputFile(QProcess.nullDevice())
        process.readyReadStandardOutput.connect(self._on_output)
        process.readyReadStandardError.connect(self._on_errors)
        process.finished.connect(self._on_finished)
        process.errorOccurred.connect(self._on_error)
        self._timer.start()
        process.start(sys.executable, self._arguments)
        self.changed.emit()

    def end_now(self) -> None:
        """Ends a look, and waits for that: the application ends."""
        if self._process is not None:
            self._process.kill()
            self._process.waitForFinished()

    def _on_output(self) -> None:
        assert self._process is not None
        self._output += bytes(self._process.readAllStandardOutput().data())
        if len(self._output) > MOST_BYTES:
            self._output = b""
            self._kill(self._too_many())

    def _on_errors(self) -> None:
        assert self._process is not None
        self._errors = (self._errors + bytes(self._process.readAllStandardError().data()))[-_LAST_BYTES:]

    def _on_timeout(self) -> None:
        self._kill(self.tr("Looking for models of other programs took too long. Is a folder of theirs on a slow disk?"))

    def _kill(self, because: str) -> None:
        assert self._process is not None
        self._killed_because = self._killed_because or because
        self._process.kill()  # `finished` follows

    def _on_finished(self) -> None:
        assert self._process is not None
        self._on_output()
        self._on_errors()
        done = self._process.exitStatus() is QProcess.ExitStatus.NormalExit and self._process.exitCode() == 0
        if self._killed_because:
            self._end(self._killed_because)
        elif done:
            self._end(self._read())
        else:
            words = self.tr("Models of other programs could not be looked for. {}")
            reason = failure_of(self._errors.decode("utf-8", "replace"), "").message
            self._end(words.format(reason).strip())

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:  # others end with `finished`
            words = self.tr("Models of other programs could not be looked for. {}")
            self._end(words.format(self._process.errorString()))

    def _read(self) -> tuple[FoundModel, ...] | str:
        try:
            models = read_found(self._output)
        except ValueError:
            return self.tr("The look for models of other programs gave an answer that this version does not know.")
        return models if len(models) <= MOST_MODELS else self._too_many()

    def _too_many(self) -> str:
        return self.tr(
            "Other programs have more models on this machine than can be shown here. In a terminal, "
            "'pinfill models found' lists them, and 'pinfill models import' takes one in."
        )

    def _end(self, outcome: tuple[FoundModel, ...] | str) -> None:
        assert self._process is not None
        self._timer.stop()
        self._process.deleteLater()
        self._process = None
        self._output = b""
        if isinstance(outcome, str):
            self.failure = outcome
        else:
            self.models, self.failure = outcome, ""
        self.changed.emit()

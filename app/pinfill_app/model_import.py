"""Takes in a model with `pinfill models import`, in a process of its own, which tells how far it is."""

from __future__ import annotations

import json
import sys

from pydantic import ValidationError
from PySide6.QtCore import QCoreApplication, QObject, QProcess, QProcessEnvironment, QTimer, Signal

from pinfill_app.command_errors import CHILD, failure_of
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.failure_words import refused
from pinfill_service.api.schemas.manage import ModelProgressEvent

STOP_MILLISECONDS = 10_000  # until a process that was asked to stop is killed
_LONGEST_LINE = 10_000
_KEPT_LINES = 10  # of what it wrote before it failed


class ModelImport(QObject):
    """One import at a time. `progressed` carries a ModelProgressEvent, `ended` the name of the new model, a Failure, or
    None when it was stopped.
    """

    progressed = Signal(object)
    ended = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process: QProcess | None = None
        self._stopped = False
        self._rest, self._words = b"", list[str]()
        self._killer = QTimer(self, singleShot=True, interval=STOP_MILLISECONDS)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.end_now)

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def start(self, source: str, name: str = "") -> None:
        """`source`: a file, a folder, or a found model's id. Without `name`, one is made of the source's. Does nothing
        while one is under way.
        """
        if self._process is not None:
            return
        self._stopped, self._rest, self._words = False, b"", []
        self._process = process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        for variable, value in CHILD.items():
            environment.insert(variable, value)
        process.setProcessEnvironment(environment)
        process.readyReadStandardError.connect(self._on_errors)
        process.finished.connect(self._on_finished)
        process.errorOccurred.connect(self._on_error)
        self._killer.timeout.connect(process.kill)
        options = ["models", "import", "--json", "--progress-json", "--exit-with-parent"]
        named = [f"--name={name}"] if name else []
        process.start(sys.executable, ["-P", "-m", "pinfill_service.cli", *options, *named, "--", source])

    def stop(self) -> None:
        """The process ends in order and leaves nothing; `ended` follows."""
        if self._process is not None and not self._stopped:
            self._stopped = True
            self._process.closeWriteChannel()
            self._killer.start()

    def end_now(self) -> None:
        """Stops, and waits for it: the application ends."""
        if self._process is not None:
            self.stop()
            self._process.waitForFinished(STOP_MILLISECONDS)

    def _on_errors(self) -> None:
        assert self._process is not None
        *lines, self._rest = (self._rest + bytes(self._process.readAllStandardError().data())).split(b"\n")
        self._rest = self._rest[-_LONGEST_LINE:]
        for line in lines:
            text = line.decode("utf-8", "replace").strip()
            try:
                event = ModelProgressEvent.model_validate({"name": "", **json.loads(text)})
            except (ValueError, TypeError, ValidationError):
                self._words = [*self._words, text][-_KEPT_LINES:] if text else self._words
            else:
                self.progressed.emit(event)

    def _on_finished(self) -> None:
        assert self._process is not None
        self._on_errors()
        done = self._process.exitStatus() is QProcess.ExitStatus.NormalExit and self._process.exitCode() == 0
        output = bytes(self._process.readAllStandardOutput().data())
        if done:
            self._end(_name_in(output))  # also when it was asked to stop, but was quicker
        elif self._stopped:
            self._end(None)
        else:
            self._end(failure_of("\n".join(self._words), self.tr("The import failed and did not say why.")))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:  # others end with `finished`
            words = self.tr("The import cannot be started: {}.").format(self._process.errorString())
            self._end(refused(words))

    def _end(self, outcome: str | Failure | None) -> None:
        assert self._process is not None
        self._killer.stop()
        self._killer.timeout.disconnect()
        self._process.deleteLater()
        self._process = None
        self.ended.emit(outcome)


def _name_in(output: bytes) -> str | Failure:
    try:
        return str(json.loads(output)["name"])
    except (ValueError, KeyError, TypeError):
        tr = QCoreApplication.translate
        words = tr("failures", "The import answered what this version does not understand. Install Pinfill again.")
        return Failure(FailureKind.NOT_UNDERSTOOD, words)

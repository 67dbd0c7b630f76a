"""Commands of `pinfill`, run beside the application: for what needs files read, and documents taken apart."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment
from shiboken6 import isValid

from pinfill_app.client import Client
from pinfill_app.command_errors import CHILD, failure_of
from pinfill_app.failure import Failure
from pinfill_app.failure_words import refused


@dataclass(frozen=True, slots=True)
class Output:
    """What a command that succeeded printed."""

    text: str


Done = Callable[["Output | Failure"], None]


class Command:
    """One that runs."""

    def __init__(self, process: QProcess, done: Done) -> None:
        self._process, self._done = process, done
        self._stopped = False

    def stop(self) -> None:
        """Ends it at once; `done` is not called. What it has asked of the service by then is done."""
        self._stopped = True
        if isValid(self._process):
            self._process.kill()

    def deliver(self, outcome: Output | Failure) -> None:
        self._process.deleteLater()
        receiver = getattr(self._done, "__self__", None)
        if not self._stopped and (not isinstance(receiver, QObject) or isValid(receiver)):
            self._done(outcome)


class Commands(QObject):
    """Runs commands against the service that the client asks.

    `done` gets the Output or a Failure with the command's own words; it is not called for a method of a QObject that is
    gone by then.
    """

    def __init__(self, client: Client, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._running: set[Command] = set()

    def run(self, *arguments: str, done: Done) -> Command:
        """`arguments` as after `pinfill`. What begins with a dash and is not an option goes behind "--"."""
        process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        for name, value in CHILD.items():
            environment.insert(name, value)
        if self._client.key is not None:
            environment.insert("PINFILL_API_KEY", self._client.key)
        process.setProcessEnvironment(environment)
        command = Command(process, done)
        self._running.add(command)
        process.finished.connect(lambda code, status: self._on_finished(process, command))
        process.errorOccurred.connect(lambda error: self._on_error(process, error, command))
        process.start(sys.executable, ["-P", "-m", "pinfill_service.cli", *arguments])
        return command

    def stop_all(self) -> None:
        for command in self._running:
            command.stop()

    def _on_finished(self, process: QProcess, command: Command) -> None:
        output = bytes(process.readAllStandardOutput().data()).decode("utf-8", "replace")
        errors = bytes(process.readAllStandardError().data()).decode("utf-8", "replace")
        if process.exitStatus() is QProcess.ExitStatus.NormalExit and process.exitCode() == 0:
            self._deliver(command, Output(output))
        else:
            self._deliver(command, failure_of(errors, self.tr("The command failed and did not say why.")))

    def _on_error(self, process: QProcess, error: QProcess.ProcessError, command: Command) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # every other one is followed by `finished`
            words = self.tr("The command cannot be started: {}.").format(process.errorString())
            self._deliver(command, refused(words))

    def _deliver(self, command: Command, outcome: Output | Failure) -> None:
        self._running.discard(command)
        command.deliver(outcome)

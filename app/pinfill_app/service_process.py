"""The service as a child process: started, read, and ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from pinfill_app.command_errors import read_code, read_sentence
from pinfill_app.failure_words import failure_words
from pinfill_app.service_log import ServiceLog

LAST_LINES = 12
LONGEST_LINE = 4_096  # characters


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process ended. `crashed`: by a signal or an exception of the processor, which is `code` on Linux."""

    code: int
    crashed: bool
    last_lines: tuple[str, ...]
    could_not_start: str | None = None

    @property
    def refusal(self) -> str | None:
        """What the service says of an expected error, in the window's language; None for anything else."""
        said = read_sentence(self.last_lines) if self.code == 1 and not self.crashed else None
        return None if said is None else failure_words(read_code(self.last_lines), said)


class ServiceProcess(QObject):
    """One process. `ended` carries an Ended, once.

    The service watches its standard input, which is a pipe of ours: closing it asks it to end in order, on every
    system, and it closes by itself when this application dies, however it dies.
    """

    ended = Signal(object)

    def __init__(self, log: ServiceLog, stop_milliseconds: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._log = log
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self._rest = b""
        self._process = QProcess(self)
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        self._process.readyReadStandardOutput.connect(self._on_output)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)
        self._limit = QTimer(self, singleShot=True, interval=stop_milliseconds)
        self._limit.timeout.connect(self.kill)

    @property
    def is_running(self) -> bool:
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def start(self, command: Sequence[str], extra_environment: Mapping[str, str], folder: Path) -> None:
        """Returns at once. What must stay secret goes into the environment: arguments are seen by everybody."""
        environment = QProcessEnvironment.systemEnvironment()
        for name, value in extra_environment.items():
            environment.insert(name, value)
        self._process.setProcessEnvironment(environment)
        self._process.setWorkingDirectory(str(folder))
        self._process.start(command[0], list(command[1:]))

    def stop(self) -> None:
        """Asks the process to end, and kills it when it takes too long."""
        if self.is_running and not self._limit.isActive():
            self._process.closeWriteChannel()
            self._limit.start()

    def end_now(self) -> None:
        """Waits until the process has ended, for when the application itself must end at once."""
        if self.is_running:
            self._process.closeWriteChannel()
            if not self._process.waitForFinished(self._limit.interval()):
                self._process.kill()
                self._process.waitForFinished(self._limit.interval())

    def kill(self) -> None:
        self._process.kill()

    def _on_output(self) -> None:
        *lines, self._rest = (self._rest + bytes(self._process.readAllStandardOutput().data())).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            self._keep(line)

    def _keep(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip()[:LONGEST_LINE]
        if text:
            self._lines.append(text)
            self._log.write(text)

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._limit.stop()
        self._on_output()
        self._keep(self._rest)
        self.ended.emit(Ended(code, status is QProcess.ExitStatus.CrashExit, tuple(self._lines)))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # every other one is followed by `finished`
            self.ended.emit(Ended(-1, False, (), self._process.errorString()))

"""Ends a service that this application did not start."""

from __future__ import annotations

import psutil
from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

LOOK_MILLISECONDS = 100


class Ending(QObject):
    """Asks a process to end (SIGTERM; Windows ends it at once), and kills it when that takes too long.

    `ended` follows when it is gone; `refused` carries why it cannot be ended.
    """

    ended = Signal()
    refused = Signal(str)

    def __init__(self, limit_milliseconds: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._limit = limit_milliseconds
        self._process: psutil.Process | None = None
        self._since = QElapsedTimer()
        self._timer = QTimer(self, interval=LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._look)

    def begin(self, pid: int) -> None:
        self._since.start()
        try:
            self._process = psutil.Process(pid)  # remembers when it began: its id may become another's
            self._process.terminate()
        except psutil.NoSuchProcess:
            self._process = None
        except psutil.Error as error:
            self.refused.emit(str(error))
            return
        self._timer.start()

    def cancel(self) -> None:
        """Whatever becomes of it is not waited for."""
        self._timer.stop()

    def _look(self) -> None:
        process = self._process
        try:
            gone = process is None or not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
            if process is not None and not gone and self._since.hasExpired(self._limit):
                process.kill()
        except psutil.NoSuchProcess:
            gone = True
        if gone:
            self._timer.stop()
            self.ended.emit()

"""Whether the service answers: GET /livez, again and again."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtNetwork import QNetworkReply

from pinfill_app.network import HTTP_STATUS, direct_manager, request_to
from pinfill_app.supervision_limits import Limits


class Heartbeat(QObject):
    """`answered` follows every sign of life; `missed` carries how many were missed in a row.

    Misses are counted instead of seconds: a computer that slept has not been waiting for an answer.
    """

    answered = Signal()
    missed = Signal(int)

    def __init__(self, limits: Limits, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._limits = limits
        self._manager = direct_manager(self)  # its own, so that it never waits behind another request
        self._url = QUrl()
        self._misses = 0
        self._pulse = limits.first_probe
        self._reply: QNetworkReply | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._ask)

    def watch(self, url: str) -> None:
        """Begins with the service at `url`, which is expected soon."""
        self._begin(url, 0, self._limits.first_probe)

    def wait_for(self, url: str) -> None:
        """Begins with one that may come some day."""
        self._begin(url, self._limits.probe, self._limits.probe)

    def _begin(self, url: str, first: int, pulse: int) -> None:
        self.stop()
        self._url, self._misses, self._pulse = QUrl(f"{url}/livez"), 0, pulse
        self._timer.start(first)

    def stop(self) -> None:
        self._timer.stop()
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()

    def _ask(self) -> None:
        self._reply = self._manager.get(request_to(self._url, None, self._limits.answer / 1000))
        self._reply.finished.connect(self._on_finished)

    def _on_finished(self) -> None:
        reply = self._reply
        if reply is None or self.sender() is not reply:
            return
        self._reply = None
        reply.deleteLater()
        alive = reply.attribute(HTTP_STATUS) == 200
        self._misses = 0 if alive else self._misses + 1
        if alive:
            self._pulse = self._limits.probe
        self._timer.start(self._pulse)
        if alive:
            self.answered.emit()
        else:
            self.missed.emit(self._misses)

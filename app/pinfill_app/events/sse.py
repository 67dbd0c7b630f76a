"""The service's event stream: opened, read, and taken up again where it was lost."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtNetwork import QNetworkReply

from pinfill_app.client import API, not_understood, refusal
from pinfill_app.events.parser import EventParser, StreamError
from pinfill_app.failure import Failure
from pinfill_app.network import HTTP_STATUS, content_of, direct_manager, request_to, too_late, unreachable

QUIET_SECONDS = 45.0  # the service sends a comment every 15 s
RETRY_MILLISECONDS = 1_000
LONGEST_RETRY_MILLISECONDS = 30_000
MEDIA_TYPE = "text/event-stream"


class EventStream(QObject):
    """Reads the events of one service for as long as it is open, over as many connections as that takes.

    `received` carries a ServerEvent. `began` says that events arrive from now on, and whether any may have been missed
    since the last one that was received: then everything has to be asked for again. `lost` carries the Failure; the
    stream connects again by itself, after longer and longer waits until an event arrives.
    """

    received = Signal(object)
    began = Signal(bool)
    lost = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._manager = direct_manager(self)  # its own, so that no other request waits behind the stream
        self._url = ""
        self._key: str | None = None
        self._reply: QNetworkReply | None = None
        self._parser = EventParser()
        self._attempts = 0
        self._announced = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._connect)

    def open(self, url: str, key: str | None) -> None:
        """Begins with the service at `url` (`http://host:port`)."""
        self.close()
        self._url, self._key = url, key
        self._parser, self._attempts = EventParser(), 0
        self._connect()

    def close(self) -> None:
        """Ends the stream; nothing is received any more."""
        self._timer.stop()
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()

    def _connect(self) -> None:
        request = request_to(QUrl(f"{self._url}{API}events"), self._key, QUIET_SECONDS)
        request.setRawHeader(b"Accept", MEDIA_TYPE.encode())
        if self._parser.last_id:
            request.setRawHeader(b"Last-Event-ID", self._parser.last_id.encode())
        self._parser = EventParser(self._parser.last_id)
        self._announced = False
        self._reply = self._manager.get(request)
        self._reply.readyRead.connect(self._on_ready)
        self._reply.finished.connect(self._on_finished)

    def _on_ready(self) -> None:
        reply = self._reply
        if reply is None or self.sender() is not reply or not _is_stream(reply):
            return
        if not self._announced:
            self._announced = True
            self.began.emit(not self._parser.last_id)
        try:
            events = self._parser.feed(content_of(reply))
        except StreamError:
            reply.abort()
            return
        for event in events:
            self._attempts = 0
            if self._reply is reply:  # a receiver may have closed the stream
                self.received.emit(event)

    def _on_finished(self) -> None:
        reply = self._reply
        if reply is None or self.sender() is not reply:
            return
        self._reply = None
        reply.deleteLater()
        failure = _failure(reply)
        wait = (self._parser.retry or RETRY_MILLISECONDS) << min(self._attempts, 10)
        self._attempts += 1
        self._timer.start(min(wait, LONGEST_RETRY_MILLISECONDS))
        self.lost.emit(failure)


def _is_stream(reply: QNetworkReply) -> bool:
    media_type = bytes(reply.rawHeader("Content-Type").data()).decode("latin-1")
    return reply.attribute(HTTP_STATUS) == 200 and media_type.partition(";")[0].strip() == MEDIA_TYPE


def _failure(reply: QNetworkReply) -> Failure:
    address, status = reply.url().authority(), reply.attribute(HTTP_STATUS)
    if status is not None and status >= 400:
        return refusal(address, status, content_of(reply))
    if status is not None and not _is_stream(reply):
        return not_understood(address, status)
    late = (QNetworkReply.NetworkError.TimeoutError, QNetworkReply.NetworkError.OperationCanceledError)
    return too_late(address) if reply.error() in late else unreachable(address)

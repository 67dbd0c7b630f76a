"""Asks where releases are published which one is the latest: the application's only request beyond this machine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtNetwork import (
    QNetworkAccessManager,
    QNetworkProxy,
    QNetworkProxyFactory,
    QNetworkProxyQuery,
    QNetworkReply,
    QNetworkRequest,
)

from pinfill_app.background import in_background
from pinfill_app.network import HTTP_STATUS, content_of, request_to
from pinfill_app.releases import LATEST, NoRelease, Release, latest_release
from pinfill_service import __version__

USER_AGENT = f"Pinfill/{__version__}"
SECONDS = 30.0  # for all of it
MAX_ANSWER_BYTES = 1 << 20
MOST_REDIRECTIONS = 3
# Said explicitly, Qt does not say which language this machine speaks.
_HEADERS = {"User-Agent": USER_AGENT, "Accept": "application/vnd.github+json", "Accept-Language": "en"}
_REDIRECTED_ELSEWHERE = (
    QNetworkReply.NetworkError.InsecureRedirectError,
    QNetworkReply.NetworkError.TooManyRedirectsError,
    QNetworkReply.NetworkError.ProtocolUnknownError,
)

log = logging.getLogger(__name__)


class ReleaseSource(QObject):
    """One request at a time, by the system's proxy. `answered` follows every `ask` that was not given up.

    A manager is made for each request and is gone after it: no connection, cookie or cache outlives an answer. Only
    redirections within the same scheme, host and port are followed.
    """

    answered = Signal(object)  # Release | NoRelease

    def __init__(
        self,
        url: QUrl = LATEST,
        make_manager: Callable[[QObject], QNetworkAccessManager] = QNetworkAccessManager,
        seconds: float = SECONDS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._url, self._make_manager = url, make_manager
        self._manager: QNetworkAccessManager | None = None
        self._reply: QNetworkReply | None = None
        self._limit = QTimer(self, singleShot=True, interval=round(seconds * 1000))
        self._limit.timeout.connect(self._on_limit)

    @property
    def is_asking(self) -> bool:
        return self._limit.isActive()

    def ask(self) -> None:
        """Does nothing while an answer is waited for."""
        if not self.is_asking:
            self._limit.start()
            in_background(self, partial(_proxy_for, self._url), self._on_proxy)  # a script may have to be fetched

    def give_up(self) -> None:
        """Nobody waits for the answer any more."""
        self._limit.stop()
        manager, reply = self._manager, self._reply
        self._manager = self._reply = None
        if manager is not None and reply is not None:
            reply.abort()
            manager.deleteLater()  # and the reply, its child

    def _on_proxy(self, proxy: QNetworkProxy | Exception) -> None:
        if not self.is_asking or self._manager is not None:
            return
        if isinstance(proxy, Exception):
            log.warning("the system's proxy is not known: %s", proxy)
            self._end(NoRelease.UNREACHABLE)
            return
        self._manager = self._make_manager(self)
        self._manager.setProxy(proxy)
        self._manager.setRedirectPolicy(QNetworkRequest.RedirectPolicy.SameOriginRedirectPolicy)
        self._reply = self._manager.get(_request(self._url))
        self._reply.readyRead.connect(self._on_ready)
        self._reply.finished.connect(self._on_finished)

    def _on_limit(self) -> None:
        self._end(NoRelease.TOO_LATE)

    def _on_ready(self) -> None:
        if self._reply is not None and self._reply.bytesAvailable() > MAX_ANSWER_BYTES:
            self._end(NoRelease.NOT_UNDERSTOOD)

    def _on_finished(self) -> None:
        if self._reply is not None:
            self._end(_outcome(self._reply))

    def _end(self, outcome: Release | NoRelease) -> None:
        self.give_up()
        self.answered.emit(outcome)


def _request(url: QUrl) -> QNetworkRequest:
    request = request_to(url, None, None)
    request.setMaximumRedirectsAllowed(MOST_REDIRECTIONS)
    for name, value in _HEADERS.items():
        request.setRawHeader(name.encode(), value.encode())
    return request


def _proxy_for(url: QUrl) -> QNetworkProxy:
    return QNetworkProxyFactory.systemProxyForQuery(QNetworkProxyQuery(url))[0]


def _outcome(reply: QNetworkReply) -> Release | NoRelease:
    """Of a reply that has finished."""
    status, error = reply.attribute(HTTP_STATUS), reply.error()
    if status == 404:
        return NoRelease.NONE_PUBLISHED
    if status is not None and status >= 400:
        return NoRelease.REFUSED
    if error in _REDIRECTED_ELSEWHERE:
        return NoRelease.NOT_UNDERSTOOD
    if error is QNetworkReply.NetworkError.SslHandshakeFailedError:
        return NoRelease.INSECURE
    if error is not QNetworkReply.NetworkError.NoError:
        return NoRelease.UNREACHABLE
    return latest_release(content_of(reply))

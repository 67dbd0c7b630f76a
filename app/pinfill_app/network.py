"""How requests of the application are sent: to the local service itself, without proxies and redirections.

The one request that goes elsewhere, if the person wants it, is release_source.py's.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QObject, QUrl
from PySide6.QtNetwork import QNetworkAccessManager, QNetworkProxy, QNetworkReply, QNetworkRequest

from pinfill_app.failure import Failure, FailureKind

HTTP_STATUS = QNetworkRequest.Attribute.HttpStatusCodeAttribute


def direct_manager(parent: QObject) -> QNetworkAccessManager:
    """A manager that uses no proxy and follows no redirection, which would carry the key elsewhere."""
    manager = QNetworkAccessManager(parent)
    manager.setProxy(QNetworkProxy(QNetworkProxy.ProxyType.NoProxy))
    manager.setRedirectPolicy(QNetworkRequest.RedirectPolicy.ManualRedirectPolicy)
    return manager


def request_to(url: QUrl, key: str | None, seconds: float | None) -> QNetworkRequest:
    """A request that fails when nothing is heard for `seconds`; None: it may take as long as it takes."""
    request = QNetworkRequest(url)
    for attribute in (QNetworkRequest.Attribute.CookieSaveControlAttribute, _COOKIES_SENT):
        request.setAttribute(attribute, QNetworkRequest.LoadControl.Manual)
    request.setRawHeader(b"Accept-Encoding", b"identity")  # nothing that grows when it is unpacked
    if key is not None:
        request.setRawHeader(b"Authorization", f"Bearer {key}".encode())
    if seconds is not None:
        request.setTransferTimeout(round(seconds * 1000))
    return request


def content_of(reply: QNetworkReply) -> bytes:
    """What has arrived; nothing from a reply that was aborted."""
    return bytes(reply.readAll().data()) if reply.isOpen() else b""


def unreachable(address: str) -> Failure:
    """Nothing listens there, or it hung up before it said anything."""
    words = QCoreApplication.translate("failures", "The service at {} does not answer. Is it running?")
    return Failure(FailureKind.UNREACHABLE, words.format(address))


def too_late(address: str) -> Failure:
    """It took longer than it may."""
    words = QCoreApplication.translate("failures", "The service at {} took too long. Try again, or restart it.")
    return Failure(FailureKind.TIMEOUT, words.format(address))


_COOKIES_SENT = QNetworkRequest.Attribute.CookieLoadControlAttribute

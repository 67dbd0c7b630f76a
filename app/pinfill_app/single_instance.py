"""One application a state folder: a second start raises the first one's window."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

LOCK = "app.lock"
WAIT_MILLISECONDS = 2_000  # for the first instance, once, before there is a window
SHOW, QUIET = b"show\n", b"quiet\n"


class SingleInstance(QObject):
    """`raised` follows a second start that asked to see the window.

    The lock decides who is first, and ends with its process; the socket only carries the question.
    """

    raised = Signal()

    def __init__(self, home: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = QLockFile(str(home / LOCK))
        self._lock.setStaleLockTime(0)  # stale only when its process is gone
        self._name = _socket_name(home)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def acquire(self) -> bool:
        """Whether this is the first one; it then listens for others. Raises OSError when the folder cannot be used."""
        if not self._lock.tryLock(0):
            if self._lock.error() is not QLockFile.LockError.LockFailedError:
                raise OSError(f"{self._lock.fileName()} cannot be written")
            return False
        QLocalServer.removeServer(self._name)  # left by one that was killed
        self._server.listen(self._name)
        return True

    def hail(self, *, show: bool) -> bool:
        """Tells the first one that there was another start; False when it does not answer. Waits for it."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(WAIT_MILLISECONDS):
            return False
        socket.write(SHOW if show else QUIET)
        socket.waitForBytesWritten(WAIT_MILLISECONDS)
        answered = socket.waitForReadyRead(WAIT_MILLISECONDS)
        socket.disconnectFromServer()
        return answered

    def release(self) -> None:
        """Another one may be the first."""
        self._server.close()
        self._lock.unlock()

    def _on_connection(self) -> None:
        socket = self._server.nextPendingConnection()
        socket.readyRead.connect(self._on_ready)
        socket.disconnected.connect(socket.deleteLater)
        if socket.canReadLine():
            self._answer(socket)

    def _on_ready(self) -> None:
        socket = self.sender()
        if isinstance(socket, QLocalSocket) and socket.canReadLine():
            self._answer(socket)

    def _answer(self, socket: QLocalSocket) -> None:
        line = bytes(socket.readLine(64).data())
        socket.write(b"ok\n")
        socket.flush()
        if line == SHOW:
            self.raised.emit()


def _socket_name(home: Path) -> str:
    """In the user's own run-time folder where there is one; named after the state folder, whose path may be too long
    for a socket's.
    """
    digest = hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:16]
    name, folder = f"pinfill-{digest}", os.environ.get("XDG_RUNTIME_DIR", "")
    return os.path.join(folder, name) if os.path.isabs(folder) else name

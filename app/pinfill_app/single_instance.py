"""One application a state folder: a second start raises the first one's window, or ends it."""

from __future__ import annotations

import hashlib
import os
from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from pinfill_service.state_lock import APPLICATION_LOCK

WAIT_MILLISECONDS = 2_000  # for the first instance, once, before there is a window
QUIT_MILLISECONDS = 30_000  # for its end; half of it may be the service's
SHOW, QUIET, QUIT = b"show\n", b"quiet\n", b"quit\n"


class End(Enum):
    """What became of the first one that was asked to quit."""

    NOT_RUNNING = auto()
    ENDED = auto()
    STAYS = auto()  # it does not answer, or takes too long


class SingleInstance(QObject):
    """`raised` follows a second start that asked to see the window, `quit_asked` one that asked to quit.

    The lock decides who is first, and ends with its process; the socket only carries the question. Other users cannot
    connect to it.
    """

    raised = Signal()
    quit_asked = Signal()

    def __init__(self, home: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = QLockFile(str(home / APPLICATION_LOCK))
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
        socket = self._told(SHOW if show else QUIET)
        if socket is None:
            return False
        socket.disconnectFromServer()
        return True

    def end_first(self, milliseconds: int = QUIT_MILLISECONDS) -> End:
        """Asks the first one to quit, and waits until it has ended, with its service. The connection ends with it."""
        if self._lock.tryLock(0):
            self._lock.unlock()
            return End.NOT_RUNNING
        socket = self._told(QUIT)
        if socket is None:
            return End.STAYS
        is_over = socket.state() is QLocalSocket.LocalSocketState.UnconnectedState
        return End.ENDED if is_over or socket.waitForDisconnected(milliseconds) else End.STAYS

    def release(self) -> None:
        """Another one may be the first."""
        self._server.close()
        self._lock.unlock()

    def _told(self, line: bytes) -> QLocalSocket | None:
        """The connection over which the first one was told and answered; None when it does not answer."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(WAIT_MILLISECONDS):
            return None
        socket.write(line)
        socket.waitForBytesWritten(WAIT_MILLISECONDS)
        return socket if socket.waitForReadyRead(WAIT_MILLISECONDS) else None

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
        elif line == QUIT:
            self.quit_asked.emit()


def _socket_name(home: Path) -> str:
    """In the user's own run-time folder where there is one; named after the state folder, whose path may be too long
    for a socket's.
    """
    digest = hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:16]
    name, folder = f"pinfill-{digest}", os.environ.get("XDG_RUNTIME_DIR", "")
    return os.path.join(folder, name) if os.path.isabs(folder) else name

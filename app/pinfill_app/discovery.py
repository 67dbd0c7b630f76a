"""Which service runs already, and which port is free."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil
from PySide6.QtNetwork import QHostAddress, QTcpServer

from pinfill_service.state_lock import HOLDER, holder

PORTS_TRIED = 50
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
_CLOCK_SECONDS = 2.0  # by which the times of files and of processes may differ


@dataclass(frozen=True, slots=True)
class Found:
    """A service that works on this state folder."""

    pid: int
    port: int


def running_service(home: Path) -> Found | None:
    """The service that said it works on `home` and has not ended since.

    Its process must be older than what it wrote: the id of a dead one may belong to another program by now.
    """
    said = holder(home)
    if said is None:
        return None
    try:
        started = psutil.Process(said[0]).create_time()
        written = (home / HOLDER).stat().st_mtime
    except (psutil.Error, OSError, ValueError):
        return None
    return Found(*said) if started <= written + _CLOCK_SECONDS else None


def url_of(host: str, port: int) -> str:
    """The address at which a service that listens on `host` is reached from here."""
    host = _ANY_ADDRESS.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def free_port(host: str, first: int) -> int | None:
    """`first`, or the next port that nobody listens on; None when PORTS_TRIED of them are taken. 0 is any port."""
    for port in range(first, min(first + PORTS_TRIED, 65_536)):
        server = QTcpServer()
        free = server.listen(_address(host), port)
        chosen = server.serverPort()
        server.close()
        if free:
            return chosen
    return None


def who_listens(port: int) -> str | None:
    """ "process 812, python3"; None when the system does not tell. Takes a while."""
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port and connection.pid:
                return f"process {connection.pid}, {psutil.Process(connection.pid).name()}"
    except psutil.Error:  # some systems tell only administrators
        pass
    return None


def _address(host: str) -> QHostAddress:
    address = QHostAddress(host)
    return QHostAddress(QHostAddress.SpecialAddress.LocalHost) if address.isNull() else address

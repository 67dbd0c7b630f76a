"""An HTTP server that sends exactly the bytes it is told, right or wrong, and remembers what it was asked."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
KEEP = object()  # instead of bytes: the connection stays open until the server ends


def json_answer(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body


@dataclass
class RawServer:
    """`answers`: what each connection gets, one after the other; the last one again and again. Or `route`: what a path
    gets.
    """

    answers: Sequence[Sequence[object]]
    route: Callable[[str], Sequence[object]] | None = None
    url: str = ""
    requests: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def serve(self, listener: socket.socket) -> None:
        for number in range(1_000):
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            pieces = self.answers[min(number, len(self.answers) - 1)] if self.answers else ()
            threading.Thread(target=self._answer, args=(connection, pieces), daemon=True).start()

    def _answer(self, connection: socket.socket, pieces: Sequence[object]) -> None:
        with connection, suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            request = _read_request(connection)
            self.requests.append(request)
            if self.route is not None:
                pieces = self.route(request.split(" ")[1].partition("?")[0])
            for piece in pieces:
                if isinstance(piece, bytes):
                    connection.sendall(piece)
                else:
                    self.ended.wait()


def _read_request(connection: socket.socket) -> str:
    """Head and body."""
    request = b""
    while b"\r\n\r\n" not in request:
        request += connection.recv(65_536)
    length = re.search(rb"content-length: (\d+)", request, re.IGNORECASE)
    size = request.index(b"\r\n\r\n") + 4 + (int(length[1]) if length else 0)
    while len(request) < size:
        request += connection.recv(65_536)
    return request.decode("latin-1")


@contextmanager
def raw_server(
    *answers: Sequence[object], route: Callable[[str], Sequence[object]] | None = None
) -> Iterator[RawServer]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = RawServer(answers, route, f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread = threading.Thread(target=server.serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            thread.join()

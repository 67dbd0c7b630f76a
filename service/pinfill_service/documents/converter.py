"""A process for the formats that need a parser, so that a file made to hang or to fill memory can be stopped.

The parsers are Python, and Python code cannot be interrupted from outside in one process. The process is a fresh
interpreter (no fork: the desktop app has threads); starting it takes a tenth of a second, so one serves many files.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import sys
import warnings
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any, Protocol, Self

import psutil

from pinfill_service.documents.document import (
    Converted,
    DamagedFileError,
    DocumentError,
    Kind,
    Limits,
    TooLargeError,
)


class _Connection(Protocol):
    """One end of a pipe; the class differs between operating systems."""

    def send(self, obj: Any, /) -> None: ...

    def recv(self) -> Any: ...

    def poll(self, timeout: float | None = ..., /) -> bool: ...

    def close(self) -> None: ...


class Converter:
    """Turns contents into text, one at a time. The process starts with the first and ends with the block."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: SpawnProcess | None = None
        self._connection: _Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()

    def convert(self, kind: Kind, data: bytes) -> Converted:
        """Raises DocumentError, TooLargeError among them when it takes too long."""
        connection = self._started()
        try:
            connection.send((kind, data))
            if not connection.poll(self._limits.seconds):
                self._stop()
                raise TooLargeError(f"takes more than {self._limits.seconds:g} s to read. Pin the part that is needed.")
            answer = connection.recv()
        except (EOFError, OSError) as error:
            self._stop()
            raise DamagedFileError("made its reader stop working. Save it again or as another format.") from error
        if isinstance(answer, DocumentError):
            raise answer
        assert isinstance(answer, Converted)
        return answer

    def _started(self) -> _Connection:
        if self._connection is None:
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self._limits), daemon=True)
            self._process.start()
            theirs.close()  # or the end of the process would not be seen
        return self._connection

    def _stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None and self._process.pid is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        self._connection = self._process = None


def _serve(connection: _Connection, limits: Limits) -> None:
    """What the process does until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both; the parent ends this one
    logging.disable()  # what pypdf thinks of a file is told by its error
    warnings.simplefilter("ignore")
    _limit_memory(limits.memory_bytes)
    while True:
        try:
            kind, data = connection.recv()
        except EOFError:
            return
        connection.send(convert_here(kind, data, limits))


def convert_here(kind: Kind, data: bytes, limits: Limits) -> Converted | DocumentError:
    """The text, or the error to raise. Takes as long and as much memory as it takes."""
    from pinfill_service.documents import docx, html, pdf, plain

    try:
        match kind:
            case "pdf":
                return pdf.convert(data, limits)
            case "docx":
                return docx.convert(data, limits)
            case "html":
                return html.convert(data, limits)
            case "text":
                return plain.convert(data)
    except DocumentError as error:
        return error
    except MemoryError:
        return TooLargeError(f"needs more than {limits.memory_bytes:,} bytes of memory. Pin the part that is needed.")


def _limit_memory(count: int) -> None:
    """From here on this process may take `count` bytes more. Only Linux keeps to such a limit."""
    if sys.platform == "linux":
        import resource

        most = psutil.Process().memory_info().vms + count
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))

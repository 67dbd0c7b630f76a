"""Reading a file that the user named, whatever stands behind the name."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pinfill_service.documents.document import TooLargeError, UnreadableFileError

# A pipe without a writer would wait for one; Windows translates line ends unless told not to.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_OTHER_THAN_FILES = (
    (stat.S_ISDIR, "is a folder; name the files in it."),
    (stat.S_ISFIFO, "is a pipe. Write its content to a file and name that."),
    (stat.S_ISSOCK, "is a socket; only files can be read."),
)


def read_regular(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """All bytes of a regular file and its state before they were read.

    Raises UnreadableFileError, and TooLargeError when there are more than `limit`.
    """
    data, status = read_head(path, limit + 1)
    if len(data) > limit:
        raise TooLargeError(f"is larger than {limit:,} bytes. Split it, or pin the part that is needed.")
    return data, status


def read_head(path: Path, count: int) -> tuple[bytes, os.stat_result]:
    """The first `count` bytes of a regular file. Raises UnreadableFileError."""
    try:
        _check_regular(os.stat(path))  # before it is opened: opening a device can already set it going
        with open(os.open(path, _FLAGS), "rb") as file:
            status = os.fstat(file.fileno())
            _check_regular(status)
            return file.read(count), status
    except (OSError, ValueError) as error:
        raise unreadable(error) from error


def unreadable(error: OSError | ValueError) -> UnreadableFileError:
    """What to tell of an operating system's error, or of a NUL character in a name (ValueError)."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return UnreadableFileError(f"cannot be read: {reason}. Check the name and who may read it.")


def _check_regular(status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    for matches, sentence in _OTHER_THAN_FILES:
        if matches(status.st_mode):
            raise UnreadableFileError(sentence)
    raise UnreadableFileError("is a device; only files can be read.")

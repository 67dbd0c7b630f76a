"""Reading and replacing files that belong to somebody else: whole or not at all, through links, with their rights."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from pinfill_service.agents.agent import AgentError

MAX_BYTES = 512 << 10  # settings that people wrote are a hundredth of it
_MARK = b"\xef\xbb\xbf"
PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class Content:
    """What a file held; `data` None: there was none. `mode` are its permission bits."""

    data: bytes | None = field(repr=False)
    mode: int = PRIVATE

    @property
    def sha256(self) -> str | None:
        return None if self.data is None else sha256(self.data).hexdigest()


def read(path: Path) -> Content:
    """A file as it is. Raises AgentError for what is no file, too large, or cannot be read."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise AgentError(f"{path} is not a file. Move it away, then try again.")
        if about.st_size > MAX_BYTES:
            raise AgentError(f"{path} is larger than {MAX_BYTES >> 10} KiB, so it is left alone. Paste the settings.")
        return Content(path.read_bytes(), stat.S_IMODE(about.st_mode))
    except FileNotFoundError:
        return Content(None)
    except OSError as error:
        raise AgentError(f"{path} cannot be read: {error.strerror or error}.") from error


def write(path: Path, content: Content) -> None:
    """Replaces a file, or removes it if the content is none. A link stays one: what it leads to is replaced.

    Raises AgentError; then the file is as it was.
    """
    target = path.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        if content.data is None:
            target.unlink(missing_ok=True)
            return
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content.data)
                file.flush()
                os.fsync(file.fileno())
            unfinished.chmod(content.mode)
            unfinished.replace(target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise AgentError(f"{path} cannot be written: {error.strerror or error}.") from error


def make_folders(path: Path) -> list[Path]:
    """Makes the folders of a file; returns those that were not there, the innermost first. Raises AgentError."""
    folder = path.resolve().parent
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        for each in reversed(missing):
            each.mkdir(mode=0o700)
    except OSError as error:
        raise AgentError(f"{folder} cannot be made: {error.strerror or error}.") from error
    return missing


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text with lines that end in "\\n", and what to put back when it is written."""

    text: str = field(repr=False)
    mark: bytes = b""
    windows_lines: bool = False

    @classmethod
    def of(cls, path: Path, data: bytes | None) -> Text:
        """Raises AgentError for what is not UTF-8."""
        data = data or b""
        mark = _MARK if data.startswith(_MARK) else b""
        try:
            text = data[len(mark) :].decode()
        except UnicodeDecodeError as error:
            raise AgentError(f"{path} is not UTF-8 text, so it is left alone. Paste the settings.") from error
        windows = "\r\n" in text and text.count("\r\n") == text.count("\n")
        return cls(text.replace("\r\n", "\n") if windows else text, mark, windows)

    def encode(self, text: str) -> bytes:
        """Another text in the same way."""
        return self.mark + (text.replace("\n", "\r\n") if self.windows_lines else text).encode()


def digest(value: Any) -> str:
    """A value, recognisable but not readable: it may be a key."""
    return sha256(repr(value).encode()).hexdigest()

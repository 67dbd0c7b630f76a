"""What becomes of a file: its text and where it came from, within limits, or an error that says why not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["text", "html", "pdf", "docx"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one call may read and how long one file may take.

    `expanded_bytes`: what a compressed file unpacks to. `characters`: of all files together; ten million are more
    tokens than any model's context. `seconds` and `memory_bytes` hold for the process that reads PDF, DOCX and HTML
    (memory on Linux only). `entries`: files and folders that an inventory looks at.
    """

    file_bytes: int = 50_000_000
    expanded_bytes: int = 200_000_000
    characters: int = 10_000_000
    pages: int = 3_000
    seconds: float = 120.0
    memory_bytes: int = 2_000_000_000
    entries: int = 10_000


@dataclass(frozen=True, slots=True)
class Converted:
    """The text of a file's content. `notes` are sentences about what the text does not show or may have wrong."""

    text: str
    notes: tuple[str, ...] = ()
    pages: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A file as text. `path` is absolute; `sha256` (hex) and `size` (bytes) are of exactly the bytes that were read.

    `mtime_ns` is from before they were read: a file that changes meanwhile looks changed afterwards.
    """

    path: Path
    kind: Kind
    text: str
    sha256: str
    size: int
    mtime_ns: int
    pages: int | None = None
    notes: tuple[str, ...] = ()


class DocumentError(Exception):
    """A file cannot become text. The message is what is wrong with it and what to do, without its name.

    `path` is set by whoever knows it; `code` is stable.
    """

    code = "document_error"
    path: Path | None = None

    def about(self, path: Path) -> DocumentError:
        """The same error, about this file."""
        self.path = path
        return self

    def __str__(self) -> str:
        return f"{self.path}: {self.args[0]}" if self.path is not None else str(self.args[0])


class UnreadableFileError(DocumentError):
    """There is no such file, it is no regular file, or it may not be read."""

    code = "file_unreadable"


class UnsupportedFileError(DocumentError):
    """The content is no text, or text in a form that is not read."""

    code = "file_unsupported"


class DamagedFileError(DocumentError):
    """The content is not what its format demands."""

    code = "file_damaged"


class LockedFileError(DocumentError):
    """A password is needed."""

    code = "file_locked"


class NoTextError(DocumentError):
    """Pages without text: pictures of them, or letters that are only shapes."""

    code = "file_without_text"


class TooLargeError(DocumentError):
    """One of the limits is exceeded."""

    code = "file_too_large"


def too_many_characters(limit: int) -> str:
    """What to tell of a file with more text than that."""
    return f"has more than {limit:,} characters of text. Pin the part that is needed."

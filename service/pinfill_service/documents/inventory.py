"""Which files a folder stands for: shown to the user, with their number and size, before anything is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pinfill_service.documents import plain
from pinfill_service.documents.detect import HEAD_BYTES, kind_of
from pinfill_service.documents.document import (
    DocumentError,
    Kind,
    Limits,
    TooLargeError,
    UnreadableFileError,
    UnsupportedFileError,
)
from pinfill_service.documents.source_file import read_head, unreadable

Why = Literal["hidden", "link", "seen", "too_large", "unreadable", "unsupported"]

_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file to read, by absolute path; `size` in bytes. `kind` is None for one that was named: it was not opened."""

    path: Path
    size: int
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """A file or folder that is left out, and why: "is hidden", to be put behind its path."""

    path: Path
    why: Why
    reason: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """`paths` are what `extract` is to read, in this order."""

    files: tuple[ListedFile, ...]
    skipped: tuple[SkippedEntry, ...]

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(file.path for file in self.files)

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files)


def take_inventory(paths: Sequence[Path], *, limits: Limits = _LIMITS) -> Inventory:
    """The files named, in the order given, with every folder replaced by what can be read in it.

    In a folder files come before the folders in it, each sorted by name. Hidden entries, links, files that are no
    text and files beyond the size limit are skipped there; a file that was named is not, so that its error is told.
    A file that comes twice stays where it came first. Raises UnreadableFileError for what is not there, and
    TooLargeError when there are too many entries.
    """
    files: dict[Path, ListedFile] = {}
    skipped: list[SkippedEntry] = []
    entries = 0
    for named in paths:
        path = Path(os.path.abspath(named))
        for found in _expanded(path, limits):
            entries += 1
            if entries > limits.entries:
                raise TooLargeError(f"makes it more than {limits.entries:,} files. Name the ones needed.").about(named)
            if isinstance(found, ListedFile):
                files.setdefault(found.path, found)
            else:
                skipped.append(found)
    return Inventory(tuple(files.values()), tuple(skipped))


def _expanded(path: Path, limits: Limits) -> Iterator[ListedFile | SkippedEntry]:
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        raise unreadable(error).about(path) from error
    if stat.S_ISDIR(status.st_mode):
        yield from _in_folder(path, limits)
    else:
        yield ListedFile(path, status.st_size, None)


def _in_folder(top: Path, limits: Limits) -> Iterator[ListedFile | SkippedEntry]:
    """Everything below, a skipped folder as one entry."""
    to_visit = [top]
    seen: set[tuple[int, int]] = set()
    while to_visit:
        folder = to_visit.pop()
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in seen:  # mounted into itself, or a junction on Windows
                yield SkippedEntry(folder, "seen", "was there before")
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield SkippedEntry(folder, "unreadable", f"cannot be read: {error.strerror}")
            continue
        folders = []
        for entry in inside:
            found = _entry(entry, limits)
            if found is None:
                folders.append(Path(entry.path))
            else:
                yield found
        to_visit += reversed(folders)


def _entry(entry: os.DirEntry[str], limits: Limits) -> ListedFile | SkippedEntry | None:
    """None for a folder to look into."""
    path = Path(entry.path)
    try:
        status = entry.stat(follow_symlinks=False)
        if entry.name.startswith(".") or _hidden_on_windows(status):
            return SkippedEntry(path, "hidden", "is hidden")
        if stat.S_ISLNK(status.st_mode):
            return SkippedEntry(path, "link", "is a link")
        if stat.S_ISDIR(status.st_mode):
            return None
        if status.st_size > limits.file_bytes:
            return SkippedEntry(path, "too_large", f"is larger than {limits.file_bytes:,} bytes")
        head, _ = read_head(path, HEAD_BYTES)
        return ListedFile(path, status.st_size, _readable_kind(head, path.suffix, whole=len(head) < HEAD_BYTES))
    except OSError as error:
        return SkippedEntry(path, "unreadable", f"cannot be read: {error.strerror}")
    except DocumentError as error:
        why: Why = "unreadable" if isinstance(error, UnreadableFileError) else "unsupported"
        return SkippedEntry(path, why, str(error).partition(". ")[0].rstrip("."))


def _readable_kind(head: bytes, suffix: str, whole: bool) -> Kind:
    """Raises UnsupportedFileError."""
    kind = kind_of(head, suffix)
    if kind == "docx" and suffix.lower() not in (".docx", ".docm", ".dotx"):
        raise UnsupportedFileError("is an archive.")
    if kind == "text":
        plain.check_head(head, whole)
    return kind


def _hidden_on_windows(status: os.stat_result) -> bool:
    return bool(getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_HIDDEN)

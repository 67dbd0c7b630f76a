"""The newest lines of the service's log, read as they come, across the file's rotation."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from pinfill_app.service_log import BYTES, FILE

LONGEST_READ = 2 * BYTES
_LEVEL = re.compile(r"^\S+ \S+ (DEBUG|INFO|WARNING|ERROR|CRITICAL) ")


class Level(IntEnum):
    """How much a line matters."""

    DEBUG = 0
    INFO = 1
    WARNING = 2
    ERROR = 3


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line. One that does not say its level, as in a traceback, has that of the line before."""

    text: str
    level: Level


@dataclass(frozen=True, slots=True)
class Place:
    """How far was read: the file, as the system knows it, the bytes of it, and the level of the last line."""

    file: int = 0
    offset: int = 0
    level: Level = Level.INFO


def read_on(home: Path, place: Place | None) -> tuple[list[LogLine], Place | None]:
    """The lines after `place`, or the newest ones of the file and its predecessor, and how far that is.

    The place is None while there is no log. Raises OSError.
    """
    path, older = home / FILE, home / f"{FILE}.1"
    try:
        current = path.stat()
    except FileNotFoundError:
        return [], None
    if place is not None and place.file == current.st_ino and place.offset <= current.st_size:
        return _lines(path, place)
    lines: list[LogLine] = []
    level = Level.INFO
    if older.exists():
        known = place is not None and place.file == older.stat().st_ino
        start = place if known and place is not None else Place()
        lines, end = _lines(older, start)
        level = end.level
    more, end = _lines(path, Place(level=level))
    return lines + more, end


def _lines(path: Path, place: Place) -> tuple[list[LogLine], Place]:
    """The whole lines behind a place in one file."""
    with path.open("rb") as file:
        number = os.fstat(file.fileno()).st_ino
        file.seek(place.offset)
        data = file.read(LONGEST_READ)
    whole = data[: data.rfind(b"\n") + 1]
    lines, level = [], place.level
    for text in whole.decode("utf-8", "replace").splitlines():
        level = _level(text, level)
        lines.append(LogLine(text, level))
    return lines, Place(number, place.offset + len(whole), level)


def _level(text: str, before: Level) -> Level:
    found = _LEVEL.match(text)
    if found is None:
        return Level.ERROR if text.startswith("error: ") else before
    return Level.ERROR if found[1] == "CRITICAL" else Level[found[1]]

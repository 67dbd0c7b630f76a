"""Several files as one text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath

from pinfill_service.documents.document import Document

_MARK = "====="


def compose(documents: Sequence[Document]) -> str:
    """The text of one file alone; of several, each under a line `===== its name =====`, parted by an empty line.

    A name is the path from the folder that the file shares with the first one (the file's own name where they share
    none but the root); one that was there before takes folders in front until it is new. So a name depends on the
    files before it only: a file added at the end changes nothing of the text before, which stays a cached prefix. It
    also does not depend on where the files lie. Line ends at the end of a text are left out.
    """
    if len(documents) == 1:
        return documents[0].text
    parts = (
        f"{_MARK} {name} {_MARK}\n{document.text}".rstrip("\n") + "\n"
        for name, document in zip(heading_names([document.path for document in documents]), documents, strict=True)
    )
    return "\n".join(parts)


def heading_names(paths: Sequence[PurePath]) -> list[str]:
    """The names of absolute paths in a composed text, with forward slashes; all different for different paths."""
    names: list[str] = []
    for path in paths:
        parts = path.parts
        shared = _shared(paths[0].parts[:-1], parts[:-1])
        count = len(parts) - shared if shared > 1 else 1  # the root alone is nothing that two files share
        name = _name(parts[-count:])
        while name in names and count < len(parts):
            count += 1
            name = _name(parts[-count:])
        names.append(name)
    return names


def _shared(first: Sequence[str], other: Sequence[str]) -> int:
    """How many parts are the same from the start."""
    same = 0
    while same < min(len(first), len(other)) and first[same] == other[same]:
        same += 1
    return same


def _name(parts: Sequence[str]) -> str:
    """One line of characters that UTF-8 can write, whatever the file system allowed."""
    joined = "/".join(parts).replace("\\", "/") if os.sep == "\\" else "/".join(parts)
    printable = "".join(character if character.isprintable() else "?" for character in joined)
    return printable.encode("utf-8", "replace").decode("utf-8")

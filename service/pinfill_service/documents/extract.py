"""Text from the user's files. Used by the command line and the desktop app; the service opens no path it is sent."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from pinfill_service.documents import plain
from pinfill_service.documents.converter import Converter
from pinfill_service.documents.detect import HEAD_BYTES, kind_of
from pinfill_service.documents.document import Document, DocumentError, Limits, TooLargeError, too_many_characters
from pinfill_service.documents.source_file import read_regular

_LIMITS = Limits()


def extract(paths: Sequence[Path], *, limits: Limits = _LIMITS) -> list[Document]:
    """The files as text, in the order given. The same bytes under the same name always give the same text.

    Text of any kind, HTML, PDF and DOCX are read; folders are not (see `take_inventory`). Raises DocumentError about
    the first file that cannot be read.
    """
    documents: list[Document] = []
    characters = 0
    with Converter(limits) as converter:
        for path in paths:
            try:
                documents.append(_read(Path(os.path.abspath(path)), converter, limits))
                characters += len(documents[-1].text)
                if characters > limits.characters:
                    raise TooLargeError(_too_much(limits.characters, alone=len(documents) == 1))
            except DocumentError as error:
                raise error.about(path) from error.__cause__
    return documents


def _read(path: Path, converter: Converter, limits: Limits) -> Document:
    data, status = read_regular(path, limits.file_bytes)
    kind = kind_of(data[:HEAD_BYTES], path.suffix)
    converted = plain.convert(data) if kind == "text" else converter.convert(kind, data)
    return Document(
        path=path,
        kind=kind,
        text=converted.text,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        mtime_ns=status.st_mtime_ns,
        pages=converted.pages,
        notes=converted.notes,
    )


def _too_much(characters: int, alone: bool) -> str:
    sentence = too_many_characters(characters)
    return sentence if alone else f"is one too many: with the files before it, it {sentence}"

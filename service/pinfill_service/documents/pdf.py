"""The text of a PDF file, page by page, with pypdf.

Text comes in the order in which the pages draw it, lines as they are broken on the page; pages are parted by an empty
line. Nothing of the layout is guessed.
"""

from __future__ import annotations

import io

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError

from pinfill_service.documents.blocks import clean
from pinfill_service.documents.document import (
    Converted,
    DamagedFileError,
    DocumentError,
    Limits,
    LockedFileError,
    NoTextError,
    TooLargeError,
    too_many_characters,
)

_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_OCR = "Run text recognition (OCR) over it, for instance with ocrmypdf, and pin the result."
_NAMED_PAGES = 10
_DETAIL = 120  # characters of what pypdf says
_UNKNOWN_SHARE = 0.3


def convert(data: bytes, limits: Limits) -> Converted:
    """The text of a PDF file. Raises DamagedFileError, LockedFileError, NoTextError, TooLargeError."""
    try:
        pages = _pages(data, limits)
    except DocumentError:
        raise
    except Exception as error:  # pypdf lets whatever a broken file causes through
        raise _explained(error, "its table of pages") from error
    texts: list[str] = []
    characters = 0
    for number, page in enumerate(pages, 1):
        texts.append(_page_text(page, number))
        characters += len(texts[-1])
        if characters > limits.characters:
            raise TooLargeError(too_many_characters(limits.characters))
    _check_has_text(texts)
    return Converted(clean("\n\n".join(filter(None, texts))), tuple(_notes(texts)), len(texts))


def _pages(data: bytes, limits: Limits) -> list[PageObject]:
    reader = PdfReader(io.BytesIO(data))
    count = len(reader.pages)
    if count > limits.pages:
        raise TooLargeError(f"has {count:,} pages; at most {limits.pages:,} are read. Pin the part that is needed.")
    return list(reader.pages)


def _page_text(page: PageObject, number: int) -> str:
    try:
        text = page.extract_text()
    except Exception as error:  # as above
        raise _explained(error, f"page {number}") from error
    return clean(text.replace("\r\n", "\n").replace("\r", "\n").translate(_LIGATURES))


def _explained(error: Exception, place: str) -> DocumentError:
    if isinstance(error, FileNotDecryptedError):
        return LockedFileError("needs a password. Save a copy without one and pin that.")
    if isinstance(error, DependencyError):
        return LockedFileError("is encrypted in a way that cannot be read here. Save a copy without and pin that.")
    if isinstance(error, (LimitReachedError, MemoryError)):
        return TooLargeError(f"unpacks to more than can be read ({place}). Pin the part that is needed.")
    detail = f"{type(error).__name__}: {error}"[:_DETAIL].rstrip(" :")
    return DamagedFileError(
        f"cannot be read as PDF ({place}; {detail}). Open it in a viewer and print it to a new PDF."
    )


def _check_has_text(texts: list[str]) -> None:
    if not any(texts):
        raise NoTextError(f"has no text, only pictures of its pages. {_OCR}")
    text = "".join(texts)
    unknown = text.count("\ufffd") + sum("\ue000" <= character <= "\uf8ff" for character in text)
    if unknown > _UNKNOWN_SHARE * len(text):
        raise NoTextError(f"has fonts that do not say which letters they show. {_OCR}")


def _notes(texts: list[str]) -> list[str]:
    empty = [str(number) for number, text in enumerate(texts, 1) if not text]
    if not empty:
        return []
    named = ", ".join(empty[:_NAMED_PAGES]) + (", ..." if len(empty) > _NAMED_PAGES else "")
    return [f"{len(empty)} of {len(texts)} pages have no text and are left out: {named}."]

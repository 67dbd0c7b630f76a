"""Which kind of file some content is. The content decides; the name only where content cannot tell."""

from __future__ import annotations

import re
from collections.abc import Collection

from pinfill_service.documents.document import Kind, UnsupportedFileError

HEAD_BYTES = 4096
_PDF = b"%PDF-"
_ZIP = b"PK\x03\x04"
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,800}?-->\s*){0,4}<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
_AS_PDF = "Save it as PDF and pin that."
_AS_DOCX = "Save it as DOCX or PDF and pin that."
_MAGIC = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"is an older Office file or one with a password. {_AS_DOCX}"),
    (b"{\\rtf", f"is RTF. {_AS_DOCX}"),
    (b"%!PS", f"is PostScript. {_AS_PDF}"),
    (b"\x89PNG", "is a picture (PNG); only its text could be pinned. Use text recognition (OCR) first."),
    (b"\xff\xd8\xff", "is a picture (JPEG); only its text could be pinned. Use text recognition (OCR) first."),
    (b"GIF8", "is a picture (GIF); only its text could be pinned. Use text recognition (OCR) first."),
    (b"\x1f\x8b", "is compressed (gzip). Unpack it and name the files in it."),
    (b"BZh", "is compressed (bzip2). Unpack it and name the files in it."),
    (b"\xfd7zXZ\0", "is compressed (xz). Unpack it and name the files in it."),
    (b"(\xb5/\xfd", "is compressed (Zstandard). Unpack it and name the files in it."),
    (b"7z\xbc\xaf", "is a 7z archive. Unpack it and name the files in it."),
    (b"Rar!", "is a RAR archive. Unpack it and name the files in it."),
    (b"\x7fELF", "is a program, not text."),
    (b"MZ\x90\0", "is a program, not text."),
    (b"GGUF", "is a model. `pinfill models import` takes it."),
    (b"SQLite format 3\0", "is a database. Export what is needed as CSV and pin that."),
)
_ARCHIVES = (
    ("xl/", "is a workbook. Save its sheets as CSV and pin those."),
    ("ppt/", f"is a presentation. {_AS_PDF}"),
    ("content.opf", f"is an e-book. {_AS_PDF}"),
    ("content.xml", f"is an OpenDocument file. {_AS_DOCX}"),
)


def kind_of(head: bytes, suffix: str) -> Kind:
    """The kind, from the first HEAD_BYTES (or more) and the name's `Path.suffix`. Raises UnsupportedFileError.

    Every ZIP archive is "docx" here; `check_is_word` tells once its names are known.
    """
    suffix = suffix.lower()
    if head.lstrip().startswith(_PDF) or (suffix == ".pdf" and _PDF in head[:1024]):
        return "pdf"
    if head.startswith(_ZIP):
        return "docx"
    for magic, sentence in _MAGIC:
        if head.startswith(magic):
            raise UnsupportedFileError(sentence)
    return "html" if suffix in _HTML_SUFFIXES or _HTML.match(head[:1024]) else "text"


def check_is_word(names: Collection[str]) -> None:
    """Raises UnsupportedFileError unless an archive of these names is a Word document."""
    if "[Content_Types].xml" in names and any(name.startswith("word/") for name in names):
        return
    for part, sentence in _ARCHIVES:
        if any(name.startswith(part) or name.endswith(part) for name in names):
            raise UnsupportedFileError(sentence)
    raise UnsupportedFileError("is a ZIP archive. Unpack it and name the files in it.")

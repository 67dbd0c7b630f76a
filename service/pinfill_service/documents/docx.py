"""The text of a Word document (DOCX): headings, paragraphs, lists with their numbers, tables, text boxes, notes.

Left out: headers and footers (they repeat on every page), comments, pictures, hidden and deleted text.
"""

from __future__ import annotations

from collections.abc import Iterator

from pinfill_service.documents.blocks import clean
from pinfill_service.documents.document import Converted, DamagedFileError, Limits
from pinfill_service.documents.docx_body import Body
from pinfill_service.documents.docx_package import Package, Reader
from pinfill_service.documents.docx_styles import Numbering, Styles


def convert(data: bytes, limits: Limits) -> Converted:
    """The text of a DOCX file.

    Raises DamagedFileError, LockedFileError, TooLargeError, and UnsupportedFileError for other ZIP archives.
    """
    package = Package(data, limits.expanded_bytes)
    main = package.related("").get("officeDocument", "word/document.xml")
    parts = package.related(main)
    styles, numbering = Styles(), Numbering()
    readers: tuple[tuple[str, Reader], ...] = (("styles", styles), ("numbering", numbering))
    for kind, reader in readers:
        package.read(parts.get(kind, ""), reader)
    body = Body(styles, numbering)
    if not package.read(main, body):
        raise DamagedFileError("is a damaged DOCX file: its text is not in it. Copy it anew.")
    for kind in ("footnotes", "endnotes") if body.references else ():
        package.read(parts.get(kind, ""), body)
    for reference, number in body.references.items():
        first = f"[^{number}]: "
        body.blocks.item(first + body.notes.get(reference, "").replace("\n", "\n" + " " * len(first)))
    return Converted(clean(body.blocks.text()), tuple(_notes(body, "comments" in parts)))


def _notes(body: Body, comments: bool) -> Iterator[str]:
    if not body.blocks.text():
        yield "The document has no text."
    if body.pictures:
        yield f"Pictures are left out ({body.pictures})."
    if comments:
        yield "Comments are left out."
    if body.tracked:
        yield "Tracked changes are taken as accepted."

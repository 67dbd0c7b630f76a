"""Small documents, made here so that a test says what is in them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_NAMESPACES = (
    f'xmlns:w="{_W}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def word_part(root: str, content: str) -> str:
    """A part of a Word document with `content` in its root element."""
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{root} {_NAMESPACES}>{content}</w:{root}>'


def docx_parts(body: str = "", **parts: str) -> dict[str, str]:
    """The parts of a DOCX file by name. `body` and `parts` (styles="...") are the content of their root elements."""
    relations = "".join(
        f'<Relationship Id="r{index}" Type="{_RELATION}/{kind}" Target="{kind}.xml"/>'
        for index, kind in enumerate(parts)
    )
    return {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": _relationships(
            f'<Relationship Id="r" Type="{_RELATION}/officeDocument" Target="word/document.xml"/>'
        ),
        "word/_rels/document.xml.rels": _relationships(relations),
        "word/document.xml": word_part("document", f"<w:body>{body}</w:body>"),
        **{f"word/{kind}.xml": word_part(kind, content) for kind, content in parts.items()},
    }


def _relationships(content: str) -> str:
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{content}</Relationships>'
    )


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive of these files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def docx(body: str = "", **parts: str) -> bytes:
    return zipped(docx_parts(body, **parts))


def paragraph(text: str, properties: str = "") -> str:
    """A paragraph of one run; `properties` are elements of its w:pPr."""
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def pdf(pages: Sequence[str], *, replaced: Mapping[int, str] | None = None) -> bytes:
    """A PDF of a line of ASCII text a page, "" for an empty one.

    Objects: 1 the catalogue, 2 the page tree, 3 the font, then a page and its content by turns. `replaced`
    replaces some of them.
    """
    numbers = [4 + 2 * index for index in range(len(pages))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = {
        1: "<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    }
    for number, text in zip(numbers, pages, strict=True):
        drawing = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects[number] = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {number + 1} 0 R >>"
        )
        objects[number + 1] = f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream"
    return _pdf_file(objects | dict(replaced or {}))


def _pdf_file(objects: Mapping[int, str]) -> bytes:
    content, offsets = b"%PDF-1.7\n", []
    for number, text in sorted(objects.items()):
        offsets.append(len(content))
        content += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    end = (
        f"xref\n0 {len(offsets) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(offsets) + 1} /Root 1 0 R >>\n"
    )
    return content + f"{end}startxref\n{len(content)}\n%%EOF\n".encode("latin-1")


def written(folder: Path, name: str, content: bytes | str) -> Path:
    """A file with this content, in folders that are made for it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path

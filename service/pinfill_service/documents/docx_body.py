"""From the elements of a Word document to blocks: paragraphs, headings, lists, tables, text boxes, references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pinfill_service.documents.blocks import MAX_SPAN, Blocks, Table
from pinfill_service.documents.docx_styles import BODY_TEXT, BULLET, Numbering, ParagraphFormat, Styles

NoteKind = Literal["footnote", "endnote"]

# Deleted and moved-away text, the second version of what is there already, and how something was formatted before.
_LEFT_OUT = frozenset(("w:del", "w:moveFrom", "mc:Fallback"))
_BEFORE = "PrChange"
_TRACKED = frozenset(("w:del", "w:ins", "w:moveFrom", "w:moveTo"))
_SIGNS = {"w:tab": "\t", "w:cr": "\n", "w:noBreakHyphen": "-", "w:ptab": "\t"}
_OFF = frozenset(("0", "false", "off"))
_PRIVATE = range(0xE000, 0xF900)


@dataclass(slots=True)
class _Paragraph:
    parts: list[str] = field(default_factory=list)
    style: str = ""
    format: ParagraphFormat = field(default_factory=ParagraphFormat)


@dataclass(slots=True)
class _Place:
    """Where blocks go: the body, a cell `across` so many columns, a text box or a note."""

    blocks: Blocks = field(default_factory=Blocks)
    tables: list[Table] = field(default_factory=list)
    across: int = 1


class Body:
    """Reads word/document.xml and the parts with notes.

    `references` are the numbers of notes, in the order in which the text refers to them; `notes` those that were read;
    `pictures` how many there are; `tracked` whether there are tracked changes.
    """

    def __init__(self, styles: Styles, numbering: Numbering) -> None:
        self.references: dict[tuple[NoteKind, str], int] = {}
        self.notes: dict[tuple[NoteKind, str], str] = {}
        self.pictures = 0
        self.tracked = False
        self._styles = styles
        self._numbering = numbering
        self._places = [_Place()]
        self._paragraphs: list[_Paragraph] = []
        self._hidden: list[bool] = []  # of the runs that are open
        self._text_boxes: list[Blocks] = []
        self._note: tuple[NoteKind, str] = ("footnote", "")
        self._path: list[str] = []
        self._left_out_from = 0  # the depth at which something is left out

    @property
    def blocks(self) -> Blocks:
        """What was read outside of notes."""
        return self._places[0].blocks

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._path.append(name)
        if self._left_out_from:
            return
        self.tracked |= name in _TRACKED
        if name in _LEFT_OUT or name.endswith(_BEFORE):
            self._left_out_from = len(self._path)
            return
        parent = self._path[-2] if len(self._path) > 1 else ""
        if parent in ("w:pPr", "w:numPr"):
            self._set_format(name, attributes.get("val", ""))
        elif parent == "w:r":
            self._sign(name, attributes)
        elif parent == "w:rPr" and name == "w:vanish" and self._path[-3:-2] == ["w:r"]:
            self._hidden[-1] = attributes.get("val", "true") not in _OFF
        elif name == "w:gridSpan":
            self._places[-1].across = _span(attributes.get("val", ""))
        self._open(name, attributes)

    def _open(self, name: str, attributes: Mapping[str, str]) -> None:
        place = self._places[-1]
        match name:
            case "w:p":
                self._paragraphs.append(_Paragraph())
            case "w:r":
                self._hidden.append(False)
            case "w:tbl":
                place.tables.append(Table())
            case "w:tr" if place.tables:
                place.tables[-1].start_row()
            case "w:tc":
                self._places.append(_Place(place.tables[-1].add_cell() if place.tables else place.blocks))
            case "w:txbxContent":
                self._places.append(_Place())
            case "w:footnote" | "w:endnote":
                self._note = ("footnote" if name == "w:footnote" else "endnote", attributes.get("id", ""))
                self._places.append(_Place())
            case "a:blip":
                self.pictures += 1

    def end(self, name: str) -> None:
        depth = len(self._path)
        self._path.pop()
        if self._left_out_from:
            if depth == self._left_out_from:
                self._left_out_from = 0
            return
        match name:
            case "w:p":
                self._end_paragraph()
            case "w:r":
                self._hidden.pop()
            case "w:tbl":
                self._places[-1].blocks.table(self._places[-1].tables.pop())
            case "w:tc":
                self._end_cell()
            case "w:txbxContent":
                self._text_boxes.append(self._places.pop().blocks)
            case "w:footnote" | "w:endnote":
                self.notes[self._note] = self._places.pop().blocks.text()

    def text(self, data: str) -> None:
        if not self._left_out_from and self._path[-1] in ("w:t", "m:t"):
            self._write(data)

    def _write(self, text: str) -> None:
        if self._paragraphs and not (self._hidden and self._hidden[-1]):
            self._paragraphs[-1].parts.append(text)

    def _set_format(self, name: str, value: str) -> None:
        if self._paragraphs and name == "w:pStyle":
            self._paragraphs[-1].style = value
        elif self._paragraphs:
            self._paragraphs[-1].format.set(name, value)

    def _sign(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element of a run that stands for a character."""
        if name in _SIGNS:
            self._write(_SIGNS[name])
        elif name == "w:br" and attributes.get("type", "textWrapping") == "textWrapping":
            self._write("\n")
        elif name == "w:sym":
            self._write(_symbol(attributes.get("char", "")))
        elif name in ("w:footnoteReference", "w:endnoteReference"):
            kind: NoteKind = "footnote" if name == "w:footnoteReference" else "endnote"
            number = self.references.setdefault((kind, attributes.get("id", "")), len(self.references) + 1)
            self._write(f"[^{number}]")

    def _end_cell(self) -> None:
        across = self._places.pop().across
        tables = self._places[-1].tables
        for _ in range(across - 1 if tables else 0):
            tables[-1].add_cell()

    def _end_paragraph(self) -> None:
        paragraph = self._paragraphs.pop()
        blocks = self._places[-1].blocks
        self._emit(
            "".join(paragraph.parts).strip(), paragraph.format.over(self._styles.format(paragraph.style)), blocks
        )
        if not self._paragraphs:  # a text box belongs behind the paragraph it is anchored in
            for box in self._text_boxes:
                blocks.extend(box)
            self._text_boxes.clear()

    def _emit(self, text: str, form: ParagraphFormat, blocks: Blocks) -> None:
        level = form.level or 0
        mark = self._numbering.next_mark(form.list_id, level) if form.list_id is not None else None
        if not text:
            return
        if form.outline is not None and form.outline < BODY_TEXT:
            blocks.heading(f"{mark} {text}" if mark and mark != BULLET else text, form.outline + 1)
        elif mark is None:
            blocks.paragraph(text)
        else:
            first = "  " * level + (f"{mark} " if mark else "")
            blocks.item(first + text.replace("\n", "\n" + " " * len(first)))


def _span(text: str) -> int:
    return min(int(text), MAX_SPAN) if text.isascii() and text.isdigit() and len(text) < 6 else 1


def _symbol(code: str) -> str:
    """A character by number; those of symbol fonts mean nothing outside of them."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    return "" if number in _PRIVATE or number > 0xFFFF else chr(number)

"""From a page's open and closed elements and its text to blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pinfill_service.documents.blocks import MAX_INDENT, Blocks, Table
from pinfill_service.documents.document import TooLargeError, too_many_characters

_SPACES = re.compile(r"[ \t\n\f]+")
_LINE_ENDS = re.compile(r" ?\n ?")
_SEVERAL = re.compile(r" {2,}")
_NUMBER = re.compile(r"\d{1,9}")
_HEADING = re.compile(r"h([1-6])")


@dataclass(slots=True)
class _List:
    ordered: bool
    next_number: int

    def mark(self) -> str:
        number = self.next_number
        self.next_number += 1
        return f"{number}. " if self.ordered else "- "


@dataclass(slots=True)
class _Item:
    """An open list item: what its first line begins with, and all others."""

    first: str
    others: str


@dataclass(slots=True)
class _Place:
    """Where blocks go, the page or a cell, and what is open there."""

    blocks: Blocks
    lists: list[_List] = field(default_factory=list)
    items: list[_Item] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    quotations: int = 0


class Flow:
    """Takes elements in the order of the page, well nested: each `start` has its `end`."""

    def __init__(self, characters: int) -> None:
        """`characters` is how much text there may be."""
        self._limit = self._left = characters
        self.has_main_heading = False
        self._places = [_Place(Blocks())]
        self._parts: list[str] = []
        self._ends: list[Callable[[], object]] = []
        self._preformatted = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.boundary()
        self._ends.append(self._begin(name, attributes))

    def end(self, name: str) -> None:
        self.boundary()
        self._ends.pop()()

    def text(self, data: str) -> None:
        self._parts.append(data if self._preformatted else _SPACES.sub(" ", data))

    def line_end(self) -> None:
        self._parts.append("\n")

    def finish(self) -> str:
        """The text of the page."""
        self.boundary()
        return self._places[0].blocks.text()

    def _begin(self, name: str, attributes: dict[str, str]) -> Callable[[], object]:
        """Notes that an element is open; returns what is to be done at its end."""
        place = self._places[-1]
        heading = _HEADING.fullmatch(name)
        if heading is not None:
            place.headings.append(int(heading[1]))
            return place.headings.pop
        if name == "pre":
            return self._begin_preformatted()
        if name in ("ul", "ol", "menu", "dir"):
            place.lists.append(_List(name == "ol", _number(attributes.get("start"), 1)))
            return place.lists.pop
        if name in ("li", "dt", "dd"):
            return self._begin_item(place, name)
        if name == "blockquote":
            return self._begin_quotation(place)
        if name == "table":
            place.tables.append(Table())
            return lambda: place.blocks.table(place.tables.pop())
        if name == "tr" and place.tables:
            place.tables[-1].start_row()
        elif name in ("td", "th") and place.tables:
            across, down = (_number(attributes.get(span), 1) for span in ("colspan", "rowspan"))
            self._places.append(_Place(place.tables[-1].add_cell(across, down)))
            return self._places.pop
        return lambda: None

    def _begin_preformatted(self) -> Callable[[], object]:
        self._preformatted += 1

        def end() -> None:
            self._preformatted -= 1

        return end

    def _begin_quotation(self, place: _Place) -> Callable[[], object]:
        place.quotations += 1

        def end() -> None:
            place.quotations -= 1

        return end

    def _begin_item(self, place: _Place, name: str) -> Callable[[], object]:
        marks = {"dt": "", "dd": "  "}
        mark = marks[name] if name in marks else place.lists[-1].mark() if place.lists else "- "
        indent = place.items[-1].others[: 2 * MAX_INDENT] if place.items else ""
        place.items.append(_Item(indent + mark, indent + " " * len(mark)))
        return place.items.pop

    def boundary(self) -> None:
        """Ends the block that was being written. Raises TooLargeError."""
        if not self._parts:
            return
        raw = "".join(self._parts)
        self._parts.clear()
        place = self._places[-1]
        if self._preformatted:
            if raw.strip():
                place.blocks.code(raw.strip("\n"))
                self._count(len(raw))
            return
        text = _SEVERAL.sub(" ", _LINE_ENDS.sub("\n", _SEVERAL.sub(" ", raw))).strip()
        if not text:
            return
        if place.headings:
            self.has_main_heading |= place.headings[-1] == 1
            place.blocks.heading(text, place.headings[-1])
            return
        quoted = "> " * min(place.quotations, MAX_INDENT)
        if place.items:
            item = place.items[-1]
            text = quoted + item.first + text.replace("\n", f"\n{quoted}{item.others}")
            item.first = item.others
            place.blocks.item(text)
        else:
            text = quoted + text.replace("\n", f"\n{quoted}")
            place.blocks.paragraph(text)
        self._count(len(text))

    def _count(self, characters: int) -> None:
        """Lines deep in lists and quotations become longer than they were, so what comes out is counted."""
        self._left -= characters
        if self._left < 0:
            raise TooLargeError(too_many_characters(self._limit))


def _number(text: str | None, otherwise: int) -> int:
    match = _NUMBER.fullmatch((text or "").strip())
    return int(match[0]) if match else otherwise

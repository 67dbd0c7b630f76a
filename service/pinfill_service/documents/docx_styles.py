"""What Word's paragraph styles and lists say about a paragraph: whether it is a heading, and its number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

LEVELS = BODY_TEXT = 9  # body text is the outline level behind the last
BULLET = "-"
_HEADING_NAME = re.compile(r"heading ([1-9])", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"%([1-9])")
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_NUMBER = 3_999  # the last that Roman numerals can write; letters would be 154 by then


@dataclass(slots=True)
class ParagraphFormat:
    """What a paragraph or a style sets itself; None is "not set". `outline` and `level` count from 0.

    `list_id` "0" takes a paragraph out of the list of its style.
    """

    outline: int | None = None
    list_id: str | None = None
    level: int | None = None

    def set(self, name: str, value: str) -> None:
        """Takes one of the elements that say so."""
        if name == "w:outlineLvl":
            self.outline = min(_count(value), BODY_TEXT)
        elif name == "w:numId":
            self.list_id = value
        elif name == "w:ilvl":
            self.level = _level(value)

    def over(self, other: ParagraphFormat) -> ParagraphFormat:
        """This, and what `other` sets where this does not."""
        return ParagraphFormat(
            other.outline if self.outline is None else self.outline,
            other.list_id if self.list_id is None else self.list_id,
            other.level if self.level is None else self.level,
        )


@dataclass(slots=True)
class _Style:
    based_on: str = ""
    format: ParagraphFormat = field(default_factory=ParagraphFormat)


class Styles:
    """Reads word/styles.xml. Headings are known by the style's name, which is English in every language's Word."""

    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}
        self._current = _Style()

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "w:style":
            self._current = self._styles.setdefault(attributes.get("styleId", ""), _Style())
        elif name == "w:basedOn":
            self._current.based_on = value
        elif name == "w:name":
            heading = _HEADING_NAME.fullmatch(value)
            if heading is not None or value.lower() == "title":
                self._current.format.outline = int(heading[1]) - 1 if heading is not None else 0
        else:
            self._current.format.set(name, value)

    def end(self, name: str) -> None:
        if name == "w:style":
            self._current = _Style()

    def text(self, data: str) -> None:
        """Styles have none."""

    def format(self, style_id: str) -> ParagraphFormat:
        """What a style sets, with the styles it is based on."""
        result, seen = ParagraphFormat(), set[str]()
        while style_id in self._styles and style_id not in seen:
            seen.add(style_id)
            result = result.over(self._styles[style_id].format)
            style_id = self._styles[style_id].based_on
        return result


@dataclass(slots=True)
class _Level:
    form: str = "decimal"
    start: int = 1
    template: str = ""


@dataclass(slots=True)
class _List:
    levels: list[_Level] = field(default_factory=lambda: [_Level() for _ in range(LEVELS)])
    counts: list[int | None] = field(default_factory=lambda: [None] * LEVELS)


class Numbering:
    """Reads word/numbering.xml, and then counts. Lists of the same abstract list go on counting, as in Word."""

    def __init__(self) -> None:
        self._abstract: dict[str, _List] = {}
        self._lists: dict[str, str] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        self._list, self._level, self._id, self._override = _List(), _Level(), "", 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "w:abstractNum":
            self._list = self._abstract.setdefault(attributes.get("abstractNumId", ""), _List())
        elif name == "w:num":
            self._id, self._list = attributes.get("numId", ""), _List()  # levels it redefines are not followed
        elif name == "w:abstractNumId":
            self._lists[self._id] = value
        elif name == "w:lvl":
            self._level = self._list.levels[_level(attributes.get("ilvl", ""))]
        elif name == "w:lvlOverride":
            self._override = _level(attributes.get("ilvl", ""))
        elif name == "w:startOverride":
            self._restarts[self._id, self._override] = _count(value)
        elif name == "w:numFmt":
            self._level.form = value
        elif name == "w:start":
            self._level.start = _count(value)
        elif name == "w:lvlText":
            self._level.template = value

    def end(self, name: str) -> None:
        """Elements are known by their order."""

    def text(self, data: str) -> None:
        """Numbering has none."""

    def next_mark(self, list_id: str, level: int) -> str | None:
        """What stands before the next item, BULLET for any sign that is no number; None if there is no such list."""
        numbered = self._abstract.get(self._lists.get(list_id, ""))
        if numbered is None:
            return None
        before = numbered.counts[level]
        start = numbered.levels[level].start if before is None else before + 1
        numbered.counts[level] = self._restarts.pop((list_id, level), start)
        numbered.counts[level + 1 :] = [None] * (LEVELS - level - 1)
        if numbered.levels[level].form == "bullet":
            return BULLET
        return _PLACEHOLDER.sub(
            lambda match: self._number(numbered, int(match[1]) - 1), numbered.levels[level].template
        )

    def _number(self, numbered: _List, level: int) -> str:
        count = numbered.counts[level]
        form = _FORMS.get(numbered.levels[level].form, str)
        return form(min(numbered.levels[level].start if count is None else count, _MAX_NUMBER))


def _roman(number: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        text += letters * (number // value)
        number %= value
    return text


def _letters(number: int) -> str:
    """a to z, then aa, bb..., as Word counts."""
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1) if number > 0 else ""


_FORMS: dict[str, Callable[[int], str]] = {
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "decimalZero": lambda number: f"{number:02d}",
    "none": lambda number: "",
    "bullet": lambda number: "",
}


def _level(text: str) -> int:
    return min(_count(text), LEVELS - 1)


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0

"""The readable text of an HTML page, with the standard library's parser.

Kept: headings, paragraphs, lists, tables, quotations, preformatted text, the text of links, what pictures are said to
show. Left out: scripts, styles, forms' choices and what the page hides. The page's title comes first when it has no
first-level heading of its own.

Pages leave out end tags, so which elements are open is worked out here: an end tag closes what is open inside its
element, and blocks, list items and cells close what they cannot be part of.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from html.parser import HTMLParser

from pinfill_service.documents.blocks import clean
from pinfill_service.documents.document import Converted, Limits, TooLargeError
from pinfill_service.documents.html_flow import Flow
from pinfill_service.documents.plain import decode

MAX_DEPTH = 512  # where browsers stop too


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LEFT_OUT = _names("script style template noscript svg iframe object canvas audio video select datalist textarea")
_BLOCKS = _names(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search section summary table "
    "tbody td tfoot th thead tr ul"
)
_VOID = _names("area base br col embed hr img input link meta source track wbr")
_CELLS = frozenset(("td", "th", "caption"))
_OPTIONAL_END = _names("body html p li dt dd tr td th tbody thead tfoot option optgroup")
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_SECTIONS = frozenset(("tbody", "thead", "tfoot"))
# A start tag closes open elements of these names, unless one of the others is open inside them.
_CLOSES: dict[str, tuple[Collection[str], Collection[str]]] = {
    "li": (("li",), (*_LISTS, *_CELLS)),
    "dt": (("dt", "dd"), ("dl", *_CELLS)),
    "dd": (("dt", "dd"), ("dl", *_CELLS)),
    "td": (("td", "th"), ("tr", "table")),
    "th": (("td", "th"), ("tr", "table")),
    "tr": (("tr", "caption"), ("table",)),
    **{name: ((*_SECTIONS, "tr", "caption"), ("table",)) for name in _SECTIONS},
}
_HIDING = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


def convert(data: bytes, limits: Limits) -> Converted:
    """The text of a page. Raises UnsupportedFileError for what is no text, and TooLargeError."""
    source, note = decode(data, html=True)
    page = _Page(limits.characters)
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    # Marked sections are no part of HTML: they end at the next ">", as a declaration that begins with "<?" does. The
    # parser of some Python versions fails at them and others read them otherwise.
    page.feed(source.replace("<![", "<?["))
    page.close()
    text = clean(page.finish())
    empty = () if text else ("The page has no text of its own; pages that scripts fill are empty in their files.",)
    return Converted(text, (*((note,) if note else ()), *empty))


@dataclass(frozen=True, slots=True)
class _Element:
    name: str
    left_out: bool  # itself or with one around it


class _Page(HTMLParser):
    """Which elements are open, and what of them reaches the text."""

    def __init__(self, characters: int) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[_Element] = []
        self._paragraphs = 0  # open ones
        self._flow = Flow(characters)
        self._title: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self._close_implied(tag)
        attributes = {name: value or "" for name, value in attrs}
        if tag in _VOID:
            if not self._left_out:
                self._void(tag, attributes)
            return
        hidden = tag not in _OPTIONAL_END and _is_hidden(attributes)
        if not (hidden or tag in _BLOCKS or tag in _LEFT_OUT or tag == "title"):
            return  # other inline elements change nothing, and pages forget to close them
        if len(self._open) >= MAX_DEPTH:
            raise TooLargeError(f"has more than {MAX_DEPTH} elements inside each other. Pin its text instead.")
        element = _Element(tag, self._left_out or hidden or tag in _LEFT_OUT)
        self._open.append(element)
        self._paragraphs += tag == "p"
        if not element.left_out:
            self._flow.start(tag, attributes)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        stops = () if tag in ("table", "tr", *_SECTIONS, *_CELLS) else _CELLS
        self._close((tag,), stops, outermost=False)

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1].name == "title" and not self._left_out:
            self._title.append(data)
        elif not self._left_out:
            self._flow.text(data)

    def finish(self) -> str:
        """The text, once everything was fed."""
        while self._open:
            self._pop()
        title = " ".join("".join(self._title).split())
        text = self._flow.finish()
        return f"# {title}\n\n{text}" if title and not self._flow.has_main_heading else text

    @property
    def _left_out(self) -> bool:
        return bool(self._open) and self._open[-1].left_out

    def _void(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "br":
            self._flow.line_end()
        elif tag == "hr":
            self._flow.boundary()
        elif tag == "img" and attributes.get("alt", "").strip() and not _is_hidden(attributes):
            self._flow.text(f"[image: {attributes['alt'].strip()}]")

    def _close_implied(self, tag: str) -> None:
        if self._paragraphs:
            self._close(("p",), _CELLS, outermost=False)
        if tag in _CLOSES:
            self._close(*_CLOSES[tag])

    def _close(self, names: Collection[str], stops: Collection[str], outermost: bool = True) -> None:
        """Closes an element of these names and what is open inside it, looking no further out than `stops`."""
        found = None
        for index in range(len(self._open) - 1, -1, -1):
            name = self._open[index].name
            if name in names:
                found = index
            if name in stops or (found is not None and not outermost):
                break
        while found is not None and len(self._open) > found:
            self._pop()

    def _pop(self) -> None:
        element = self._open.pop()
        self._paragraphs -= element.name == "p"
        if not element.left_out:
            self._flow.end(element.name)


def _is_hidden(attributes: dict[str, str]) -> bool:
    hidden = "hidden" in attributes and attributes["hidden"].lower() != "until-found"
    return hidden or _HIDING.search(attributes.get("style", "")) is not None

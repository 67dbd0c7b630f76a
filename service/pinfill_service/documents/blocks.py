"""The text that HTML and DOCX become: paragraphs, headings, lists and tables in the notation of Markdown.

Nothing is escaped: it is for reading. Blocks are parted by an empty line, items of a list by a line end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pinfill_service.documents.document import TooLargeError

MAX_SPAN = 100  # columns or rows that one cell may take up
MAX_CELLS = 1_000_000  # of one table, those that spanning cells leave behind included
MAX_INDENT = 16  # lists or quotations within each other that are told apart
_LINE_ENDS = re.compile(r"\n+")
_BACKTICKS = re.compile("`+")
_EMPTY_LINES = re.compile(r"\n{3,}")
# Characters that change nothing for a reader but make other tokens, and those that no text should hold.
_CLEANED = {
    0xA0: " ",
    0x202F: " ",
    0xAD: "",
    0x200B: "",
    0xFEFF: "",
    0x2028: "\n",
    0x2029: "\n",
    0x0B: "\n",
    0x0C: "\n",
}
_CLEANED |= {code: "" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A, 0x0B, 0x0C)}
_CLEANED |= {code: "\ufffd" for code in range(0xD800, 0xE000)}  # halves of characters


def clean(text: str) -> str:
    """The text without invisible characters, spaces at line ends, repeated empty lines and empty lines around it.

    Line ends other than "\\n" have to be gone.
    """
    lines = (line.rstrip(" \t") for line in text.translate(_CLEANED).split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


@dataclass(slots=True)
class Blocks:
    """Blocks in order. `structured` once there is one that fits no line of a table."""

    structured: bool = False
    _texts: list[str] = field(default_factory=list)
    _lists: list[bool] = field(default_factory=list)

    def paragraph(self, text: str) -> None:
        self._add(text)

    def heading(self, text: str, level: int) -> None:
        """`level` from 1."""
        self.structured = True
        self._add(f"{'#' * min(level, 6)} {' '.join(text.split())}")

    def item(self, text: str) -> None:
        """A line of a list, with its mark and indentation."""
        self._add(text, in_list=True)

    def code(self, text: str) -> None:
        """Lines as they are, fenced."""
        self.structured = True
        longest = max(map(len, _BACKTICKS.findall(text)), default=0)
        fence = "`" * max(longest + 1, 3)
        self._add(f"{fence}\n{text}\n{fence}")

    def table(self, table: Table) -> None:
        """A table; one that only arranges blocks on a page becomes those blocks."""
        if table.only_arranges:
            for row in table.rows:
                for cell in row:
                    self.extend(cell)
        elif any(cell.text() for row in table.rows for cell in row):
            self._add(table.text())
        self.structured = True

    def extend(self, others: Blocks) -> None:
        """All blocks of `others` behind the ones here."""
        self._texts += others._texts
        self._lists += others._lists
        self.structured |= others.structured

    def _add(self, text: str, in_list: bool = False) -> None:
        if text:
            self._texts.append(text)
            self._lists.append(in_list)

    def text(self) -> str:
        parts: list[str] = []
        before = False
        for text, in_list in zip(self._texts, self._lists, strict=True):
            if parts:
                parts.append("\n" if before and in_list else "\n\n")
            parts.append(text)
            before = in_list
        return "".join(parts)


@dataclass(slots=True)
class Table:
    """Rows of cells as they come; cells that span columns or rows leave empty ones behind them."""

    rows: list[list[Blocks]] = field(default_factory=list)
    _cells: int = 0
    _below: dict[int, int] = field(default_factory=dict)  # rows still to come that a column's cell reaches into

    @property
    def only_arranges(self) -> bool:
        """Whether it has a single column, or cells with headings, tables or code in them."""
        return all(len(row) < 2 for row in self.rows) or any(cell.structured for row in self.rows for cell in row)

    def start_row(self) -> None:
        self.rows.append([])

    def add_cell(self, across: int = 1, down: int = 1) -> Blocks:
        """A new cell of the last row, to be filled. Raises TooLargeError."""
        if not self.rows:
            self.start_row()
        row = self.rows[-1]
        before = len(row)
        self._skip_reached(row)
        cell = Blocks()
        fillers = [Blocks() for _ in range(min(across, MAX_SPAN) - 1)]
        for column in range(len(row), len(row) + 1 + len(fillers)):
            self._below[column] = min(down, MAX_SPAN) - 1
        row += [cell, *fillers]
        self._cells += len(row) - before
        if self._cells > MAX_CELLS:
            raise TooLargeError(f"has a table of more than {MAX_CELLS:,} cells. Pin the part that is needed.")
        return cell

    def _skip_reached(self, row: list[Blocks]) -> None:
        while self._below.get(len(row), 0) > 0:
            self._below[len(row)] -= 1
            row.append(Blocks())

    def text(self) -> str:
        """A line a row, and the line under the first that Markdown asks for."""
        rows = [" | ".join(map(_in_one_line, row)) for row in self.rows if row]
        columns = next(len(row) for row in self.rows if row)
        lines = [f"| {row} |" for row in rows]
        lines.insert(1, f"|{' --- |' * columns}")
        return "\n".join(lines)


def _in_one_line(cell: Blocks) -> str:
    return _LINE_ENDS.sub("<br>", cell.text().replace("|", "\\|"))

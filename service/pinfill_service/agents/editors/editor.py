"""What every editor can do."""

from __future__ import annotations

from typing import Any, Protocol

MAX_DEPTH = 100  # of nesting: nobody's settings are deeper, and parsers must not run out of stack
Path = tuple[str, ...]


class EditError(ValueError):
    """A text cannot be edited; the message says what is in the way and follows the name of the file."""


class Editor(Protocol):
    """Changes values in a text, by their path of keys. All methods raise EditError for what they cannot read.

    Lines end in "\\n". An empty text is an empty configuration. A source is a value as it is written in the text.
    """

    def read(self, text: str, path: Path) -> str | None:
        """The source of a value; None when there is none."""

    def write(self, text: str, path: Path, source: str) -> str:
        """The text with a value replaced or added, with the mappings that lead to it."""

    def remove(self, text: str, path: Path) -> str:
        """The text without a value; as it is when there is none."""

    def keys(self, text: str, path: Path) -> list[str] | None:
        """The keys of a mapping; None when there is no mapping."""

    def dump(self, value: object) -> str:
        """The source of a value."""

    def load(self, source: str) -> Any:
        """The value of a source."""

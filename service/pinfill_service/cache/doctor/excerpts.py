"""The first difference of two texts or token lists, and a few words around it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

BEFORE, AFTER = 60, 100  # characters shown in front of a difference and from it on
_ELLIPSIS = "…"
_FIRST_COMPARED = 256
_LONGEST_CLUSTER = 16
_SURROGATES = re.compile("[\ud800-\udfff]")


def common_length(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many first items are equal. Compares slices, which is done in C; every item is looked at about twice."""
    if type(a) is not type(b) or not isinstance(a, (list, tuple, str)):
        a, b = list(a), list(b)  # an array never equals a list
    limit = min(len(a), len(b))
    start, size = 0, _FIRST_COMPARED
    while start < limit and a[start : start + size] == b[start : start + size]:
        start, size = min(limit, start + size), size * 2
    end = min(limit, start + size)
    while start < end:
        middle = (start + end + 1) // 2
        if a[start:middle] == b[start:middle]:
            start = middle
        else:
            end = middle - 1
    return start


def around(text: str | None, at: int) -> str:
    """The text around a character, with an ellipsis where it was cut; empty for no text.

    What is one character to people (a letter with its accents, an emoji with its modifiers) is not taken apart.
    """
    if not text:
        return ""
    start, end = _whole(text, max(0, at - BEFORE)), _whole(text, min(len(text), at + AFTER))
    return writable((_ELLIPSIS if start else "") + text[start:end] + (_ELLIPSIS if end < len(text) else ""))


def writable(text: str) -> str:
    """The text with lone surrogates, which no encoding can write, as U+FFFD."""
    return _SURROGATES.sub("\ufffd", text)


def _whole(text: str, cut: int) -> int:
    """The same place or one a little later, such that no character is taken apart there."""
    for place in range(cut, min(len(text), cut + _LONGEST_CLUSTER)):
        if not place or not (_continues(text[place]) or text[place - 1] == "\u200d"):
            return place
    return cut


def _continues(character: str) -> bool:
    """Whether a character belongs to the one in front of it: accents, joiners, variation and skin tone selectors."""
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or character == "\u200d"
        or ("\U0001f3fb" <= character <= "\U0001f3ff")
    )

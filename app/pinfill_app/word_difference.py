"""Which words of two excerpts differ."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

Span = tuple[int, int]  # first character and end

ELLIPSIS = "…"  # where an excerpt was cut
# Words, but each space and each character of a script without spaces alone.
_WORDS = re.compile(r"\s|[\u2e80-\U0003ffff]|[^\s\u2e80-\U0003ffff]+")


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch of one text in place of one of the other; either may be empty."""

    before: Span
    after: Span


def differing(before: str, after: str) -> list[Change]:
    """What differs, in order and in whole words. What is only cut in another place does not."""
    one, other = _Text(before), _Text(after)
    matcher = SequenceMatcher(None, one.words, other.words, autojunk=False)
    changes = [
        Change(one.span(first, end), other.span(other_first, other_end))
        for kind, first, end, other_first, other_end in matcher.get_opcodes()
        if kind != "equal"
    ]
    real = [change for change in changes if not _is_cut(change, one, other)] or changes
    return _joined(real, before)


class _Text:
    """An excerpt in words, without the marks of its cuts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_cut_at_start = text.startswith(ELLIPSIS)
        self.is_cut_at_end = text.endswith(ELLIPSIS) and len(text) > 1
        self.start, self.end = int(self.is_cut_at_start), len(text) - int(self.is_cut_at_end)
        self.words = _WORDS.findall(text[self.start : self.end])
        self._places = [self.start]
        for word in self.words:
            self._places.append(self._places[-1] + len(word))

    def span(self, first: int, end: int) -> Span:
        """Characters of the words from `first` to `end`."""
        return self._places[first], self._places[end]


def _is_cut(change: Change, one: _Text, other: _Text) -> bool:
    """Whether one text only has more of the same, up to where both were cut."""
    a, b = one.text[slice(*change.before)], other.text[slice(*change.after)]
    at_end = change.before[1] == one.end and change.after[1] == other.end and one.is_cut_at_end and other.is_cut_at_end
    if at_end and (a.startswith(b) or b.startswith(a)):
        return True
    at_start = change.before[0] == one.start and change.after[0] == other.start
    return at_start and one.is_cut_at_start and other.is_cut_at_start and (a.endswith(b) or b.endswith(a))


def _joined(changes: list[Change], before: str) -> list[Change]:
    """Those with nothing but spaces between them as one: what reads as one is marked as one."""
    joined: list[Change] = []
    for change in changes:
        if joined and before[joined[-1].before[1] : change.before[0]].isspace():
            last = joined[-1]
            joined[-1] = replace(
                last, before=(last.before[0], change.before[1]), after=(last.after[0], change.after[1])
            )
        else:
            joined.append(change)
    return joined

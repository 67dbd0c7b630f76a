"""Reasoning that a model wrote in front of its answer, as models mark it in their texts."""

from __future__ import annotations

from dataclasses import dataclass

_MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
)


@dataclass(frozen=True, slots=True)
class _Block:
    """Reasoning in a text: where its mark begins, and the words in it."""

    start: int
    words: str


def thinking_dropped(before: str, after: str, at: int, start: int, before_end: int, after_end: int) -> bool:
    """Whether texts that differ first at `at` differ by reasoning in `before` that `after` has not, or has emptied."""
    for opening, closing in _MARKS:
        old = _block(before, opening, closing, at, start, before_end)
        if old is None:
            continue
        if not after.startswith(opening, old.start, after_end):
            return True
        new = _block(after, opening, closing, at, start, after_end)
        return bool(old.words) and (new is None or not new.words)
    return False


def _block(text: str, opening: str, closing: str, at: int, start: int, end: int) -> _Block | None:
    """The block that holds `at`, or whose opening mark does."""
    begins = text.rfind(opening, start, min(end, at + len(opening)))
    if begins < 0 or begins > at:
        return None
    words = begins + len(opening)
    closes = text.find(closing, words, end)
    if 0 <= closes < at - len(closing):
        return None
    return _Block(begins, text[words : closes if closes >= 0 else end].strip())

"""Stop strings in text that arrives in pieces."""

from __future__ import annotations

from collections.abc import Iterable


class StopMatcher:
    """Cuts a text before the first stop string that is complete, however the text is split into pushes.

    Of several stop strings the one that ends first wins, and of those the longest: that is the earliest moment at which
    generation can stop, so the result does not depend on the split. Text is held back only while it may still become a
    stop string.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._longest = max(map(len, self._stops), default=0)
        self._held = ""
        self.found: str | None = None  # the stop string at which the text ended

    @property
    def stopped(self) -> bool:
        return self.found is not None

    def push(self, text: str) -> tuple[str, bool]:
        """(text that is certain now, whether a stop string was found). Nothing comes after a stop."""
        if self.stopped:
            return "", True
        if not self._stops:
            return text, False
        held = self._held + text
        found = [(at + len(stop), at, stop) for stop in self._stops if (at := held.find(stop)) >= 0]
        if found:
            _, at, self.found = min(found)
            self._held = ""
            return held[:at], True
        keep = len(held) - self._undecided(held)
        self._held = held[keep:]
        return held[:keep], False

    def flush(self) -> str:
        """The text still held back, when no more will come."""
        held, self._held = self._held, ""
        return held

    def _undecided(self, text: str) -> int:
        """Length of the longest suffix of `text` with which a stop string begins."""
        for length in range(min(self._longest - 1, len(text)), 0, -1):
            suffix = text[-length:]
            if any(stop.startswith(suffix) for stop in self._stops):
                return length
        return 0

"""Things done one after another, so that many of them do not crowd the service."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

Step = Callable[[Callable[[], None]], None]  # begins something, and calls what it is given when that has ended


class InTurn:
    """Begins each step when the one before has ended."""

    def __init__(self) -> None:
        self._waiting: deque[Step] = deque()
        self._running = False

    def add(self, step: Step) -> None:
        self._waiting.append(step)
        if not self._running:
            self._next()

    def drop_waiting(self) -> None:
        """What has begun goes on; nothing else begins."""
        self._waiting.clear()

    def _next(self) -> None:
        self._running = bool(self._waiting)
        if self._running:
            self._waiting.popleft()(self._next)

"""Events of the service, waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from tests.support.fake_engine import LIMIT_SECONDS


class Events:
    """Stands in for the hub: `publish` records, `wait` waits for an event that was or will be published."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []
        self._changed = threading.Condition()

    def publish(self, name: str, event: BaseModel) -> None:
        with self._changed:
            self.seen.append((name, event))
            self._changed.notify_all()

    def wait(self, name: str, matches: Callable[[Any], bool] = lambda _: True, *, after: int = 0) -> Any:
        """The first such event among those from number `after` on."""

        def found() -> Any:
            return next((event for n, event in self.seen[after:] if n == name and matches(event)), None)

        with self._changed:
            assert self._changed.wait_for(found, LIMIT_SECONDS), f"no {name} among {self.seen[after:]}"
            return found()

    def of(self, name: str) -> list[Any]:
        with self._changed:
            return [event for n, event in self.seen if n == name]

    def states(self, pin: str) -> list[str | None]:
        return [event.state for event in self.of("pin.state") if event.name == pin]

"""What is being prefilled at this moment, as the events tell it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from pinfill_service.api.schemas.manage import (
    ModelProgressEvent,
    PinProgressEvent,
    RequestProgressEvent,
    RequestStartedEvent,
)

V = TypeVar("V")

MOST = 1_000  # requests whose end was missed are forgotten some day


@dataclass(frozen=True, slots=True)
class RunningRequest:
    """A request under way. `done` of its prompt tokens are there, `cached` of them were from the beginning."""

    id: str
    client: str
    model: str
    cached: int
    done: int
    total: int


class Running:
    """Requests, pins and downloads under way, by id or name. At most MOST of each. `is_stalled`: nothing is heard of
    them, because the service does not answer.
    """

    def __init__(self) -> None:
        self.requests: dict[str, RunningRequest] = {}
        self.pins: dict[str, PinProgressEvent] = {}
        self.pulls: dict[str, ModelProgressEvent] = {}
        self.is_stalled = False

    @property
    def is_busy(self) -> bool:
        """Whether the engine works for anybody."""
        return bool(self.requests or self.pins)

    @property
    def prefilled(self) -> float | None:
        """The share, 0 to 1, that is there of all prompts that are not yet prefilled; None when all are."""
        counts = [(request.done, request.total) for request in self.requests.values()]
        counts += [(pin.done, pin.total) for pin in self.pins.values()]
        open_ones = [(done, total) for done, total in counts if done < total]
        return sum(done for done, _ in open_ones) / sum(total for _, total in open_ones) if open_ones else None

    def clear(self) -> None:
        for group in (self.requests, self.pins, self.pulls):
            group.clear()

    def start(self, event: RequestStartedEvent) -> None:
        request = RunningRequest(
            event.id, event.client, event.model, event.cached_tokens, event.cached_tokens, event.prompt_tokens
        )
        _put(self.requests, event.id, request)

    def progress(self, event: RequestProgressEvent) -> None:
        known = self.requests.get(event.id)
        if known is not None:
            self.requests[event.id] = replace(known, done=event.done, total=event.total)

    def finish(self, request_id: str) -> None:
        self.requests.pop(request_id, None)

    def pin_progress(self, event: PinProgressEvent) -> None:
        _put(self.pins, event.name, event)

    def pull_progress(self, event: ModelProgressEvent) -> None:
        _put(self.pulls, event.name, event)


def _put(group: dict[str, V], name: str, value: V) -> None:
    group[name] = value
    if len(group) > MOST:
        del group[next(iter(group))]

"""What happens in the service, as a stream of events that a client can take up again where it lost it."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel

from pinfill_service.api.json_text import sse_comment
from pinfill_service.api.schemas.manage import ResetEvent

REMEMBERED = 2_000  # events; an agent's turn makes some tens of them
KEEPALIVE_SECONDS = 15.0
RETRY_MILLISECONDS = 1_000


@dataclass(frozen=True, slots=True)
class _Event:
    number: int
    name: str
    data: str


class _Subscriber:
    """One open stream. Woken from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()

    def wake(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody reads any more
            self._loop.call_soon_threadsafe(self._arrived.set)

    async def wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._arrived.wait()
        self._arrived.clear()


class EventHub:
    """Remembers the last events and hands them to everybody who listens. `publish` may be called from any thread.

    Ids are `RUN-NUMBER`: numbers go up by one, and a run is one life of the service, so that an id of an earlier life,
    or of an event forgotten since, is answered with `reset` instead of a gap nobody notices.
    """

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._run = secrets.token_hex(4)
        self._lock = threading.Lock()
        self._events: deque[_Event] = deque(maxlen=remembered)
        self._last = 0
        self._subscribers: set[_Subscriber] = set()
        self._closed = False

    def publish(self, name: str, event: BaseModel) -> None:
        data = event.model_dump_json()
        with self._lock:
            self._last += 1
            self._events.append(_Event(self._last, name, data))
            subscribers = list(self._subscribers)
        for subscriber in subscribers:
            subscriber.wake()

    def close(self) -> None:
        """Ends all streams, once they have sent what was published."""
        with self._lock:
            self._closed = True
            subscribers = list(self._subscribers)
        for subscriber in subscribers:
            subscriber.wake()

    async def stream(self, last_event_id: str | None = None) -> AsyncIterator[bytes]:
        """Server-sent events from now on, or from after `last_event_id`; comments keep a quiet stream alive."""
        subscriber = _Subscriber()
        with self._lock:
            self._subscribers.add(subscriber)
            position, known = self._position(last_event_id)
        try:
            yield f"retry: {RETRY_MILLISECONDS}\n\n".encode()
            if not known:
                yield self._write(_Event(position, "reset", ResetEvent().model_dump_json()))
            while True:
                events, closed = self._after(position)
                if events and events[0].number > position + 1:  # a client that reads this slowly has missed some
                    yield self._write(_Event(events[0].number - 1, "reset", ResetEvent().model_dump_json()))
                for event in events:
                    yield self._write(event)
                    position = event.number
                if closed:
                    return
                await subscriber.wait(KEEPALIVE_SECONDS)
                if not self._after(position)[0]:
                    yield sse_comment("keepalive")
        finally:
            with self._lock:
                self._subscribers.discard(subscriber)

    def _position(self, last_event_id: str | None) -> tuple[int, bool]:
        """(number of the last event the client has, whether all after it are remembered). Called with the lock."""
        if last_event_id is None:
            return self._last, True
        run, _, number = last_event_id.rpartition("-")
        first = self._events[0].number if self._events else self._last + 1
        if run != self._run or not number.isdecimal() or len(number) > 18 or not first - 1 <= int(number) <= self._last:
            return self._last, False
        return int(number), True

    def _after(self, position: int) -> tuple[list[_Event], bool]:
        with self._lock:
            missing = min(self._last - position, len(self._events))
            events = [self._events[len(self._events) - missing + index] for index in range(missing)]
            return events, self._closed

    def _write(self, event: _Event) -> bytes:
        """One event. The data is JSON of pydantic, which has no line breaks in it."""
        return f"id: {self._run}-{event.number}\nevent: {event.name}\ndata: {event.data}\n\n".encode()

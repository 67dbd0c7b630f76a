"""From the engine thread to the event loop: the events of one or several engine requests as one stream."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType

from pinfill_service.engine.events import Event, Failed, Finished
from pinfill_service.engine.interface import Engine, GenerationRequest


class Generation:
    """Running engine requests. Use it as a context manager: leaving it cancels what has not finished.

    The engine thread appends to a deque and wakes the loop at most once for everything the loop has not seen yet, so a
    token costs no call across threads while the loop is busy. Belongs to the event loop that created it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._pending: deque[tuple[int, Event]] = deque()
        self._arrived = asyncio.Event()
        self._waking = False
        self._ids: list[int] = []
        self._running: set[int] = set()

    @classmethod
    def start(cls, engine: Engine, requests: Sequence[GenerationRequest]) -> Generation:
        """Submits all requests or none. Raises ContextLengthError, EngineBusyError or EngineClosedError."""
        generation = cls(engine)
        try:
            for index, request in enumerate(requests):
                generation._ids.append(engine.submit(request, partial(generation._on_event, index)))
                generation._running.add(index)
        except BaseException:
            generation.close()
            raise
        return generation

    @property
    def running(self) -> bool:
        """Whether events are still to come: every request ends with Finished or Failed."""
        return bool(self._running)

    async def next(self, timeout: float | None = None) -> list[tuple[int, Event]]:
        """(index of the request, event) for everything that happened since the last call, at least one of them.

        Empty after `timeout` seconds without an event.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while not self._pending:
                    self._arrived.clear()
                    await self._arrived.wait()
        events: list[tuple[int, Event]] = []
        while self._pending:
            index, event = self._pending.popleft()
            if isinstance(event, Finished | Failed):
                self._running.discard(index)
            events.append((index, event))
        return events

    def stop(self, index: int) -> None:
        """Ends one request, whose reply is complete; its Finished still comes."""
        if index in self._running:
            self._engine.cancel(self._ids[index], keep_reply=True)

    def close(self) -> None:
        """Stops everything that has not finished. No more events are read."""
        for index in self._running:
            self._engine.cancel(self._ids[index])
        self._running.clear()

    def __enter__(self) -> Generation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _on_event(self, index: int, event: Event) -> None:
        """On the engine thread."""
        self._pending.append((index, event))
        if not self._waking:
            self._waking = True
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._waking = False
        self._arrived.set()

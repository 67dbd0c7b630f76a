"""The event stream: in order, resumable, honest about what was missed, and never in anybody's way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from pinfill_service.api import events as events_module
from pinfill_service.api.events import EventHub
from pinfill_service.api.schemas.manage import DiskProblemEvent

LIMIT_SECONDS = 20


class Reader:
    """Reads one stream as a client would."""

    def __init__(self, hub: EventHub, last_event_id: str | None = None) -> None:
        self.stream: AsyncIterator[bytes] = hub.stream(last_event_id)
        self.last_id: str | None = last_event_id

    async def block(self) -> str:
        async with asyncio.timeout(LIMIT_SECONDS):
            return (await anext(self.stream)).decode()

    async def open(self) -> Reader:
        assert await self.block() == "retry: 1000\n\n"
        return self

    async def event(self) -> tuple[str, Any]:
        block = await self.block()
        assert block.endswith("\n\n")
        fields = dict(line.split(": ", 1) for line in block.strip().split("\n"))
        assert set(fields) == {"id", "event", "data"}
        self.last_id = fields["id"]
        return fields["event"], json.loads(fields["data"])


def problem(number: int) -> DiskProblemEvent:
    return DiskProblemEvent(message=f"problem {number}")


async def test_events_come_in_order_from_any_thread() -> None:
    hub = EventHub()
    reader = await Reader(hub).open()
    await asyncio.to_thread(lambda: [hub.publish("disk.problem", problem(n)) for n in range(3)])
    assert [await reader.event() for _ in range(3)] == [("disk.problem", {"message": f"problem {n}"}) for n in range(3)]


async def test_a_stream_is_taken_up_where_it_was_lost() -> None:
    hub = EventHub()
    reader = await Reader(hub).open()
    for n in range(5):
        hub.publish("disk.problem", problem(n))
    await reader.event()
    await reader.event()
    again = await Reader(hub, reader.last_id).open()
    assert [(await again.event())[1]["message"] for _ in range(3)] == ["problem 2", "problem 3", "problem 4"]
    up_to_date = await Reader(hub, again.last_id).open()
    hub.publish("disk.problem", problem(5))
    assert (await up_to_date.event())[1]["message"] == "problem 5"


async def test_without_an_id_only_news_are_sent() -> None:
    hub = EventHub()
    hub.publish("disk.problem", problem(0))
    reader = await Reader(hub).open()
    hub.publish("disk.problem", problem(1))
    assert (await reader.event())[1]["message"] == "problem 1"


@pytest.mark.parametrize(
    "lost", ["forgotten", "another run", "from the future", "nonsense", "-", "-1", "x-" + "9" * 30]
)
async def test_what_was_missed_is_said(lost: str) -> None:
    hub = EventHub(remembered=3)
    reader = await Reader(hub).open()
    for n in range(6):
        hub.publish("disk.problem", problem(n))
    first = await Reader(hub, None).open()
    hub.publish("disk.problem", problem(6))
    await first.event()
    assert first.last_id is not None
    run, _, number = first.last_id.rpartition("-")
    ids = {"forgotten": f"{run}-1", "another run": f"00000000-{number}", "from the future": f"{run}-{int(number) + 1}"}
    again = await Reader(hub, ids.get(lost, lost)).open()
    assert await again.event() == ("reset", {"missed": True})
    assert again.last_id == first.last_id, "from here on it misses nothing"
    hub.publish("disk.problem", problem(7))
    assert (await again.event())[1]["message"] == "problem 7"
    assert await reader.event() == ("reset", {"missed": True}), "a reader this slow missed some too"
    assert (await reader.event())[1]["message"] == "problem 5"


async def test_a_quiet_stream_is_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "KEEPALIVE_SECONDS", 0.01)
    hub = EventHub()
    reader = await Reader(hub).open()
    assert await reader.block() == ": keepalive\n\n"


async def test_streams_end_with_the_service_and_leave_nothing_behind() -> None:
    hub = EventHub()
    reader = await Reader(hub).open()
    hub.publish("disk.problem", problem(0))
    hub.close()
    assert (await reader.event())[1]["message"] == "problem 0"
    with pytest.raises(StopAsyncIteration):
        await reader.block()
    gone = await Reader(hub).open()
    async with aclosing(gone.stream):  # type: ignore[type-var]
        pass
    assert not hub._subscribers

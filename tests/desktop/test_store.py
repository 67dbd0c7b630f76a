"""The store: loaded by requests, kept fresh by events, whatever those say, and no larger than it must be."""

from __future__ import annotations

import gc
import json
import logging
import threading
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from pinfill_app import state
from pinfill_app.client import Client
from pinfill_app.events.parser import EventParser, ServerEvent
from pinfill_app.refresher import Part
from pinfill_app.state import REMEMBERED_REQUESTS, Store
from pinfill_service.api.schemas.manage import Entries, RequestStartedEvent
from tests.support import fake_service
from tests.support.desktop import KEY, LIMIT_MILLISECONDS
from tests.support.pages import ScriptedClient
from tests.support.prefixes import entry
from tests.support.raw_http import KEEP, STREAM, RawServer, json_answer, raw_server

REQUEST: dict[str, Any] = {
    "at": 1.0,
    "route": "/v1/chat/completions",
    "client": "tests",
    "model": "m",
    "pin": None,
    "prompt_tokens": 10,
    "cached_tokens": 8,
    "processed_tokens": 2,
    "generated_tokens": 1,
    "queue_seconds": 0.0,
    "prefill_seconds": 0.1,
    "decode_seconds": 0.1,
    "ttft_seconds": 0.1,
    "saved_seconds": 1.0,
    "finish_reason": "stop",
    "error": None,
    "miss_reason": None,
    "finding": None,
}
STARTED = {"route": "/", "client": "tests", "model": "m", "prompt_tokens": 10, "cached_tokens": 4, "miss_reason": None}


def event(number: int, name: str, data: object) -> bytes:
    return f"id: r-{number}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()


class Scripted:
    """A service that answers every part with nothing in it, and sends what it is given as events."""

    def __init__(self) -> None:
        self.events: list[bytes] = []
        self.finished: list[dict[str, Any]] = []
        self.go = threading.Event()

    def route(self, path: str) -> list[object]:
        name = path.rpartition("/")[2]
        if name == "events":
            self.go.wait(LIMIT_MILLISECONDS / 1000)
            return [STREAM, *self.events, KEEP]
        answer = fake_service.status("0") if name == "status" else fake_service.EMPTY[name]
        if name == "requests":
            answer = {"requests": self.finished, "before": None}
        return [json_answer(json.dumps(answer).encode())]


class Followed:
    """A store that follows the scripted service."""

    def __init__(self, qtbot: QtBot, server: RawServer, script: Scripted) -> None:
        self._qtbot, self._server, self._script = qtbot, server, script
        self.store = Store(Client())

    def play(self, *events: bytes) -> Store:
        """All parts loaded once, after these events."""
        self._script.events[:] = [b": hello\n\n", *events]
        self._script.finished[:] = [
            json.loads(lines[2].removeprefix(b"data: "))
            for lines in (each.split(b"\n") for each in reversed(events))
            if lines[1] == b"event: request.finished"
        ][:REMEMBERED_REQUESTS]
        self._script.go.set()
        self.store.follow(self._server.url, KEY)
        self.until_asked(1)
        return self.store

    def until(self, condition: Any) -> None:
        self._qtbot.waitUntil(condition, timeout=LIMIT_MILLISECONDS)

    def until_asked(self, times: int) -> None:
        self.until(lambda: all(self.asked()[part.value] >= times for part in Part))

    def asked(self) -> Counter[str]:
        paths = (request.split(" ")[1].partition("?")[0] for request in self._server.requests)
        return Counter(path.rpartition("/")[2] for path in paths)


@pytest.fixture
def followed(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Followed]:
    monkeypatch.setattr(state, "SAVINGS_MILLISECONDS", 500)
    script = Scripted()
    with raw_server(route=script.route) as server:
        followed = Followed(qtbot, server, script)
        yield followed
        followed.store.leave()
        followed.store.deleteLater()


def test_everything_is_loaded_once_and_then_left_alone(qtbot: QtBot, followed: Followed) -> None:
    store = followed.play()
    followed.until(lambda: store.status is not None and store.savings is not None)
    assert store.is_connected and store.pins == store.entries == store.requests == store.models == ()
    qtbot.wait(1_000)
    assert set(followed.asked().values()) == {1}
    store.leave()
    assert store.status is None and not store.is_connected and store.savings is None


def test_a_request_is_followed_from_start_to_end(followed: Followed) -> None:
    finished: list[object] = []
    followed.store.request_finished.connect(finished.append)
    store = followed.play(
        event(1, "request.started", {"id": "a", **STARTED}),
        event(2, "request.started", {"id": "b", **STARTED}),
        event(3, "request.progress", {"id": "a", "done": 7, "total": 10}),
        event(4, "request.progress", {"id": "unknown", "done": 7, "total": 10}),
        event(5, "request.finished", {"id": "b", **REQUEST}),
    )
    followed.until(lambda: len(finished) == 1 and bool(store.requests))
    assert list(store.running.requests) == ["a"] and store.running.is_busy
    assert store.running.prefilled == 0.7
    assert [request.id for request in store.requests] == ["b"]


def test_pins_and_downloads_are_followed(followed: Followed) -> None:
    states: list[object] = []
    followed.store.pin_state_changed.connect(states.append)
    store = followed.play(
        event(1, "pin.state", {"name": "p", "state": "prefilling", "reason": None}),
        event(2, "pin.progress", {"name": "p", "done": 1, "total": 4, "seconds_left": 3.0}),
        event(3, "pin.progress", {"name": "q", "done": 1, "total": 4, "seconds_left": 3.0}),
        event(4, "pin.state", {"name": "q", "state": "warm", "reason": None}),
        event(5, "model.progress", {"name": "m", "stage": "download", "done": 1, "total": 9}),
    )
    followed.until(lambda: bool(store.running.pulls))
    assert len(states) == 2
    followed.until(lambda: not store.running.pins)  # the service says that nothing is pinned


@pytest.mark.parametrize(
    "data",
    [b"event: reset\ndata: {}\n\n", b"event: pin.state\ndata: {garbage\n\n", b"event: pin.state\ndata: [1]\n\n"],
    ids=["reset", "garbage", "list"],
)
def test_what_was_missed_or_is_not_understood_loads_everything_again(followed: Followed, data: bytes) -> None:
    store = followed.play(event(1, "request.started", {"id": "a", **STARTED}))
    followed.until(lambda: bool(store.running.requests))
    for parsed in EventParser().feed(data):
        store._on_received(parsed)
    followed.until_asked(2)
    assert not store.running.is_busy


def test_events_of_a_later_version_are_ignored(qtbot: QtBot, followed: Followed) -> None:
    problems: list[str] = []
    followed.store.problem_reported.connect(problems.append)
    followed.play(event(1, "new.thing", {"x": 1}), event(2, "disk.problem", {"message": "full", "more": 1}))
    followed.until(lambda: problems == ["full"])


def test_a_thousand_events_are_a_few_requests(qtbot: QtBot, followed: Followed) -> None:
    events = [event(number, "request.finished", {"id": str(number), **REQUEST}) for number in range(1_000)]
    store = followed.play(*events)
    followed.until(lambda: len(store.requests) == REMEMBERED_REQUESTS and store.requests[0].id == "999")
    qtbot.wait(1_000)  # whatever is to be asked again
    assert max(followed.asked().values()) <= 6, followed.asked()


def test_memory_is_flat_after_ten_thousand_events(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("pinfill_app.state"), "disabled", True)  # pytest keeps what is logged
    store = Store(Client())

    def play(first: int, last: int) -> int:
        for number in range(first, last):
            for name, data in (
                ("request.started", {"id": str(number), **STARTED}),
                ("request.progress", {"id": str(number), "done": 7, "total": 10}),
                ("request.finished", {"id": str(number if number % 3 else -1), **REQUEST}),  # some ends are missed
                ("pin.state", {"name": f"p{number}", "state": "prefilling", "reason": None}),
                ("pin.progress", {"name": f"p{number}", "done": 1, "total": 4, "seconds_left": None}),
            ):
                store._on_received(ServerEvent(name, json.dumps(data), f"r-{number}"))
        qtbot.wait(150)  # timers and refused requests end
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = play(0, 1_200)
        after = play(1_200, 3_200)
    finally:
        tracemalloc.stop()
    # pydantic remembers short strings, some thousands of them; one request kept for good would be 2,000 bytes.
    assert after - before < 1_000_000, f"{after - before} bytes more after 10,000 events"
    store.leave()


@pytest.mark.parametrize(("in_use", "is_busy"), [(True, False), (True, True), (False, False)])
def test_what_nothing_seems_to_use_any_more_is_asked_about_again(qtbot: QtBot, in_use: bool, is_busy: bool) -> None:
    client = ScriptedClient()
    store = Store(client)
    if is_busy:
        store.running.start(RequestStartedEvent(id="r", at=1.0, **STARTED))
    store._on_entries(Entries(entries=[entry("1", "one", in_use=in_use)]))
    assert store._release_timer.isActive() == (in_use and not is_busy)
    store._release_timer.timeout.emit()
    paths = {("status",), ("entries",)}
    qtbot.waitUntil(lambda: {asked.path for asked in client.asked} == paths, timeout=LIMIT_MILLISECONDS)
    store.leave()
    assert not store._release_timer.isActive()


def test_requests_that_end_in_one_go_are_told_once(qtbot: QtBot) -> None:
    store, told = Store(ScriptedClient()), list[int]()
    store.requests_changed.connect(lambda: told.append(len(store.requests)))
    for number in range(200):
        data = json.dumps({"id": str(number), **REQUEST})
        store._on_received(ServerEvent("request.finished", data, str(number)))
    assert len(store.requests) == 200 and told == []
    qtbot.waitUntil(lambda: told == [200], timeout=LIMIT_MILLISECONDS)

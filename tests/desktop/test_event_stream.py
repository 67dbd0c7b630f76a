"""The event stream over connections that break."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from pinfill_app.events import sse
from pinfill_app.events.parser import ServerEvent
from pinfill_app.events.sse import EventStream
from pinfill_app.failure import Failure, FailureKind
from tests.support.desktop import KEY, LIMIT_MILLISECONDS
from tests.support.raw_http import KEEP, STREAM, RawServer, json_answer, raw_server

RETRY = b"retry: 20\n\n"


class Heard:
    """A stream and all it has said."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self.stream = EventStream()
        self.events: list[ServerEvent] = []
        self.began: list[bool] = []
        self.lost: list[Failure] = []
        self.stream.received.connect(self.events.append)
        self.stream.began.connect(self.began.append)
        self.stream.lost.connect(self.lost.append)

    def open(self, server: RawServer) -> None:
        self.stream.open(server.url, KEY)

    def until(self, count: int) -> list[str]:
        self._qtbot.waitUntil(lambda: len(self.events) >= count, timeout=LIMIT_MILLISECONDS)
        return [event.data for event in self.events]

    def until_lost(self, count: int) -> None:
        self._qtbot.waitUntil(lambda: len(self.lost) >= count, timeout=LIMIT_MILLISECONDS)


@pytest.fixture
def heard(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    monkeypatch.setattr(sse, "RETRY_MILLISECONDS", 20)
    heard = Heard(qtbot)
    yield heard
    heard.stream.close()
    heard.stream.deleteLater()


def test_a_stream_that_breaks_in_an_event_is_taken_up_after_the_last_whole_one(heard: Heard) -> None:
    first = STREAM + RETRY + b"id: r-1\nevent: x\ndata: one\n\nid: r-2\nevent: x\ndata: tw"
    with raw_server([first], [STREAM + RETRY + b"id: r-2\nevent: x\ndata: two\n\n", KEEP]) as server:
        heard.open(server)
        assert heard.until(2) == ["one", "two"]
    first_head, second_head = (request.lower() for request in server.requests)
    assert "last-event-id" not in first_head and "last-event-id: r-1\r\n" in second_head
    assert heard.began == [True, False]  # nothing can have been missed the second time
    assert f"Authorization: Bearer {KEY}\r\n" in server.requests[1]


def test_characters_may_be_split_between_packets(heard: Heard) -> None:
    content = "data: äöü €\n\n".encode()
    with raw_server([STREAM, *(content[place : place + 1] for place in range(len(content))), KEEP]) as server:
        heard.open(server)
        assert heard.until(1) == ["äöü €"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (json_answer(b"{}"), FailureKind.NOT_UNDERSTOOD),
        (json_answer(b"<html>", "404 Not Found"), FailureKind.NOT_UNDERSTOOD),
        (json_answer(b'{"error":{"message":"no","code":"k"}}', "401 No"), FailureKind.KEY_REFUSED),
    ],
    ids=["json", "html", "key"],
)
def test_what_is_no_stream_is_told_and_tried_again(heard: Heard, answer: bytes, kind: FailureKind) -> None:
    with raw_server([answer], [STREAM + b"data: at last\n\n", KEEP]) as server:
        heard.open(server)
        assert heard.until(1) == ["at last"]
    assert heard.lost[0].kind is kind and heard.began == [True]


@pytest.mark.parametrize("answer", [b"", b"\xff\xff\xff\r\n\r\n"], ids=["nothing", "garbage"])
def test_who_hangs_up_is_asked_again(heard: Heard, answer: bytes) -> None:
    repeated = [[answer]] * 8  # Qt asks again by itself a few times before it tells
    with raw_server(*repeated, [STREAM + b"data: at last\n\n", KEEP]) as server:
        heard.open(server)
        assert heard.until(1) == ["at last"]
    assert {failure.kind for failure in heard.lost} == {FailureKind.UNREACHABLE}


def test_waits_grow_until_an_event_arrives(heard: Heard) -> None:
    def answer(_: str) -> list[object]:  # by what was lost, not by connections: Qt may use one for nothing
        return [STREAM, b": hello\n\n"] if len(heard.lost) < 3 else [STREAM, b"data: x\n\n"]

    with raw_server(route=answer) as server:
        heard.open(server)
        waits = []
        for count in range(1, 5):
            heard.until_lost(count)
            waits.append(heard.stream._timer.interval())
            heard.stream._timer.setInterval(1)
    assert waits == [20, 40, 80, 20]


def test_an_endless_event_and_silence_end_the_connection(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "QUIET_SECONDS", 0.2)
    endless = [STREAM, *[b"data: " + b"x" * 65_536] * 40, KEEP]
    with raw_server(endless, [STREAM, KEEP], [STREAM + b"data: x\n\n", KEEP]) as server:
        heard.open(server)
        assert heard.until(1) == ["x"]
    assert len(heard.lost) == 2


def test_a_closed_stream_says_nothing_and_does_not_come_back(qtbot: QtBot, heard: Heard) -> None:
    with raw_server([STREAM + b"data: 1\n\ndata: 2\n\ndata: 3\n\n", KEEP]) as server:
        heard.stream.received.connect(lambda _: heard.stream.close())
        heard.open(server)
        assert heard.until(1) == ["1"]
        qtbot.wait(60)
        assert heard.until(1) == ["1"] and len(server.requests) == 1 and heard.lost == []

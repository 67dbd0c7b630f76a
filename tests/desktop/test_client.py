"""The client against answers that are right, wrong, late and large."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from pinfill_app import client as client_module
from pinfill_app.client import Client
from pinfill_app.failure import Failure, FailureKind
from pinfill_service.api.schemas.manage import Evicted, Pin, PinChange, Requests
from tests.support.desktop import KEY, LIMIT_MILLISECONDS
from tests.support.raw_http import KEEP, json_answer, raw_server

EVICTED = json_answer(b'{"entries": 3}')


class Asked:
    """Waits for one answer."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self._client = Client()
        self.answers: list[BaseModel | Failure] = []

    def client_of(self, url: str, key: str | None = KEY) -> Client:
        self._client.connect_to(url, key)
        return self._client

    def __call__(self, answer: BaseModel | Failure) -> None:
        self.answers.append(answer)

    def wait(self) -> BaseModel | Failure:
        self._qtbot.waitUntil(lambda: bool(self.answers), timeout=LIMIT_MILLISECONDS)
        (answer,) = self.answers
        return answer


@pytest.fixture
def asked(qtbot: QtBot) -> Asked:
    return Asked(qtbot)


def test_an_answer_is_parsed_and_the_key_is_sent(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with raw_server([json_answer(b'{"requests": [], "before": null}')]) as server:
        client = asked.client_of(server.url)
        client.get(Requests, "requests", done=asked, limit=5, before=None)
        assert asked.wait() == Requests(requests=[], before=None)
    assert server.requests[0].startswith("GET /pinfill/v1/requests?limit=5 HTTP/1.1\r\n")
    assert f"Authorization: Bearer {KEY}\r\n" in server.requests[0]


@pytest.mark.parametrize(("name", "sent"), [("a/b?c#d", "a%2Fb%3Fc%23d"), ("ä %41", "%C3%A4%20%2541")])
def test_a_name_is_one_segment_of_the_path_and_only_what_was_set_is_sent(asked: Asked, name: str, sent: str) -> None:
    with raw_server([EVICTED]) as server:
        asked.client_of(server.url, None).patch(Evicted, "pins", name, done=asked, body=PinChange(position=2))
        asked.wait()
    assert server.requests[0].startswith(f"PATCH /pinfill/v1/pins/{sent} HTTP/1.1\r\n")
    assert server.requests[0].endswith('\r\n\r\n{"position":2}')
    assert "Authorization" not in server.requests[0]


def error_body(code: str | None) -> bytes:
    return json.dumps({"error": {"message": "It is pinned.", "type": "x", "param": None, "code": code}}).encode()


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (json_answer(error_body("pin_state"), "409 Conflict"), FailureKind.REFUSED, "It is pinned."),
        (json_answer(error_body("invalid_api_key"), "401 Unauthorized"), FailureKind.KEY_REFUSED, "another key"),
        (json_answer(error_body(None), "404 Not Found"), FailureKind.NOT_UNDERSTOOD, "another version"),
        (json_answer(b"<html>", "500 Oh"), FailureKind.NOT_UNDERSTOOD, "not Pinfill"),
        (json_answer(b"[1]", "500 Oh"), FailureKind.NOT_UNDERSTOOD, "not Pinfill"),
        (json_answer(b"<html>"), FailureKind.NOT_UNDERSTOOD, "not Pinfill"),
        (json_answer(b'{"entries": "many"}'), FailureKind.NOT_UNDERSTOOD, "not Pinfill"),
        (json_answer(b'{"entries": 3}')[:-4], FailureKind.UNREACHABLE, "does not answer"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", FailureKind.NOT_UNDERSTOOD, "not Pinfill"),
        (b"\xff\xfe no HTTP at all\r\n\r\n", FailureKind.UNREACHABLE, "does not answer"),
        (b"", FailureKind.UNREACHABLE, "does not answer"),
    ],
    ids=["refused", "key", "route", "html", "list", "text", "type", "cut", "redirection", "garbage", "nothing"],
)
def test_a_failure_is_a_value_in_plain_words(asked: Asked, answer: bytes, kind: FailureKind, words: str) -> None:
    with raw_server([answer]) as server:
        asked.client_of(server.url).post(Evicted, "entries", "evict-unpinned", done=asked)
        failure = asked.wait()
    assert isinstance(failure, Failure) and failure.kind is kind and words in failure.message
    assert KEY not in repr(failure)


def test_nobody_is_there(asked: Asked) -> None:
    with raw_server([]) as server:
        url = server.url
    asked.client_of(url).get(Evicted, "status", done=asked)
    failure = asked.wait()
    assert isinstance(failure, Failure) and failure.kind is FailureKind.UNREACHABLE


def test_silence_is_a_timeout(asked: Asked) -> None:
    with raw_server([KEEP]) as server:
        asked.client_of(server.url).post(Evicted, "entries", done=asked, seconds=0.1)
        failure = asked.wait()
    assert isinstance(failure, Failure) and failure.kind is FailureKind.TIMEOUT


def test_an_answer_without_end_is_given_up(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_ANSWER_BYTES", 100_000)
    with raw_server([b"HTTP/1.1 200 OK\r\n\r\n", *[b" " * 50_000] * 10, KEEP]) as server:
        asked.client_of(server.url).get(Evicted, "entries", done=asked)
        failure = asked.wait()
    assert isinstance(failure, Failure) and failure.kind is FailureKind.NOT_UNDERSTOOD


class Receiver(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.answers: list[object] = []

    def on_answer(self, answer: Pin | Failure) -> None:
        self.answers.append(answer)


def test_who_is_gone_or_has_lost_interest_is_not_told(qtbot: QtBot, asked: Asked) -> None:
    receiver, aborted = Receiver(), Asked(qtbot)
    with raw_server([KEEP], [KEEP], [EVICTED]) as server:
        client = asked.client_of(server.url)
        client.get(Pin, "pins", "a", done=receiver.on_answer)
        call = client.get(Evicted, "entries", done=aborted)
        qtbot.waitUntil(lambda: len(server.requests) == 2, timeout=LIMIT_MILLISECONDS)
        call.abort()
        receiver.deleteLater()
        qtbot.wait(1)
        server.ended.set()  # the first connection is closed without an answer
        client.get(Evicted, "entries", done=asked)
        assert asked.wait() == Evicted(entries=3)
        qtbot.waitUntil(lambda: not client._calls, timeout=LIMIT_MILLISECONDS)
    assert aborted.answers == [] and receiver.answers == []

"""Which release is the latest: answers that are right, wrong, hostile and late, and what is sent to get one."""

from __future__ import annotations

import json
import socket
import threading
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QUrl
from pytestqt.qtbot import QtBot

from pinfill_app import release_source, releases
from pinfill_app.release_source import ReleaseSource
from pinfill_app.releases import NoRelease, Release, latest_release, release_of
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.raw_http import KEEP, json_answer, raw_server

ROOT = Path(__file__).resolve().parents[2]
GOOD = Release("v1.3.0")


def body(tag: object = "v1.3.0", **more: object) -> bytes:
    page = {"html_url": "https://elsewhere.example/evil.exe", "draft": False, "prerelease": False}
    return json.dumps({"tag_name": tag} | page | more).encode()


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        (body(), GOOD),
        (body("1.3"), Release("1.3")),
        (body("1.3.post1"), Release("1.3.post1")),
        (body(prerelease=True), NoRelease.NONE_PUBLISHED),
        (body(draft=True), NoRelease.NONE_PUBLISHED),
        (body("v1.3rc1"), NoRelease.NONE_PUBLISHED),
        (body("1.3.dev0"), NoRelease.NONE_PUBLISHED),
        (body("v1.2.3; rm"), NoRelease.NOT_UNDERSTOOD),
        (body("../../../evil"), NoRelease.NOT_UNDERSTOOD),
        (body(" 1.3 "), NoRelease.NOT_UNDERSTOOD),
        (body("1.3\n"), NoRelease.NOT_UNDERSTOOD),
        (body("vv1.3"), NoRelease.NOT_UNDERSTOOD),
        (body("1.3?x=/../y"), NoRelease.NOT_UNDERSTOOD),
        (body("\u0661.3"), NoRelease.NOT_UNDERSTOOD),
        (body("9" * 5_000), NoRelease.NOT_UNDERSTOOD),
        (body(""), NoRelease.NOT_UNDERSTOOD),
        (body(None), NoRelease.NOT_UNDERSTOOD),
        (body(1.3), NoRelease.NOT_UNDERSTOOD),
        (body(prerelease="no"), NoRelease.NOT_UNDERSTOOD),
        (body(draft=None), NoRelease.NOT_UNDERSTOOD),
        (b'{"tag_name": "v1.3"}', NoRelease.NOT_UNDERSTOOD),
        (b"[" * 100_000, NoRelease.NOT_UNDERSTOOD),
        (b"[]", NoRelease.NOT_UNDERSTOOD),
        (b"<html>", NoRelease.NOT_UNDERSTOOD),
        (b"\xff\xfe", NoRelease.NOT_UNDERSTOOD),
        (b"", NoRelease.NOT_UNDERSTOOD),
    ],
)
def test_an_answer_is_a_version_or_nothing(content: bytes, outcome: Release | NoRelease) -> None:
    assert latest_release(content) == outcome


@pytest.mark.parametrize(
    ("own", "tag", "newer"),
    [("1.2", "v1.10", True), ("1.2", "1.2.0", False), ("1.3", "v1.2.9", False), ("1.3rc1", "1.3", True)],
)
def test_versions_are_compared_as_versions(monkeypatch: pytest.MonkeyPatch, own: str, tag: str, newer: bool) -> None:
    monkeypatch.setattr(releases, "__version__", own)
    assert Release(tag).is_newer is newer


def test_the_page_is_below_our_own_address() -> None:
    release = latest_release(body("v1.3.0"))
    assert isinstance(release, Release)
    assert release.page.toString() == "https://github.com/pinfill/pinfill/releases/tag/v1.3.0"
    assert release_of("v1.3.0") == release and release_of("v1.3.0/x") is None


def test_the_address_is_the_projects_everywhere() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert urls == {"Homepage": releases.HOMEPAGE, "Releases": releases.RELEASES}
    metadata = ElementTree.parse(ROOT / "resources" / "linux" / "pinfill.metainfo.xml")
    assert [(url.get("type"), url.text) for url in metadata.iter("url")] == [("homepage", releases.HOMEPAGE)]
    assert releases.LATEST.toString() == "https://api.github.com/repos/pinfill/pinfill/releases/latest"


# Over the network


class Question:
    """One question to a server, and its answers."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self.answers: list[Release | NoRelease] = []

    def ask(self, url: str, seconds: float = LIMIT_MILLISECONDS / 1000) -> Release | NoRelease:
        self.source = ReleaseSource(QUrl(url), seconds=seconds)
        self.source.answered.connect(self.answers.append)
        self.source.ask()
        self.source.ask()  # while the first one is under way, nothing more is sent
        self._qtbot.waitUntil(lambda: bool(self.answers), timeout=LIMIT_MILLISECONDS)
        (answer,) = self.answers
        assert not self.source.is_asking
        return answer


@pytest.fixture
def question(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Question]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield Question(qtbot)


def test_one_request_says_nothing_but_who_asks(question: Question) -> None:
    head = f"HTTP/1.1 200 OK\r\nSet-Cookie: id=1\r\nContent-Length: {len(body())}\r\n\r\n"
    with raw_server([head.encode() + body(), KEEP]) as server:  # one that closes first may be asked again by Qt
        assert question.ask(f"{server.url}/latest") == GOOD
        question.answers.clear()
        assert question.ask(f"{server.url}/latest") == GOOD
    first, second = server.requests
    assert first == second
    line, *headers = first.rstrip().split("\r\n")
    assert line == "GET /latest HTTP/1.1"
    assert dict(header.split(": ", 1) for header in headers) == {
        "Host": server.url.removeprefix("http://"),
        "User-Agent": release_source.USER_AGENT,
        "Accept": "application/vnd.github+json",
        "Accept-Language": "en",
        "Accept-Encoding": "identity",
        "Connection": "Keep-Alive",
    }


def redirection(url: str) -> bytes:
    return f"HTTP/1.1 301 Moved\r\nLocation: {url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ([json_answer(b"{}", "404 Not Found")], NoRelease.NONE_PUBLISHED),
        ([json_answer(b"{}", "403 Forbidden")], NoRelease.REFUSED),
        ([json_answer(b"{}", "401 Unauthorized")], NoRelease.REFUSED),
        ([json_answer(body(), "500 Oh")], NoRelease.REFUSED),
        ([json_answer(b"<html>")], NoRelease.NOT_UNDERSTOOD),
        ([redirection("file:///etc/passwd")], NoRelease.NOT_UNDERSTOOD),
        ([redirection("data:application/json,{}")], NoRelease.NOT_UNDERSTOOD),
        ([redirection("/again")], NoRelease.NOT_UNDERSTOOD),
        ([json_answer(body())[:-4]], NoRelease.UNREACHABLE),
        ([b"\xff\xfe no HTTP\r\n\r\n"], NoRelease.UNREACHABLE),
        ([], NoRelease.UNREACHABLE),
    ],
    ids=["none", "often", "key", "oh", "html", "file", "data", "round", "cut", "garbage", "nothing"],
)
def test_what_is_no_answer_is_named(question: Question, answer: Sequence[object], outcome: NoRelease) -> None:
    with raw_server(answer) as server:
        assert question.ask(server.url) == outcome


def test_only_the_same_place_may_send_us_on(question: Question) -> None:
    def route(path: str) -> Sequence[bytes]:
        return [json_answer(body())] if path == "/moved" else [redirection("/moved")]

    with raw_server(route=route) as server:
        assert question.ask(server.url) == GOOD
    question.answers.clear()
    with raw_server([json_answer(body())]) as other, raw_server([redirection(other.url)]) as server:
        assert question.ask(server.url) == NoRelease.NOT_UNDERSTOOD
        assert other.requests == [] and len(server.requests) == 1


def test_too_much_is_given_up(question: Question, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_source, "MAX_ANSWER_BYTES", 100_000)
    with raw_server([b"HTTP/1.1 200 OK\r\n\r\n", *[b" " * 50_000] * 10, KEEP]) as server:
        assert question.ask(server.url) == NoRelease.NOT_UNDERSTOOD


def test_an_answer_that_trickles_is_too_late(question: Question) -> None:
    with raw_server([b"HTTP/1.1 200 OK\r\n\r\n{", KEEP]) as server:
        assert question.ask(server.url, seconds=0.2) == NoRelease.TOO_LATE


def answer_in_the_clear(listener: socket.socket) -> None:
    """To whoever wants to hear TLS first."""
    connection, _ = listener.accept()
    with connection:
        connection.sendall(json_answer(body()))
        connection.recv(65_536)


def test_who_cannot_prove_who_he_is_is_not_believed(question: Question) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer_in_the_clear, args=(listener,), daemon=True).start()
        assert question.ask(f"https://127.0.0.1:{listener.getsockname()[1]}") == NoRelease.INSECURE


def test_the_systems_proxy_is_used(question: Question, monkeypatch: pytest.MonkeyPatch) -> None:
    with raw_server([json_answer(body())]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert question.ask("http://releases.invalid/latest") == GOOD
        assert proxy.requests[0].startswith("GET http://releases.invalid/latest HTTP/1.1\r\n")


def test_what_was_given_up_is_not_answered_and_asking_goes_on(question: Question, qtbot: QtBot) -> None:
    with raw_server([KEEP], [json_answer(body())]) as server:
        source = ReleaseSource(QUrl(server.url))
        source.answered.connect(question.answers.append)
        source.ask()
        qtbot.waitUntil(lambda: len(server.requests) == 1, timeout=LIMIT_MILLISECONDS)
        source.give_up()
        assert not source.is_asking and question.answers == []
        source.ask()
        qtbot.waitUntil(lambda: question.answers == [GOOD], timeout=LIMIT_MILLISECONDS)

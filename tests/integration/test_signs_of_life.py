"""A long prefill, and a request that waits in the queue behind it: bytes keep coming, in every dialect, as they are on
the wire.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.client import KEY
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply
from tests.support.models import llama_text
from tests.support.server import serving

LONGEST_SILENCE = 5.0  # seconds; two are promised, the rest is for a busy machine
SIGNS = 2  # of each request, while nothing else can be told
USER = [{"role": "user", "content": "hello"}]


@dataclass(frozen=True)
class Route:
    """`opening`, `sign` and `end` are found in what comes first, while it waits, and last."""

    path: str
    body: dict[str, Any]
    opening: bytes
    sign: bytes
    end: bytes


ROUTES = (
    Route("/v1/chat/completions", {"messages": USER}, b'"role":"assistant"', b"\n: ", b"data: [DONE]"),
    Route("/v1/messages", {"messages": USER, "max_tokens": 9}, b"message_start", b"event: ping", b"message_stop"),
    Route("/v1/responses", {"input": "hello"}, b"response.created", b"\n: ", b"response.completed"),
    Route("/api/chat", {"model": "any", "messages": USER}, b"", b'"done":false', b'"done":true'),
)


class WireRequest:
    """A request under way, and when which bytes of its answer came."""

    def __init__(self, url: str, route: Route) -> None:
        body = json.dumps({"model": "any", **route.body, "stream": True}).encode()
        head = (
            f"POST {route.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        where = urlsplit(url)
        self._socket = socket.create_connection((where.hostname or "", where.port or 0), LIMIT_SECONDS)
        self._arrivals: list[tuple[float, bytes]] = [(time.monotonic(), b"")]
        self._socket.sendall(head.encode() + body)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def received(self) -> bytes:
        return b"".join(piece for _, piece in self._arrivals)

    @property
    def longest_silence(self) -> float:
        """Seconds without a byte, from when it was sent."""
        return max(after - before for (before, _), (after, _) in pairwise(self._arrivals))

    def wait_for(self, what: bytes, times: int = 1) -> None:
        end = time.monotonic() + LIMIT_SECONDS
        while self.received.count(what) < times:
            assert time.monotonic() < end, f"{what!r} did not come {times} times: {self.received!r}"
            time.sleep(0.02)

    def finish(self) -> bytes:
        self._reader.join(LIMIT_SECONDS)
        assert not self._reader.is_alive()
        return self.received

    def _read(self) -> None:
        with self._socket:
            while piece := self._socket.recv(65_536):
                self._arrivals.append((time.monotonic(), piece))


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_a_long_prefill_and_a_request_behind_it_show_that_they_live(route: Route) -> None:
    gate = Gate()
    engine = FakeEngine(Reply(llama_text().tokenizer.encode("Hi"), chunk=4, prefill_gate=gate), context_length=2048)
    with serving(engine) as url:
        running = WireRequest(url, route)
        assert gate.reached.wait(LIMIT_SECONDS)
        waiting = WireRequest(url, route)
        for request in (running, waiting):
            request.wait_for(b"\r\n\r\n")
            request.wait_for(route.sign, SIGNS)
            opened, _, signs = request.received.partition(b"\r\n\r\n")[2].partition(route.sign)
            assert route.opening in opened
            assert route.end not in signs, "the engine still prefills"
        gate.open()
        answers = [request.finish() for request in (running, waiting)]
    for request, answer in zip((running, waiting), answers, strict=True):
        assert answer.startswith(b"HTTP/1.1 200 ") and answer.count(route.end) >= 1
        assert request.longest_silence < LONGEST_SILENCE
    assert len(engine.requests) == 2 and not engine.cancelled

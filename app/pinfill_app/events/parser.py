"""Server-sent events, taken apart as the bytes arrive (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

from dataclasses import dataclass

MAX_EVENT_BYTES = 2 << 20
_BOM = b"\xef\xbb\xbf"


class StreamError(Exception):
    """What arrives is no stream of events that one can hold."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event. `data` is its text; `last_id` is what to resume after, the ids of earlier events included."""

    name: str
    data: str
    last_id: str


class EventParser:
    """Takes bytes in pieces of any size and gives the events that are complete.

    Bytes are cut at line ends only, which no character of UTF-8 contains, so that a character may be split between
    pieces. What is incomplete when the stream ends is never given. `retry` is the wait in milliseconds that the
    service asked for; None until it does.
    """

    def __init__(self, last_id: str = "") -> None:
        self.last_id = last_id
        self.retry: int | None = None
        self._rest = b""
        self._size = 0  # bytes of the event that is incomplete
        self._first = True
        self._begin()

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """The events that `piece` completes. Raises StreamError for an event beyond MAX_EVENT_BYTES."""
        lines = self._lines(piece)
        events = []
        for line in lines:
            event = self._line(line)
            if event is not None:
                events.append(event)
        if self._size + len(self._rest) > MAX_EVENT_BYTES:
            raise StreamError(f"an event is larger than {MAX_EVENT_BYTES >> 20} MiB")
        return events

    def _lines(self, piece: bytes) -> list[bytes]:
        """The complete lines so far. A CR at the end waits for what follows: an LF would belong to it."""
        held = self._rest + piece
        if self._first and len(held) < len(_BOM) and _BOM.startswith(held):
            self._rest = held
            return []
        if self._first:
            held, self._first = held.removeprefix(_BOM), False
        waiting = b"\r" if held.endswith(b"\r") else b""
        text = held.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, self._rest = text.split(b"\n")
        self._rest += waiting
        return lines

    def _line(self, line: bytes) -> ServerEvent | None:
        if not line:
            return self._dispatch()
        self._size += len(line) + 1
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdecimal() and len(value) <= 9:
            self.retry = int(value)
        return None

    def _dispatch(self) -> ServerEvent | None:
        self.last_id = self._id
        name, data = self._name or "message", self._data
        self._begin()
        return ServerEvent(name, "\n".join(data), self.last_id) if data else None

    def _begin(self) -> None:
        self._name, self._id, self._size = "", self.last_id, 0
        self._data: list[str] = []

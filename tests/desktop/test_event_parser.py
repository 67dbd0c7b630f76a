"""Server-sent events, however the bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfill_app.events.parser import MAX_EVENT_BYTES, EventParser, ServerEvent, StreamError

TEXT = st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=("Cs",)), max_size=12)
EVENTS = st.lists(st.tuples(TEXT.filter(bool), st.lists(TEXT, min_size=1, max_size=3), TEXT), max_size=5)
BREAKS = st.sampled_from(["\n", "\r\n", "\r"])


def pieces_of(content: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(cut, len(content)) for cut in cuts})
    return [content[start:end] for start, end in zip([0, *places], [*places, len(content)], strict=True)]


def parse(pieces: list[bytes], last_id: str = "") -> list[ServerEvent]:
    parser = EventParser(last_id)
    return [event for piece in pieces for event in parser.feed(piece)]


@given(EVENTS, BREAKS, st.booleans(), st.lists(st.integers(0, 400), max_size=12))
def test_the_events_are_the_same_however_the_bytes_are_cut(
    events: list[tuple[str, list[str], str]], line_break: str, bom: bool, cuts: list[int]
) -> None:
    blocks = [
        "".join(f"{line}{line_break}" for line in (f"event: {name}", *(f"data: {part}" for part in data), f"id: {id_}"))
        for name, data, id_ in events
    ]
    # A comment follows at once: a CR at the very end may be half of a line break.
    text = "".join(block + line_break + f": a comment{line_break}" for block in blocks)
    content = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    assert parse(pieces_of(content, cuts)) == [ServerEvent(name, "\n".join(data), id_) for name, data, id_ in events]


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
def test_garbage_is_read_the_same_in_any_pieces_and_never_breaks(content: bytes, cuts: list[int]) -> None:
    assert parse(pieces_of(content, cuts)) == parse([content])


def test_the_standards_examples() -> None:
    assert parse([b"data: YHOO\ndata: +2\ndata: 10\n\n"]) == [ServerEvent("message", "YHOO\n+2\n10", "")]
    stream = b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
    assert [(event.data, event.last_id) for event in parse([stream])] == [
        ("first event", "1"),
        ("second event", ""),
        (" third event", ""),
    ]
    assert [event.data for event in parse([b"data\n\ndata\ndata\n\ndata:"])] == ["", "\n"]


def test_what_is_incomplete_is_never_given_and_never_resumed_after() -> None:
    parser = EventParser()
    assert parser.feed(b"id: 1\ndata: a\n\nid: 2\ndata: b\n") == [ServerEvent("message", "a", "1")]
    assert parser.last_id == "1"


def test_retry_and_ids_that_are_none() -> None:
    parser = EventParser("7")
    parser.feed(b"retry: 250\n\nretry: soon\n\nid: a\0b\n\n")
    assert (parser.retry, parser.last_id) == (250, "7")


@pytest.mark.parametrize("piece", [b"x" * 65_536, b"data: x\n" * 8_192])
def test_an_endless_event_is_refused(piece: bytes) -> None:
    parser = EventParser()
    with pytest.raises(StreamError):
        for _ in range(MAX_EVENT_BYTES // len(piece) + 2):
            parser.feed(piece)

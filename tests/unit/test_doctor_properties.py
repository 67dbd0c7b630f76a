"""Whatever the doctor is given: a finding, the exact place, and an answer in time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.cache.doctor import Eviction, PromptRecord, diagnose
from pinfill_service.cache.doctor.excerpts import common_length
from pinfill_service.prompt.segments import Segment
from pinfill_service.prompt.tokenizer import Piece
from tests.support.prompt_records import check

tokens = st.lists(st.integers(0, 5), max_size=120)
anything = st.text(st.characters(), max_size=80)
places = st.integers(0, 140)


@st.composite
def records(draw: st.DrawFn) -> PromptRecord:
    """Records whose parts need not fit together."""
    cuts = sorted(draw(st.lists(places, max_size=5)))
    labels = st.sampled_from(["system", "message 2 (user)", "message 3 (assistant)", "generation prompt", "\ud800"])
    return PromptRecord(
        draw(tokens), id=draw(anything), at=draw(st.floats()), model=draw(st.sampled_from(["m", "\ud800"])),
        namespace=draw(st.sampled_from(["n", "n2"])), template_fingerprint=draw(st.sampled_from(["t", "t2"])),
        segments=tuple(Segment(draw(labels), a, b) for a, b in pairwise(cuts)),
        text=draw(st.none() | anything | st.lists(st.sampled_from(FRAGMENTS)).map("".join)),
        pieces=tuple(Piece(draw(places), cut) for cut in cuts),
        reply_ids=draw(tokens), reply_text=draw(st.none() | anything),
    )  # fmt: skip


@given(st.integers(0, 3_000), st.integers(0, 3_000), st.sampled_from([list, tuple, lambda ids: array("I", ids)]))
def test_the_first_difference_of_long_lists(length: int, at: int, kind: Callable[[list[int]], Sequence[int]]) -> None:
    ids = [number % 7 for number in range(length)]
    assert common_length(kind(ids), ids) == length and common_length(kind(ids), ids[:at]) == min(at, length)
    changed = [*ids[:at], 9, *ids[at + 1 :]]
    assert common_length(kind(ids), kind(changed)) == min(at, length)


FRAGMENTS = [
    "<|im_start|>system\n", "x-a-header: v=1;", "x-a-header: v=2;", "10:40", "10:41", "2026-11-29",
    "<think>", "</think>", '{"name": "a", "parameters": {}}', '{"parameters": {}, "name": "a"}',
    '{"', "[{", " ", "\n", "time", "today", "\ud83d",
]  # fmt: skip


@given(records(), st.lists(records(), max_size=4), places, st.none() | anything, st.none() | places, st.data())
@settings(max_examples=300, deadline=None)
def test_anything_at_all_gets_a_finding(
    now: PromptRecord,
    others: list[PromptRecord],
    cached: int,
    reason: str | None,
    checkpoint: int | None,
    data: st.DataObject,
) -> None:
    evicted = [Eviction(data.draw(st.floats()), "n", data.draw(st.none() | tokens))]
    check(diagnose(now, cached, others, evicted=evicted, checkpoint=checkpoint, reason=reason))


@given(st.text(st.sampled_from("ab \n"), min_size=40, max_size=300), st.data())
@settings(max_examples=200, deadline=None)
def test_the_position_of_any_edit_is_exact(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    edited = text[:at] + data.draw(st.text("abc", max_size=5)) + text[at + data.draw(st.integers(0, 5)) :]
    old, new = (characters(each) for each in (text, edited))
    expected = next(
        (n for n, (x, y) in enumerate(zip(text, edited, strict=False)) if x != y), min(len(text), len(edited))
    )
    found = diagnose(new, expected, [old])
    check(found)
    if len(edited) - expected > 2 and found.kind != "never_seen":
        assert found.position_tokens == expected
        assert text[expected : expected + 40] in found.before and edited[expected : expected + 40] in found.after


def characters(text: str) -> PromptRecord:
    """A prompt of one token a character, in an array, as whoever keeps many of them may hold them."""
    pieces = tuple(Piece(at, at) for at in range(len(text)))
    return PromptRecord(
        array("I", map(ord, text)), text=text, pieces=pieces, segments=(Segment("prompt", 0, len(text)),)
    )


@pytest.mark.parametrize(
    "filling",
    ["word ", '{"', '[{"a": ', "<think>", "x-a: b=", "10:40 ", "a=b;", "\u0301", "version 1", '{"name": "a"} '],
)
def test_prompts_of_a_million_characters_in_one_piece(filling: str) -> None:
    """What takes quadratic time on any of these does not come to an end."""
    body = filling * (1_000_000 // len(filling))
    old, new = (f"{body}The time is 10:4{minute} {body}" for minute in (0, 1))
    before, now = (
        PromptRecord([*map(ord, text)], text=text, segments=(Segment("system", 0, len(text)),), pieces=(Piece(0, 0),))
        for text in (old, new)
    )
    expected = len(body) + len("The time is 10:4")
    found = diagnose(now, expected, [before])
    check(found)
    assert found.position_tokens == expected

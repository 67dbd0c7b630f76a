"""Stop strings are found wherever tokens happen to split them, and text is held back no longer than needed."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfill_service.prompt.stops import StopMatcher

LETTERS = st.text("ab\n", max_size=24)
STOPS = st.lists(st.text("ab\n", max_size=4), max_size=4)


def expected(text: str, stops: list[str]) -> tuple[str, bool]:
    """The text before the stop string that ends first; of those that end together, before the longest."""
    ends = [(text.find(stop) + len(stop), text.find(stop)) for stop in stops if stop and stop in text]
    return (text[: min(ends)[1]], True) if ends else (text, False)


@given(LETTERS, STOPS, st.lists(st.integers(0, 24)))
def test_any_split_gives_what_searching_the_whole_text_gives(text: str, stops: list[str], cuts: list[int]) -> None:
    matcher = StopMatcher(stops)
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    emitted = ""
    for start, end in itertools.pairwise(edges):
        part, stopped = matcher.push(text[start:end])
        emitted += part
        assert expected(text, stops)[0].startswith(emitted)
        if stopped:
            break
    emitted += matcher.flush()
    assert (emitted, matcher.stopped) == expected(text, stops)


@given(LETTERS, STOPS)
def test_only_the_beginning_of_a_stop_string_is_held_back(text: str, stops: list[str]) -> None:
    matcher = StopMatcher(stops)
    emitted, stopped = matcher.push(text)
    if not stopped:
        held = text[len(emitted) :]
        beginnings = [
            n for n in range(len(text) + 1) if any(s[:-1].startswith(text[len(text) - n :]) for s in stops if s)
        ]
        assert len(held) == max(beginnings, default=0)


@pytest.mark.parametrize(
    ("parts", "stops", "emitted"),
    [
        (["Hel", "lo w", "orld"], ["o w"], ["Hel", "l"]),
        (["a", "a", "a", "b"], ["aab"], ["", "", "a", ""]),
        (["x</", "s>y"], ["</s>"], ["x", ""]),
        (["xxabyy"], ["xxabyy", "ab"], ["xx"]),
        (["no stop"], [], ["no stop"]),
        (["no stop"], [""], ["no stop"]),
    ],
)
def test_pieces(parts: list[str], stops: list[str], emitted: list[str]) -> None:
    matcher = StopMatcher(stops)
    seen = []
    for part in parts:
        text, stopped = matcher.push(part)
        seen.append(text)
        if stopped:
            break
    assert seen == emitted


def test_nothing_comes_after_a_stop() -> None:
    matcher = StopMatcher(["b"])
    assert matcher.push("abc") == ("a", True)
    assert matcher.push("d") == ("", True)
    assert matcher.flush() == ""

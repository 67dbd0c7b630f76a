"""The words that differ between two excerpts, whatever they are and wherever they were cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfill_app.word_difference import ELLIPSIS, differing
from pinfill_service.cache.doctor.excerpts import around


def marked(before: str, after: str) -> list[tuple[str, str]]:
    changes = differing(before, after)
    return [(before[slice(*change.before)], after[slice(*change.after)]) for change in changes]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("it is 10:40 now", "it is 10:41 now", [("10:40", "10:41")]),
        ("hello", "hello there", [("", " there")]),
        ("", "all new", [("", "all new")]),
        ("one two three", "one three", [("two ", "")]),
        ("a b", "a  b", [("", " ")]),
        ("same", "same", []),
        ("a red house and a blue car", "a green house and a black car", [("red", "green"), ("blue", "black")]),
        ("the red house here", "the big blue house here", [("red", "big blue")]),
        ("日付は十日です", "日付は九日です", [("十", "九")]),
        # only cut in other places
        ("short essays. Every one th…", "short texts. Every one the…", [("essays.", "texts.")]),
        ("short essays. Every one …", "short texts. Every one the rest…", [("essays.", "texts.")]),
        ("…ed words, essays.", "…shortened words, texts.", [("essays.", "texts.")]),
        ("短い作文…", "短い文章を…", [("作", "")]),
        ("one th…", "one other…", [("th", "other")]),
        ("one", "one two…", [("", " two")]),
        ("one th…", "one the…", [("th", "the")]),
    ],
)
def test_whole_words_are_marked(before: str, after: str, expected: list[tuple[str, str]]) -> None:
    assert marked(before, after) == expected


@given(st.text("ab \n日", max_size=20), st.text("ab \n日", max_size=20))
def test_outside_of_what_is_marked_both_texts_are_the_same(before: str, after: str) -> None:
    rest, other_rest, place, other_place = "", "", 0, 0
    for change in differing(before, after):
        assert place <= change.before[0] <= change.before[1] <= len(before)
        assert other_place <= change.after[0] <= change.after[1] <= len(after)
        assert before[slice(*change.before)] != after[slice(*change.after)]
        rest, place = rest + before[place : change.before[0]], change.before[1]
        other_rest, other_place = other_rest + after[other_place : change.after[0]], change.after[1]
    assert rest + before[place:] == other_rest + after[other_place:]


@given(st.text("ab ", max_size=300), st.integers(0, 300), st.sampled_from(["x", "longer", ""]))
def test_what_the_doctor_cuts_out_is_marked_at_the_change_only(text: str, at: int, new: str) -> None:
    """One word in the middle of a text becomes another: nothing else is marked, though the excerpts end elsewhere."""
    first, last = text[:at] + " ", " " + text[at:]
    one, other = around(first + "word" + last, len(first)), around(first + new + last, len(first))
    assert ELLIPSIS in one or len(one) <= 170
    changes = marked(one, other)
    assert all("word" in before or new in after for before, after in changes) and len(changes) == 1

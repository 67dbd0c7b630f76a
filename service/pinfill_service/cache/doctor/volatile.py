"""Stretches of a text that change from request to request without meaning anything: headers, clocks, identifiers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

# How far from a difference an expression may begin, how much of the text behind it is compared, and how much of it is
# looked at for that: expressions in there are longer than what stands for them.
_REACH = 200
_COMPARED = 40
_LOOKAHEAD = 4 * _COMPARED

_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
_MONTH += r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_TIME = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-6]\d(?:[.,]\d{1,9})?)?(?:\s?[ap]\.?m\b\.?)?"
_ZONE = r"(?:\s?(?:z|utc|gmt|(?-i:[A-Z]{2,4}T))\b(?:[+-]\d{1,2}(?::?\d\d)?)?|\s?[+-]\d\d:?\d\d)?"
_CLOCK = re.compile(
    rf"""(?<![\w.:/-])(?:
      \d{{4}}-\d\d-\d\d (?:[t\s_]{_TIME}{_ZONE})?               # 2026-11-29T13:23:00+00:00
    | \d{{4}}/\d{{1,2}}/\d{{1,2}} | \d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}} | \d{{1,2}}/\d{{1,2}}/\d\d
    | {_MONTH}\s+{_DAY}(?:,?\s+\d{{4}})?                        # November 29, 2026
    | {_DAY}\s+{_MONTH}(?:,?\s+\d{{4}})? | {_MONTH}\s+\d{{4}}
    | (?:mon|tues|wednes|thurs|fri|satur|sun)day
    | (?:mon|tue|wed|thu|fri|sat|sun)(?=,?\s+(?:\d|{_MONTH}\s))
    | {_TIME}{_ZONE}
    )(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
# Seconds to nanoseconds since 1970, from 2017 on. So many digits mean a time only where something says so.
_EPOCH = re.compile(r"(?<![\w.])1[5-9]\d{8}(?:\d{3}){0,3}(?:\.\d{1,9})?(?!\w)")
_SAYS_TIME = re.compile(r"today|\bnow\b|current|time|date\b|clock|as of|epoch|stamp", re.IGNORECASE)
# People write about dates too; these words announce the present one.
_SAYS_NOW = re.compile(r"today'?s date|current[\w -]{0,12}(?:date|time)|timestamp|<(?:date|time)|\bnow:", re.IGNORECASE)

_HEADER = re.compile(r"(?<![\w-])x-[a-z0-9]+(?:-[a-z0-9]+)*:[ \t]*(?:(?:[\w.-]+=[^;\n]*;?[ \t]*)+|\S*)", re.IGNORECASE)
_VERSION = re.compile(r"(?:version|release|build|commit|revision)\W{0,4}(?=[\w.+-]*\d)[\w.+-]+", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,64}"
    r"|(?:call|toolu|msg|fc|req|resp|chatcmpl|session|thread)[_-](?=[\w-]*\d)\w[\w-]{3,79})(?![\w-])",
    re.IGNORECASE,
)

VolatileKind = Literal["volatile_header", "volatile_id", "clock"]
# Who wrote a text: a program (a system prompt, tools) or a person or tool (in whose words a date or a number that
# differs is most likely meant).
Writer = Literal["program", "person", "unknown"]


@dataclass(frozen=True, slots=True)
class Place:
    """Two texts, equal up to character `at`, each looked at until its end; `start`: where what holds `at` begins.

    `open_ended`: the first is a reply as the model wrote it; in the other an end of turn follows.
    """

    before: str
    after: str
    at: int
    start: int
    before_end: int
    after_end: int
    writer: Writer
    open_ended: bool = False


def volatile_kind(place: Place) -> VolatileKind | None:
    """What kind of volatile part is all that differs around a place; None when it is none, or more differs."""
    by_program = place.writer == "program"
    if place.writer != "person" and (_only(_HEADER, place) or _only_one_has_header(place)):
        return "volatile_header"
    if ends := _only(_CLOCK, place):
        return "clock" if _is_about_time(place) or (by_program and _all(_CLOCK, place, ends)) else None
    if _only(_EPOCH, place) and _is_about_time(place):
        return "clock"
    if by_program and _only(_VERSION, place):
        return "volatile_header"
    return "volatile_id" if by_program and _only(_IDENTIFIER, place) else None


def is_header(text: str) -> bool:
    """Whether a text is a header and nothing else."""
    return _HEADER.fullmatch(text.strip()) is not None


def _only(pattern: re.Pattern[str], place: Place) -> tuple[int, int] | None:
    """Where the expressions at the difference end, in both texts, if the texts go on alike behind them."""
    ends = _spans(pattern, place)
    return ends if ends is not None and _goes_on(pattern, place, ends) else None


def _spans(pattern: re.Pattern[str], place: Place) -> tuple[int, int] | None:
    """Where the expressions end that begin at one place in both texts, hold the difference, and differ."""
    begin = max(place.start, place.at - _REACH)
    old, new = (
        {match.start(): match.end() for match in pattern.finditer(text, begin, min(end, place.at + 2 * _REACH))}
        for text, end in ((place.before, place.before_end), (place.after, place.after_end))
    )
    for start in sorted(old.keys() & new.keys(), reverse=True):
        ends = old[start], new[start]
        if start <= place.at <= min(ends) and place.before[start : ends[0]] != place.after[start : ends[1]]:
            return ends
    return None


def _goes_on(pattern: re.Pattern[str], place: Place, ends: tuple[int, int]) -> bool:
    """Whether the texts go on alike behind `ends`, to the end of the line or for a while, but for such expressions."""
    old, new = (
        pattern.sub("\0", text[start : min(end, start + _LOOKAHEAD)]).partition("\n")[0][:_COMPARED]
        for text, start, end in _rests(place, ends)
    )
    return old == new


def _all(pattern: re.Pattern[str], place: Place, ends: tuple[int, int]) -> bool:
    """Whether nothing but such expressions differs until the end of what holds the place."""
    old, new = (pattern.sub("\0", text[start:end]) for text, start, end in _rests(place, ends))
    return old == new


def _rests(place: Place, ends: tuple[int, int]) -> tuple[tuple[str, int, int], tuple[str, int, int]]:
    return (place.before, ends[0], place.before_end), (place.after, ends[1], place.after_end)


def _is_about_time(place: Place) -> bool:
    """Whether the line says, shortly in front of the difference, that what follows is the time."""
    begin = max(place.start, place.at - _REACH // 2, place.before.rfind("\n", place.start, place.at) + 1)
    words = _SAYS_TIME if place.writer == "program" else _SAYS_NOW
    return words.search(place.before, begin, place.at) is not None


def _only_one_has_header(place: Place) -> bool:
    """Whether one of the texts has a header at the difference that the other lacks, and is the same after it."""
    for one, end, other in (
        (place.before, place.before_end, place.after[place.at : place.after_end]),
        (place.after, place.after_end, place.before[place.at : place.before_end]),
    ):
        header = _HEADER.match(one, place.at, end)
        if header and header.end() < end:
            rest = one[header.end() : min(end, header.end() + _LOOKAHEAD)].lstrip()[:_COMPARED]
            if rest and other.startswith(rest):
                return True
    return False

"""How a template writes calls in the history, so that constrained answers look like the model's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

from pinfill_service.prompt.grammar.spec import CallWrapper
from pinfill_service.prompt.tools.probe import ANSWER, IDS, KEY, NAME, VALUES
from pinfill_service.prompt.tools.xml_calls import FUNCTION

# As Hermes and Qwen models write calls. Qwen's coders, whose arguments are no JSON, are held to this form too.
PLAIN_STYLE = CallWrapper('<tool_call>\n{"name": "', '", "arguments": ', "}\n</tool_call>")


def tags(style: CallWrapper) -> Mapping[str, str]:
    """What stands in front of a call and behind it, or around all of them, without JSON; empty when nothing does."""
    before = (style.opening + style.begin).partition("{")[0].strip().removesuffix("[").rstrip()
    after = (style.end + style.closing).rpartition("}")[2].strip().removeprefix("]").lstrip()
    return {before: after} if before else {}


def call_style(words: str, one: str, two: str | None) -> tuple[CallWrapper, str] | None:
    """The style that prompts show, and how it writes the call: prompts with an answer in words, with one call, and with
    two (None: the template refuses them). None when the call is in no form that is known.
    """
    start = _common(words, one)
    turn = one[start : len(one) - _common(words.partition(ANSWER)[2][::-1], one[start:][::-1])]
    if f"{FUNCTION}{NAME}>" in turn:
        return PLAIN_STYLE, turn
    first = _find(turn, 0)
    if first is None:
        return None
    begin, middle, end = turn[: first.name], turn[first.after_name : first.start], turn[first.stop :]
    style = CallWrapper(begin, middle, _without_id(end), "")
    second = None if two is None else _find(two[start:], first.stop)
    if two is None or second is None:
        return style, turn
    return _divided(style, _without_id(two[start + first.stop : start + second.name])), turn


def _divided(style: CallWrapper, between: str) -> CallWrapper:
    """What stands around every call, and what around all of them, told by what stands between two."""
    begin = style.begin[len(style.begin) - _common(style.begin[::-1], between[::-1]) :]
    rest = between.removesuffix(begin)
    end = rest[: _common(rest, style.end)]
    return replace(
        style,
        begin=begin,
        end=end,
        separator=rest[len(end) :],
        opening=style.begin.removesuffix(begin),
        closing=style.end.removeprefix(end),
    )


@dataclass(frozen=True, slots=True)
class _Call:
    """Where a call's name begins, and its arguments begin and stop."""

    name: int
    start: int
    stop: int

    @property
    def after_name(self) -> int:
        return self.name + len(NAME)


def _find(text: str, after: int) -> _Call | None:
    """The first call with arguments behind a place."""
    name = text.find(NAME, after)
    start = text.find("{", name)
    while name >= 0 and start >= 0:
        try:
            found, stop = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            found, stop = None, start
        if isinstance(found, dict) and found.get(KEY) in VALUES:
            return _Call(name, start, stop)
        start = text.find("{", start + 1)
    return None


def _without_id(text: str) -> str:
    """Ids are written behind the arguments by some; constrained answers leave them out."""
    for call_id in IDS:
        text = text.replace(f', "id": "{call_id}"', "")
    return text


def _common(a: str, b: str) -> int:
    """How many characters two texts share from the start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))

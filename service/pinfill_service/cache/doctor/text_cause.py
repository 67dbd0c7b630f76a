"""Why two texts differ where they first do, as far as the texts themselves tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pinfill_service.cache.doctor.json_tree import Found, first_difference, json_in, reorderings
from pinfill_service.cache.doctor.records import REPLY, Kind
from pinfill_service.cache.doctor.thinking import thinking_dropped
from pinfill_service.cache.doctor.tools import tools_change_at
from pinfill_service.cache.doctor.volatile import Place, Writer, volatile_kind
from pinfill_service.prompt.segments import GENERATION_PROMPT

_ASSISTANT = ("(assistant)", GENERATION_PROMPT, REPLY)


@dataclass(frozen=True, slots=True)
class Cause:
    """A kind, and the words that belong to it (names of tools)."""

    kind: Kind
    detail: str = ""


def writer_of(label: str | None) -> Writer:
    """Who wrote the segment with this label."""
    if label is None or label == "prompt":
        return "unknown"
    return "person" if label.endswith(("(user)", "(tool)")) else "program"


def text_cause(place: Place, label: str | None) -> Cause | None:
    """The cause of a difference in what `label` names; None when it is none of those that can be told for certain.

    The causes that the rest of the text has to confirm come first. Takes time in proportion to the texts.
    """
    if _only_white_space(place):
        return Cause("whitespace")
    if kind := volatile_kind(place):
        return Cause(kind)
    thinks = label is None or label.endswith(_ASSISTANT)
    if thinks and thinking_dropped(place.before, place.after, place.at, place.start, place.before_end, place.after_end):
        return Cause("thinking_dropped")
    old = json_in(place.before, place.start, place.before_end)
    new = json_in(place.after, place.start, place.after_end)
    change = tools_change_at(old, new, place.at)
    if change is not None:
        return Cause(change.kind, str(change))
    return _json_cause(old, new, place)


def _only_white_space(place: Place) -> bool:
    """Whether the texts are the same from the difference on but for white space, and not the same."""
    old = place.before[place.at : place.before_end]
    new = place.after[place.at : place.after_end]
    old_words, new_words = "".join(old.split()), "".join(new.split())
    return old != new and (new_words.startswith(old_words) if place.open_ended else new_words == old_words)


def _json_cause(old: Sequence[Found], new: Sequence[Found], place: Place) -> Cause | None:
    """JSON that holds the difference in both texts and is equal as a value."""
    before, after = (
        next((value for value in values if value.start <= place.at < value.end), None) for values in (old, new)
    )
    if before is None or after is None or first_difference(before.value, after.value) is not None:
        return None
    reordered = any(True for _ in reorderings(before.value, after.value))
    return Cause("json_key_order" if reordered else "json_format")

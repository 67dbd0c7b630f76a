"""Where two lists of messages first differ, and what happened to them there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pinfill_service.cache.doctor.json_tree import Path, first_difference, reorderings

_REASONING_BLOCKS = ("thinking", "redacted_thinking", "reasoning")
_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
# The order of keys is written where a value is written as JSON, and nowhere else in a message.
_JSON_KEYS = ("arguments", "input", "parameters")


@dataclass(frozen=True, slots=True)
class MessageChange:
    """What happened at message `index`; `count` messages were left out or put in; `path`, below the list, to keys in
    another order.
    """

    kind: Literal["continues", "message_removed", "message_inserted", "thinking_dropped", "json_key_order", "differs"]
    index: int
    count: int = 0
    path: Path | None = None


def message_change(before: Sequence[Any], after: Sequence[Any]) -> MessageChange | None:
    """The first change between two lists of normalised messages; None when both are the same."""
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if first_difference(old, new) is not None:
            return _change_at(before, after, index)
        for path in reorderings(old, new):
            if path is not None and any(key in _JSON_KEYS for key in path.keys):
                return MessageChange("json_key_order", index, path=path)
    if len(before) == len(after):
        return None
    return MessageChange("continues", min(len(before), len(after)))


def _change_at(before: Sequence[Any], after: Sequence[Any], index: int) -> MessageChange:
    old, new = before[index], after[index]
    if _has_reasoning(old) and first_difference(_without_reasoning(old), _without_reasoning(new)) is None:
        return MessageChange("thinking_dropped", index)
    moved = _moved(before, after, index)
    if moved is None:
        return MessageChange("differs", index)
    kind, count = moved
    if kind == "message_removed" and all(_is_reasoning(item) for item in before[index : index + count]):
        return MessageChange("thinking_dropped", index)
    return MessageChange(kind, index, count)


def _moved(
    before: Sequence[Any], after: Sequence[Any], index: int
) -> tuple[Literal["message_removed", "message_inserted"], int] | None:
    """Messages that only one list has, and how many; what follows them stands in both."""
    removed = _find(before, index + 1, after, index)
    if removed is not None:
        return "message_removed", removed - index
    inserted = _find(after, index + 1, before, index)
    return None if inserted is None else ("message_inserted", inserted - index)


def _find(messages: Sequence[Any], first: int, others: Sequence[Any], wanted: int) -> int | None:
    """Where the message at `wanted` of `others` stands, from `first` on, with the same one behind it, or none."""
    for index in range(first, len(messages)):
        if first_difference(messages[index], others[wanted]) is None:
            here, there = index + 1 < len(messages), wanted + 1 < len(others)
            if not (here and there) or first_difference(messages[index + 1], others[wanted + 1]) is None:
                return index
    return None


def _is_reasoning(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("type") in _REASONING_BLOCKS


def _has_reasoning(message: Any) -> bool:
    return first_difference(message, _without_reasoning(message)) is not None


def _without_reasoning(message: Any) -> Any:
    """A message without its reasoning; one block of text that remains counts as its text."""
    if not isinstance(message, Mapping):
        return message
    kept = {key: value for key, value in message.items() if key not in _REASONING_KEYS}
    content = kept.get("content")
    if isinstance(content, list):
        blocks = [block for block in content if not _is_reasoning(block)]
        only = blocks[0] if len(blocks) == 1 and isinstance(blocks[0], Mapping) else {}
        kept["content"] = only["text"] if only.get("type") == "text" and "text" in only else blocks
    return kept

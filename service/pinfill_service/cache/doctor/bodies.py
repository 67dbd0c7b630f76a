"""Where two request bodies would first make different prompts. Neither a model nor a server is needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pinfill_service.cache.doctor.body_messages import MessageChange, message_change
from pinfill_service.cache.doctor.body_parts import OPTIONS, Body, complete_path, is_system, label_of, read_body
from pinfill_service.cache.doctor.candidates import Words
from pinfill_service.cache.doctor.excerpts import around, common_length, writable
from pinfill_service.cache.doctor.json_tree import MISSING, Difference, Path, first_difference, reorderings
from pinfill_service.cache.doctor.records import Finding, Kind
from pinfill_service.cache.doctor.text_cause import Cause, text_cause, writer_of
from pinfill_service.cache.doctor.tools import tools_change
from pinfill_service.cache.doctor.volatile import Place, is_header
from pinfill_service.cache.doctor.wording import SUGGESTIONS, messages_were, place, text_sentence

_NAMESPACE = ("model", "cache_salt", "lora", "adapter")
_TOOLS = Path(None, "tools")
_IDENTIFIERS = ("id", "call_id", "tool_call_id", "tool_use_id")


def compare_bodies(before: Any, after: Any) -> Finding:
    """The first difference between two request bodies that changes the prompt: by path, with its cause and both texts.

    OpenAI chat, completions and responses, Anthropic messages and Ollama bodies are recognised by their keys and
    compared in the order in which templates write them: system prompt, tools, messages. Others are compared as JSON.
    What no template writes (sampling, `stream`, `cache_control`) does not count, nor does whether one block of text is
    sent as a list or as a string. Never raises for what a JSON parser returns.
    """
    old, new = read_body(before), read_body(after)
    if old is None or new is None:
        return _compare_json(before, after)
    if old.main != new.main:
        words = f"The requests are of different interfaces: one has `{old.main}`, the other `{new.main}`."
        return _finding(Cause("message_edited"), None, "", "", explanation=words)
    found = _settings(old, new) or _system(old, new)
    if found is not None:
        return found
    change = message_change(old.messages, new.messages)
    if change is not None and _is_leading_system(old, new, change.index):
        return _message(old, new, change)
    found = _tools(old, new) or _prompt(old, new)
    if found is not None:
        return found
    if change is not None and change.kind != "continues":
        return _message(old, new, change)
    return _options(old, new) or (_same(old, new) if change is None else _message(old, new, change))


def _settings(old: Body, new: Body) -> Finding | None:
    """What decides whether the cache is looked at, and which."""
    if new.raw.get("cache_prompt") is False:
        return _finding(Cause("cache_off"), "cache_prompt", "", "", explanation="The request turned the cache off.")
    for key in _NAMESPACE:
        a, b = old.raw.get(key), new.raw.get(key)
        if first_difference(a, b) is not None:
            words = f"The requests differ in `{key}`, and only equal ones share a cache."
            shown = ("", "") if key == "cache_salt" else (around(_shown(a), 0), around(_shown(b), 0))
            return _finding(Cause("namespace"), key, *shown, explanation=words)
    return None


def _system(old: Body, new: Body) -> Finding | None:
    path = Path(None, old.system_key)
    difference = first_difference(old.system or MISSING, new.system or MISSING, path)
    return None if difference is None else _leaf(old, new, difference, "system", "message_edited")


def _tools(old: Body, new: Body) -> Finding | None:
    change = tools_change(old.tools, new.tools)
    difference = first_difference(old.tools, new.tools, _TOOLS)
    if difference is None:
        path = next(reorderings(old.tools, new.tools, _TOOLS), None)
        return None if path is None else _reordered(old, new, path, "tools")
    if change is None or (change.kind == "tools_changed" and not change.added and not change.removed):
        cause = _text_cause(difference, "tools")  # a clock in a description is more than an edited tool
        if cause is not None:
            return _at(old, new, difference, "tools", cause)
    cause = Cause("tools_changed", "other duplicates") if change is None else Cause(change.kind, str(change))
    return _at(old, new, difference, "tools", cause)


def _prompt(old: Body, new: Body) -> Finding | None:
    """A text, or several, that are continued as they are."""
    difference = first_difference(old.prompt, new.prompt, Path(None, "prompt"))
    if difference is None:
        return None
    before, after = difference.before, difference.after
    if isinstance(before, str) and isinstance(after, str) and after.startswith(before):
        words = "The second prompt goes on where the first one ends; only what is new is evaluated."
        return _at(old, new, difference, "prompt", Cause("continues"), words)
    return _leaf(old, new, difference, "prompt", "message_edited")


def _message(old: Body, new: Body, change: MessageChange) -> Finding:
    a, b, index = old.messages, new.messages, change.index
    path = Path(Path(None, old.main), index)
    label = label_of(b[index] if index < len(b) else a[index], index)
    if change.kind == "continues":
        words = f"The first {index:,} messages are the same; what follows them was put behind the earlier request."
        if index == len(b):
            words = "All messages of the second request are the first ones of the first request."
        difference = Difference(path, a[index] if index < len(a) else MISSING, b[index] if index < len(b) else MISSING)
        return _at(old, new, difference, label, Cause("continues"), words)
    if change.kind in ("message_removed", "message_inserted"):
        return _at(
            old, new, Difference(path, a[index], b[index]), label, Cause(change.kind, messages_were(change.count))
        )
    if change.kind == "thinking_dropped":
        difference = first_difference(a[index], b[index], path) or Difference(path, a[index], b[index])
        return _at(old, new, difference, label, Cause("thinking_dropped"))
    if change.kind == "json_key_order":
        for key in change.path.keys if change.path else []:
            path = Path(path, key)
        return _reordered(old, new, path, label)
    difference = first_difference(a[index], b[index], path) or Difference(path, a[index], b[index])
    last = index == len(b) - 1 and label.endswith(("(user)", "(tool)"))
    return _leaf(old, new, difference, label, "new_message" if last else "message_edited")


def _is_leading_system(old: Body, new: Body, index: int) -> bool:
    """Whether all messages up to one are system messages, which stand in front of the tools."""
    return any(index < len(body.messages) and all(map(is_system, body.messages[: index + 1])) for body in (old, new))


def _options(old: Body, new: Body) -> Finding | None:
    for key in OPTIONS:
        difference = first_difference(old.raw.get(key, MISSING), new.raw.get(key, MISSING), Path(None, key))
        if difference is not None and key not in (old.system_key, old.main):
            words = f"The messages are the same, but the requests differ in `{key}`, which templates may write."
            return _at(old, new, difference, None, Cause("template"), words)
    return None


def _same(old: Body, new: Body) -> Finding:
    names = [key for key in dict.fromkeys([*old.raw, *new.raw])
             if first_difference(old.raw.get(key, MISSING), new.raw.get(key, MISSING)) is not None]  # fmt: skip
    words = "Both requests make the same prompt."
    if names:
        words = f"Both requests make the same prompt; what differs is not part of it ({', '.join(names[:8])})."
    return _finding(Cause("same"), None, "", "", explanation=words)


def _compare_json(before: Any, after: Any) -> Finding:
    """Bodies of no known dialect."""
    difference = first_difference(before, after)
    if difference is not None:
        cause = _text_cause(difference, None) or Cause("message_edited")
        shown = _texts(difference)
        return _finding(cause, None if difference.path is None else str(difference.path), *shown)
    for path in reorderings(before, after):
        return _finding(Cause("json_key_order"), None if path is None else str(path), "", "")
    return _finding(Cause("same"), None, "", "", explanation="Both bodies are the same.")


def _leaf(old: Body, new: Body, difference: Difference, label: str, otherwise: Kind) -> Finding:
    cause = _text_cause(difference, label)
    if cause is None and label == "system" and _have_little_in_common(difference):
        words = "The system prompts have little in common: these are requests of different kinds."
        return _at(old, new, difference, label, Cause("never_seen"), words)
    return _at(old, new, difference, label, cause or Cause(otherwise))


def _have_little_in_common(difference: Difference) -> bool:
    before, after = difference.before, difference.after
    return isinstance(before, str) and isinstance(after, str) and not Words(before).are_alike(Words(after))


def _at(
    old: Body, new: Body, difference: Difference, label: str | None, cause: Cause, explanation: str | None = None
) -> Finding:
    keys = [] if difference.path is None else difference.path.keys
    longest = max((complete_path(keys, body.raw) for body in (old, new)), key=len)
    path: Path | None = None
    for key in longest:
        path = Path(path, key)
    return _finding(
        cause, None if path is None else str(path), *_texts(difference), label=label, explanation=explanation
    )


def _reordered(old: Body, new: Body, path: Path, label: str) -> Finding:
    values: list[Any] = []
    for body in (old, new):
        value: Any = {"tools": body.tools, body.main: body.messages}
        for key in path.keys:
            value = value[key]
        values.append(value)
    return _at(old, new, Difference(path, *values), label, Cause("json_key_order"))


def _text_cause(difference: Difference, label: str | None) -> Cause | None:
    """What the texts at a difference tell; a header may also be there in one body and not in the other."""
    before, after = difference.before, difference.after
    if label == "system" and is_header(_block_text(before)) != is_header(_block_text(after)):
        return Cause("volatile_header")
    if not (isinstance(before, str) and isinstance(after, str)):
        return None
    if difference.path is not None and difference.path.key in _IDENTIFIERS:
        return Cause("volatile_id")
    at = common_length(before, after)
    return text_cause(Place(before, after, at, 0, len(before), len(after), writer_of(label)), label)


def _block_text(value: Any) -> str:
    text = value.get("text") if isinstance(value, Mapping) else value
    return text if isinstance(text, str) else ""


def _texts(difference: Difference) -> tuple[str, str]:
    before, after = _shown(difference.before), _shown(difference.after)
    at = common_length(before, after)
    return around(before, at), around(after, at)


def _shown(value: Any) -> str:
    """A value as people would write it; nothing for one that is missing."""
    if isinstance(value, str):
        return value
    if value is MISSING or value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply to be shown)"


def _finding(
    cause: Cause, path: str | None, before: str, after: str, *, label: str | None = None, explanation: str | None = None
) -> Finding:
    words = explanation if explanation is not None else text_sentence(cause.kind, place(label), cause.detail)
    return Finding(
        kind=cause.kind,
        position_tokens=None,
        segment=None if label is None else writable(label),
        before=before,
        after=after,
        explanation=writable(words),
        suggestion=SUGGESTIONS[cause.kind],
        path=None if path is None else writable(path),
    )

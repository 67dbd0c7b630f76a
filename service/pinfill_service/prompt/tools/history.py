"""A conversation as a model's template can show it, with equal JSON in equal form."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinfill_service.prompt.canonical import canonical, canonical_object, dump
from pinfill_service.prompt.chat import BEHIND, Message
from pinfill_service.prompt.tools.formats import ToolFormat
from pinfill_service.prompt.tools.going_on import apart, joined
from pinfill_service.prompt.tools.plain import in_plain_words
from pinfill_service.prompt.tools.turns import in_turns

_SHORT_ID = re.compile("[A-Za-z0-9]{9}")


@dataclass(frozen=True, slots=True)
class Shown:
    """What goes into the template, with seams where answers go on."""

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]]


def shown(format: ToolFormat, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Shown:
    """Messages and tools in the form the template wants. Raises NestingError."""
    messages = [_canonical_calls(message) if message.get("tool_calls") else _callless(message) for message in messages]
    tools = [canonical(tool) for tool in tools]
    if not format.native:
        return Shown(in_turns(format, in_plain_words(messages, tools)), ())
    messages = in_turns(format, messages)
    if format.one_call:
        messages = list(_one_call_each(messages))
    if any(BEHIND in call for message in messages for call in message.get("tool_calls") or ()):
        messages = [answer for message in messages for answer in _in_order(format, message)]
    return Shown([_told(format, message) for message in messages], tools)


def _canonical_calls(message: Message) -> Message:
    """The message with its calls in one form. Arguments that are no object, as broken ones may be, are kept in one:
    templates look for keys.
    """
    calls = []
    for call in message["tool_calls"]:
        function = call["function"]
        arguments = function.get("arguments") or {}
        if isinstance(arguments, str):
            found = canonical_object(arguments) if arguments.strip() else {}
            arguments = {"no_json": arguments} if found is None else found
        own = {"id": str(call.get("id") or ""), "type": "function"}
        if isinstance(call.get(BEHIND), str):
            own[BEHIND] = call[BEHIND]
        calls.append({**own, "function": {"name": str(function["name"]), "arguments": canonical(arguments)}})
    return {**message, "content": message.get("content") or "", "tool_calls": calls}


def _callless(message: Message) -> Message:
    """The message without an empty list of calls: templates take it for some."""
    return {name: value for name, value in message.items() if name != "tool_calls"}


def _in_order(format: ToolFormat, message: Message) -> Iterable[Message]:
    if not message.get("tool_calls"):
        return (message,)
    return (joined(message),) if format.between is None else apart(message)


def _told(format: ToolFormat, message: Message) -> Message:
    if message.get("tool_calls"):
        calls = [_call(format, call) for call in message["tool_calls"]]
        return {**message, "content": message["content"] or format.no_content, "tool_calls": calls}
    if "tool_call_id" in message and format.short_ids:
        return {**message, "tool_call_id": _short(message["tool_call_id"])}
    return message


def _call(format: ToolFormat, call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    if format.arguments_as_text:
        function = {**function, "arguments": dump(function["arguments"])}
    return {**call, "id": _short(call["id"]) if format.short_ids else call["id"], "function": function}


def _short(call_id: str) -> str:
    """An id of nine letters and digits that stands for this one."""
    if _SHORT_ID.fullmatch(call_id):
        return call_id
    return hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:9]


def _one_call_each(messages: Sequence[Message]) -> Iterator[Message]:
    """Every call in a message of its own, with its result behind it."""
    at = 0
    while at < len(messages):
        message, calls = messages[at], messages[at].get("tool_calls") or ()
        at += 1
        if len(calls) < 2:
            yield message
            continue
        results = []
        while at < len(messages) and messages[at].get("role") == "tool":
            results.append(messages[at])
            at += 1
        for number, call in enumerate(calls):
            said = message if number == 0 else {"role": message["role"], "content": ""}
            yield {**said, "tool_calls": [call]}
            yield from (each for each in results if each.get("tool_call_id") == call["id"])
        known = {call["id"] for call in calls}
        yield from (each for each in results if each.get("tool_call_id") not in known)

"""Tools that a client loads in the middle of a conversation, written where it loads them.

A client with many tools offers most of them by name only, lets the model search, and from then on sends the found
definitions among its tools with `"defer_loading": true`. In the list at the front of the prompt they would change
everything behind it. The message that brought them is new anyway, and its `tool_references` name them: there they
stand. A deferred tool that no message refers to is not in the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pinfill_service.prompt.canonical import NestingError, canonical, dump
from pinfill_service.prompt.chat import Message, tool_name
from pinfill_service.prompt.template import TemplateError

REFERENCES, DEFERRED = "tool_references", "defer_loading"


def as_rendered(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]
) -> tuple[tuple[Message, ...], tuple[Mapping[str, Any], ...]]:
    """Messages and tools as templates get them: no deferred tool is in the list, each is in the text of the messages
    that refer to it. References to tools that are not sent stay names. Raises TemplateError.
    """
    deferred = {tool_name(tool): tool for tool in tools if is_deferred(tool)}
    listed = tuple(tool for tool in tools if not is_deferred(tool))
    return tuple(_with_definitions(message, deferred) for message in messages), listed


def is_deferred(tool: Mapping[str, Any]) -> bool:
    return tool.get(DEFERRED) is True


def _with_definitions(message: Message, deferred: Mapping[str, Mapping[str, Any]]) -> Message:
    """The message with what it refers to behind its text: a line each, as JSON, between `<tools>` marks."""
    names = message.get(REFERENCES)
    if not isinstance(names, list | tuple):
        return message
    lines = [_definition(deferred[name]) if name in deferred else name for name in map(str, names)]
    block = "\n".join(["These tools can be called now:", "<tools>", *lines, "</tools>"])
    content = f"{message.get('content') or ''}\n\n{block}".lstrip()
    return {**{name: value for name, value in message.items() if name != REFERENCES}, "content": content}


def _definition(tool: Mapping[str, Any]) -> str:
    """A tool as templates write it in their list. Raises TemplateError."""
    try:
        return dump(canonical({name: value for name, value in tool.items() if name != DEFERRED}))
    except NestingError as error:
        raise TemplateError(str(error)) from error

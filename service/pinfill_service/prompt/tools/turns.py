"""Conversations in the turns that a model's template takes.

There are templates that refuse system messages, or those after the first, or two messages of one role in a row. What
they refuse is written into a neighbour, so that nothing a client sent is lost and no request fails for it. Which one
that is follows from the messages before and the one behind: as a conversation grows, its beginning stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pinfill_service.prompt.chat import Message

_FOLLOWED = ("user", "tool", "function")  # roles whose message can have a system message's words behind its own


class Takes(Protocol):
    """Which turns a template takes."""

    @property
    def system_messages(self) -> bool: ...

    @property
    def late_system(self) -> bool: ...

    @property
    def repeats(self) -> bool: ...


def in_turns(template: Takes, messages: Sequence[Message]) -> list[Message]:
    """The messages, with those that the template refuses joined to a neighbour by a blank line."""
    turns: list[Message] = []
    stands_in = False  # the last turn is a system message's, and waits for the user's words
    for number, message in enumerate(messages):
        last = turns[-1] if turns else {}
        taken = template.late_system if number else template.system_messages
        if message.get("role") == "system" and not taken:
            if last.get("role") in _FOLLOWED:
                turns[-1] = _joined(last, message)
            else:
                turns.append({"role": "user", "content": message.get("content") or ""})
                stands_in = True
            continue
        if _is_repeat(last, message) and (stands_in or not template.repeats):
            turns[-1] = _joined(last, message)
        else:
            turns.append(message)
        stands_in = False
    return turns


def _is_repeat(last: Message, message: Message) -> bool:
    roles = last.get("role"), message.get("role")
    calls = last.get("tool_calls") or message.get("tool_calls")
    return not calls and roles in (("user", "user"), ("assistant", "assistant"))


def _joined(first: Message, second: Message) -> Message:
    texts = (str(message.get("content") or "") for message in (first, second))
    return {**first, "content": "\n\n".join(text for text in texts if text)}

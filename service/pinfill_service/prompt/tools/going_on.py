"""Answers that go on in words behind a call, as templates can show them.

Templates write an answer as words and calls, in that order. So an answer that goes on is given to them as several, and
what they write between two answers is taken out of the prompt again: what is left is the text that the model wrote,
and the next turn finds it in the cache.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

from pinfill_service.prompt.chat import BEHIND, Message

# Marks where an answer goes on. No message can hold it, and it does not outlive a rendering.
SEAM = f"seam-{secrets.token_hex(16)}"


def apart(message: Message) -> Iterator[Message]:
    """The answer as those a template can show; all but the first begin at a seam."""
    calls: list[Any] = []
    for call in message.get("tool_calls") or ():
        calls.append(_without_words(call))
        if call.get(BEHIND):
            yield {**message, "tool_calls": calls}
            message, calls = {"role": message["role"], "content": SEAM + on_a_line(call[BEHIND])}, []
    yield {**message, "tool_calls": calls} if calls else message


def joined(message: Message) -> Message:
    """The answer with all its words in front of its calls."""
    calls: Sequence[Any] = message.get("tool_calls") or ()
    words = "".join(call.get(BEHIND, "") for call in calls)
    return {**message, "content": message["content"] + words, "tool_calls": [_without_words(call) for call in calls]}


def without_seams(text: str, between: str | None) -> str:
    """A prompt whose answers go on where they have a seam: without what the template writes `between` answers."""
    return text.replace(f"{between}{SEAM}", "").replace(SEAM, "") if between else text


def on_a_line(words: str) -> str:
    """Words as they stand behind a call: not in its line, unless they were written there with a space."""
    return words if words[:1].isspace() else f"\n{words}"


def _without_words(call: Message) -> Message:
    return {name: value for name, value in call.items() if name != BEHIND}

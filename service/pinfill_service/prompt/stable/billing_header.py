"""Claude Code's billing header, which names a version and an entry point and differs between conversations."""

from __future__ import annotations

import re
from dataclasses import replace

from pinfill_service.prompt.chat import ChatRequest

_PAIR = r" [a-z_]{1,32}=[^;\s]{0,128}"
_HEADER = re.compile(rf"x-anthropic-billing-header:{_PAIR}(?:;{_PAIR}){{0,15}};?(?:\n+|\Z)")


def without_billing_header(chat: ChatRequest) -> ChatRequest:
    """Leaves the header out where it is the first line of the first message, and that is a system message.

    A system message that has nothing else goes, too.
    """
    first = chat.messages[0] if chat.messages else {}
    content = first.get("content")
    if first.get("role") != "system" or not isinstance(content, str):
        return chat
    header = _HEADER.match(content)
    if header is None:
        return chat
    rest = content[header.end() :]
    kept = ({**first, "content": rest},) if rest else ()
    return replace(chat, messages=(*kept, *chat.messages[1:]))

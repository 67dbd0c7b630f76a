"""Today's date, as two clients write it into their system prompts."""

from __future__ import annotations

import re
from dataclasses import replace

from pinfill_service.prompt.chat import ChatRequest

# Claude Code, a line of its own; opencode, a line of its <env> block, as JavaScript's toDateString writes it.
_CLAUDE_CODE = re.compile(r"^Today's date is \d{4}-\d{2}-\d{2}\.(?:\n|\Z)", re.MULTILINE)
_OPENCODE = re.compile(
    r"^  Today's date: (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d{2} \d{4}\n(?=(?:  [^\n]*\n)*</env>)",
    re.MULTILINE,
)


def dates_in_first_message(chat: ChatRequest) -> ChatRequest:
    """Moves the date, with a blank line behind it, to the front of the first user message.

    Nothing happens without such a date, or without a user message to take it.
    """
    first = chat.messages[0] if chat.messages else {}
    content = first.get("content")
    user = next((at for at, message in enumerate(chat.messages) if message.get("role") == "user"), None)
    if first.get("role") != "system" or not isinstance(content, str) or user is None:
        return chat
    found = _CLAUDE_CODE.search(content) or _OPENCODE.search(content)
    if found is None:
        return chat
    system = (content[: found.start()] + content[found.end() :]).rstrip()
    asked = chat.messages[user]
    words = f"{found[0].strip()}\n\n{asked.get('content') or ''}"
    between = chat.messages[1:user]
    rest = chat.messages[user + 1 :]
    return replace(chat, messages=({**first, "content": system}, *between, {**asked, "content": words}, *rest))

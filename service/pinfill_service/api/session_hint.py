"""Which conversation a request belongs to, as far as its client tells."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from pinfill_service.prompt.chat import ChatRequest

# Claude Code; several; goose; opencode.
SESSION_HEADERS = ("x-claude-code-session-id", "x-session-id", "agent-session-id", "x-session-affinity")
_MAX_CHARACTERS = 256


def session_hint(headers: Mapping[str, str], key: str | None = None) -> str:
    """The name of the session: the body's key for it where there is one, else what a header says, else empty."""
    named = [key, *(headers.get(name) for name in SESSION_HEADERS)]
    return next((name.strip()[:_MAX_CHARACTERS] for name in named if name and name.strip()), "")


def lasting_session(chat: ChatRequest) -> str:
    """The session for the cache, of a request that others will go on from; empty for any other.

    Agents offer tools where they work, and none when they ask for a title or a summary, which nothing goes on from. A
    session without a name is told by how its conversation begins.
    """
    if not chat.tools:
        return ""
    if chat.hints.session:
        return chat.hints.session
    beginning = hashlib.sha256()
    for message in chat.messages:
        beginning.update(str(message.get("content") or "").encode("utf-8", "replace"))
        if message.get("role") == "user":
            break
    return beginning.hexdigest()

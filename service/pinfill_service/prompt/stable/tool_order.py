"""Tools in an order that does not depend on the client."""

from __future__ import annotations

from dataclasses import replace

from pinfill_service.prompt.chat import ChatRequest, tool_name


def tools_by_name(chat: ChatRequest) -> ChatRequest:
    """Sorts the tools by name; those of one name keep their order."""
    return replace(chat, tools=tuple(sorted(chat.tools, key=tool_name)))

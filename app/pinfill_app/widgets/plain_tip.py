"""Tool tips have no text format: what looks like HTML is drawn as HTML."""

from __future__ import annotations

import html


def plain_tip(text: str) -> str:
    """A tool tip that shows the text as it is, wherever that comes from."""
    return f"<p>{html.escape(text)}</p>" if "<" in text else text

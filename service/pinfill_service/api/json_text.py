"""JSON as it goes out: compact, not escaped to ASCII, safe in an event stream."""

from __future__ import annotations

import json
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dump_bytes(value: Any) -> bytes:
    """UTF-8 JSON. A lone surrogate, which UTF-8 cannot carry, becomes a question mark."""
    return _encode(value).encode("utf-8", "replace")


def sse_data(value: Any) -> bytes:
    """One server-sent event. Characters that some clients take for line ends are escaped."""
    text = _encode(value)
    if not text.isascii():
        text = text.replace("\x85", "\\u0085").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return b"data: " + text.encode("utf-8", "replace") + b"\n\n"


SSE_MEDIA_TYPE = "text/event-stream"
SSE_DONE = b"data: [DONE]\n\n"


def sse_comment(text: str) -> bytes:
    """A line that keeps the connection alive and that clients ignore."""
    return f": {text}\n\n".encode()

"""JSON as it goes out: compact, not escaped to ASCII, safe in an event stream."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn

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


def sse_event(name: str, value: Any) -> bytes:
    """One server-sent event with a name."""
    return f"event: {name}\n".encode() + sse_data(value)


SSE_MEDIA_TYPE = "text/event-stream"
SSE_DONE = b"data: [DONE]\n\n"
JSON_LINES_MEDIA_TYPE = "application/x-ndjson"


def sse_comment(text: str) -> bytes:
    """A line that keeps the connection alive and that clients ignore."""
    return f": {text}\n\n".encode()


def json_line(value: Any) -> bytes:
    """One line of newline-delimited JSON."""
    return dump_bytes(value) + b"\n"


def read_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None for anything else."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_shallow(value: Any, levels: int) -> bool:
    """Whether nothing in a JSON value lies more than `levels` lists and objects deep."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [item for each in layer for item in _items(each)]
        if not layer:
            return True
    return False


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")

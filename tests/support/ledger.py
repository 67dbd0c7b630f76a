"""Records and pins to put into a ledger, and looks at what of them is in its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pinfill_service.cache.ledger_records import RequestRecord
from pinfill_service.pins.book import StoredPin

NOW = 1_780_000_000.0  # a Unix time in 2026
DAY = 86_400.0


def record(number: int = 0, **changes: Any) -> RequestRecord:
    values: dict[str, Any] = {
        "id": f"request-{number}",
        "at": NOW,
        "route": "/v1/chat/completions",
        "client": "curl/8",
        "model": "smollm2-135m",
        "prompt_tokens": 100,
        "cached_tokens": 80,
        "generated_tokens": 7,
        "prefill_seconds": 0.25,
        "saved_seconds": 1.5,
        "finish_reason": "stop",
        "segments": (("system", 80), ("message 2 (user)", 20)),
    }
    return RequestRecord(**(values | changes))


def stored_pin(name: str = "rubric", text: str = "Be kind.", **changes: Any) -> StoredPin:
    values: dict[str, Any] = {
        "name": name,
        "model": "smollm2-135m",
        "fingerprint": "f" * 64,
        "content": {"kind": "text", "messages": [{"role": "system", "content": text}], "sources": []},
        "auto_refresh": False,
        "created": NOW,
        "state": "queued",
        "tokens": 12,
        "error": None,
    }
    return StoredPin(**(values | changes))


def files_with(home: Path, marker: str) -> list[str]:
    """Names of the files in which the marker is, whole or not as SQLite sees it."""
    return sorted(path.name for path in home.iterdir() if path.is_file() and marker.encode() in path.read_bytes())

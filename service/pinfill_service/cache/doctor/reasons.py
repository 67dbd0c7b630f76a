"""The engine's own word on a miss: it is the one that knows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pinfill_service.cache.doctor.records import Kind

# Misses that only a look at the prompts explains.
_ABOUT_PROMPTS = re.compile(r"never seen\b|left the cached prefix\b")
_LEFT_AT = re.compile(r"left the cached prefix at token ([\d,]{1,20})")
_CHECKPOINT = re.compile(r"last checkpoint before it is at ([\d,]{1,20})")
_KINDS: tuple[tuple[str, Kind], ...] = (
    ("turned the cache off", "cache_off"),
    ("scoring a prompt", "scoring"),
    ("could not be read", "unreadable"),
)


@dataclass(frozen=True, slots=True)
class Reason:
    """What a reason says: a kind that needs no look at the prompts; where the nearest checkpoint is; where the prompt
    left what was cached (0: it does not say).
    """

    kind: Kind | None = None
    checkpoint: int | None = None
    left_at: int = 0


def read_reason(reason: str | None) -> Reason:
    """Reads a `Claim.reason` or `Started.miss_reason`. One that is not known by its words is taken as it stands."""
    if reason is None:
        return Reason()
    if _ABOUT_PROMPTS.match(reason):
        return Reason(None, _number(_CHECKPOINT, reason), _number(_LEFT_AT, reason) or 0)
    return Reason(next((kind for words, kind in _KINDS if words in reason), "not_reusable"))


def _number(pattern: re.Pattern[str], reason: str) -> int | None:
    found = pattern.search(reason)
    digits = found.group(1).replace(",", "") if found else ""
    return int(digits) if digits else None

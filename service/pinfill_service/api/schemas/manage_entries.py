"""Cached prefixes, as the management API shows them."""

from __future__ import annotations

from pinfill_service.api.schemas.manage_base import Schema


class Entry(Schema):
    """One cached prefix. `begins` are its first words."""

    id: str
    begins: str
    tokens: int
    shared_tokens: int
    memory_bytes: int
    disk_bytes: int
    in_memory: bool
    pinned: bool
    pin: str | None  # the pin that ends here
    in_use: bool
    hits: int
    saves_seconds: float  # of prefill for each hit
    idle_seconds: float
    client: str | None  # who last sent it, as far as it is remembered


class Entries(Schema):
    """All cached prefixes, the most valuable first."""

    entries: list[Entry]


class Evicted(Schema):
    """How many entries are gone."""

    entries: int

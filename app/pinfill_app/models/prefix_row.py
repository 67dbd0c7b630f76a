"""A line of the table of prefixes: a pin, or something that is only cached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ntpath import basename  # which knows the separators of both systems
from typing import Literal

from PySide6.QtCore import QCoreApplication

from pinfill_app import units
from pinfill_service.api.schemas.manage import Entry, Pin, PinState, RequestSummary

Key = tuple[Literal["pin", "entry"], str]  # the name of a pin, or the id of an entry
RowState = PinState | Literal["in use", "cached", "on disk"]


@dataclass(frozen=True, slots=True)
class PrefixRow:
    """What is shown of a prefix. Rows with the same `key` are about the same one, and equal when they show the same.

    Seconds are of prefill; None: not known. `used` is the Unix time of the last use. Exactly one of `pin` and `entry`
    is there.
    """

    key: Key
    name: str
    state: RowState
    tokens: int
    memory_bytes: int
    disk_bytes: int
    shared_tokens: int
    hits: int
    saved_today: float | None
    saved_total: float | None
    saved_last: float | None
    used: float | None
    source: str
    pin: Pin | None = None
    entry: Entry | None = field(default=None, compare=False)

    @property
    def is_evictable(self) -> bool:
        """Whether it is an entry that nothing protects."""
        return self.entry is not None and not self.entry.pinned and not self.entry.in_use

    @property
    def prefill_seconds(self) -> float | None:
        """What it costs to have it again."""
        if self.pin is not None:
            return self.pin.prefill_seconds
        return self.entry.saves_seconds if self.entry is not None else None

    @property
    def searched(self) -> str:
        """The text that a search looks at."""
        parts = [self.name, self.source]
        if self.pin is not None:
            parts += [self.pin.state, self.pin.use_as or self.pin.model, *(source.path for source in self.pin.sources)]
        else:
            parts.append(self.state)
        return "\n".join(parts).casefold()


def pin_rows(pins: Iterable[Pin], requests: Iterable[RequestSummary]) -> list[PrefixRow]:
    """Pins in their order. `requests` are the latest ones, latest first."""
    last: dict[str, float] = {}
    for request in requests:
        if request.pin is not None:
            last.setdefault(request.pin, request.saved_seconds)
    return [_pin_row(pin, last) for pin in pins]


def entry_rows(entries: Iterable[Entry], at: float) -> list[PrefixRow]:
    """Entries in their order, but for those that are all of a pin: they are that pin's row already.

    `at` is when their `idle_seconds` were right.
    """
    return [_entry_row(entry, at) for entry in entries if entry.pin is None]


def file_name(path: str) -> str:
    """The last part of a path of either system."""
    return basename(path.rstrip("/\\")) or path


def _pin_row(pin: Pin, last: Mapping[str, float]) -> PrefixRow:
    return PrefixRow(
        key=("pin", pin.name),
        name=pin.name,
        state=pin.state,
        tokens=pin.tokens,
        memory_bytes=pin.memory_bytes,
        disk_bytes=pin.disk_bytes,
        shared_tokens=pin.shared_tokens,
        hits=pin.hits,
        saved_today=pin.saved_seconds_today,
        saved_total=pin.saved_seconds,
        saved_last=last.get(pin.name),
        used=pin.last_used,
        source=_source(pin),
        pin=pin,
    )


def _entry_row(entry: Entry, at: float) -> PrefixRow:
    return PrefixRow(
        key=("entry", entry.id),
        name=entry.begins,
        state="in use" if entry.in_use else "cached" if entry.in_memory else "on disk",
        tokens=entry.tokens,
        memory_bytes=entry.memory_bytes,
        disk_bytes=entry.disk_bytes,
        shared_tokens=entry.shared_tokens,
        hits=entry.hits,
        saved_today=None,
        saved_total=entry.hits * entry.saves_seconds,
        saved_last=entry.saves_seconds if entry.hits else None,
        used=at - entry.idle_seconds,
        source=entry.client or "",
        entry=entry,
    )


def _source(pin: Pin) -> str:
    """rubric.md; rubric.md + 2"""
    tr = QCoreApplication.translate
    if not pin.sources:
        match pin.kind:
            case "text":
                return tr("prefixes", "text")
            case "messages":
                return tr("prefixes", "conversation")
            case "raw":
                return tr("prefixes", "plain text")
    first = file_name(pin.sources[0].path)
    return first if len(pin.sources) == 1 else f"{first} + {units.number(len(pin.sources) - 1)}"

"""What goes into the ledger and what comes out of it, but for pins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

WORD_LENGTH = 200  # characters of a name, a reason, a client or a label
SEGMENTS = 200  # of a prompt; those in the middle are put together
CUT = "\n[...]\n"
# A finding's other words quote the prompt, or name what is in it.
_FINDING_WITHOUT_TEXT = ("kind", "position_tokens", "segment")
_FINDING_LENGTH = 2_000
_LARGEST = 2**53  # for counts; sums of them must fit SQLite's 64 bits

Label = tuple[str, int]
FindingValue = str | int | None


class LedgerError(Exception):
    """The ledger cannot do what it was asked to do; the message says what to do next."""


class LedgerVersionError(LedgerError):
    """The file was written by a newer version of Pinfill."""


class LedgerDamageError(LedgerError):
    """The file does not hold what was written into it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much the ledger keeps. `text_characters`: of a prompt, and of a reply, while history is on.

    `waiting`: requests kept in memory while they cannot be written.
    """

    requests: int = 2_000
    request_days: int = 30
    savings_days: int = 730
    text_characters: int = 8_000
    waiting: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """One request, when it has ended. `at` is the Unix time it came in, `error` the code of what went wrong.

    `segments` are (label, tokens). `finding` is the doctor's. `prompt` and `reply`, and of a finding all but its kind,
    position and segment, are kept only while history is on.
    """

    id: str
    at: float
    route: str
    client: str = ""
    model: str = ""
    pin: str | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    queue_seconds: float = 0.0
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    ttft_seconds: float = 0.0
    saved_seconds: float = 0.0
    finish_reason: str | None = None
    error: str | None = None
    miss_reason: str | None = None
    finding: Mapping[str, FindingValue] | None = None
    segments: Sequence[Label] = ()
    prompt: str | None = None
    reply: str | None = None

    @property
    def processed_tokens(self) -> int:
        return self.prompt_tokens - self.cached_tokens


@dataclass(frozen=True, slots=True)
class RequestPage:
    """Requests, latest first. `before` is what to ask the next page with; None on the last one."""

    requests: tuple[RequestRecord, ...]
    before: str | None


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over requests. `hits` are those that reused anything."""

    requests: int = 0
    hits: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    saved_seconds: float = 0.0
    prefill_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PinSums:
    """What one pin saved; `pin` None: requests that no pin served."""

    pin: str | None
    sums: Sums


@dataclass(frozen=True, slots=True)
class DaySums:
    """What one pin saved on a local date, YYYY-MM-DD."""

    day: str
    pin: str | None
    sums: Sums


@dataclass(frozen=True, slots=True)
class Savings:
    """The last `days` local dates, today's among them. By pin: what saved most first; by day: the earliest first."""

    days: int
    total: Sums
    by_pin: tuple[PinSums, ...]
    by_day: tuple[DaySums, ...]


@dataclass(frozen=True, slots=True)
class PinUse:
    """What a pin did as long as the ledger remembers; `last_used` is a Unix time."""

    hits: int
    saved_seconds: float
    saved_seconds_today: float
    last_used: float


def bounded(record: RequestRecord, limits: Limits, now: float, *, history: bool) -> RequestRecord:
    """The record as it may be kept: without texts unless `history`, nothing longer than the limits, no odd numbers."""
    prompt_tokens = _count(record.prompt_tokens)
    finding = record.finding
    if finding is not None:
        finding = _finding(finding if history else finding_without_text(finding))
    return replace(
        record,
        id=_word(record.id),
        at=record.at if math.isfinite(record.at) and 0 <= record.at < 2 * now else now,
        route=_word(record.route),
        client=_word(record.client),
        model=_word(record.model),
        prompt_tokens=prompt_tokens,
        cached_tokens=min(_count(record.cached_tokens), prompt_tokens),
        generated_tokens=_count(record.generated_tokens),
        queue_seconds=_seconds(record.queue_seconds),
        prefill_seconds=_seconds(record.prefill_seconds),
        decode_seconds=_seconds(record.decode_seconds),
        ttft_seconds=_seconds(record.ttft_seconds),
        saved_seconds=_seconds(record.saved_seconds),
        finish_reason=_optional(record.finish_reason),
        error=_optional(record.error),
        miss_reason=_optional(record.miss_reason),
        finding=finding,
        segments=_segments(record.segments),
        prompt=_text(record.prompt, limits.text_characters) if history else None,
        reply=_text(record.reply, limits.text_characters) if history else None,
    )


def finding_without_text(finding: Mapping[str, FindingValue]) -> dict[str, FindingValue]:
    """What is kept of a doctor's finding without history."""
    return {key: finding[key] for key in _FINDING_WITHOUT_TEXT if key in finding}


def _text(text: str | None, length: int) -> str | None:
    """A text cut to `length` characters. What differs between prompts is at their ends, so the middle goes."""
    if text is not None and len(text) > length:
        kept = max(0, length - len(CUT))
        head = (kept + 1) // 2
        text = (text[:head] + CUT + text[len(text) - (kept - head) :])[:length]
    return None if text is None else storable(text)


def storable(text: str) -> str:
    """SQLite takes UTF-8, which has no lone surrogates; JSON bodies may."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _word(text: str) -> str:
    return storable(text[:WORD_LENGTH])


def _optional(text: str | None) -> str | None:
    return None if text is None else _word(text)


def _seconds(value: float) -> float:
    return float(value) if math.isfinite(value) and value > 0 else 0.0


def _count(value: int) -> int:
    return min(max(0, value), _LARGEST)


def _finding(finding: Mapping[str, FindingValue]) -> dict[str, FindingValue]:
    """Short enough, of values that JSON has."""
    cut = ((key, value[:_FINDING_LENGTH] if isinstance(value, str) else value) for key, value in finding.items())
    return dict(cut)


def _segments(segments: Sequence[Label]) -> tuple[Label, ...]:
    """At most SEGMENTS segments; the sum of their tokens stays."""
    if len(segments) > SEGMENTS:
        head = SEGMENTS // 2
        tail = SEGMENTS - head - 1
        middle = segments[head : len(segments) - tail]
        together = (f"{len(middle)} segments", sum(tokens for _, tokens in middle))
        segments = (*segments[:head], together, *segments[len(segments) - tail :])
    return tuple((_word(label), _count(tokens)) for label, tokens in segments)

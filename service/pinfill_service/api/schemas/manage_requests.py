"""Requests and what reuse saved, as the management API shows them."""

from __future__ import annotations

from pinfill_service.api.schemas.manage_base import Schema


class Finding(Schema):
    """Where and why a prompt left the cached prefix. `before` and `after` are the texts around that place."""

    kind: str
    position_tokens: int | None = None
    segment: str | None = None
    before: str = ""
    after: str = ""
    explanation: str = ""
    suggestion: str = ""
    compared_with: str | None = None  # id of the earlier request
    path: str | None = None  # where in a request body, when two were compared


class RequestSegment(Schema):
    """A labelled stretch of a prompt, in tokens."""

    label: str
    tokens: int


class RequestSummary(Schema):
    """One request. `cached_tokens + processed_tokens == prompt_tokens`."""

    id: str
    at: float
    route: str
    client: str
    model: str
    pin: str | None
    prompt_tokens: int
    cached_tokens: int
    processed_tokens: int
    generated_tokens: int
    queue_seconds: float
    prefill_seconds: float
    decode_seconds: float
    ttft_seconds: float
    saved_seconds: float
    finish_reason: str | None
    error: str | None
    miss_reason: str | None
    finding: Finding | None


class Requests(Schema):
    """A page of the history. `before` for the next page; null on the last one."""

    requests: list[RequestSummary]
    before: str | None


class RequestDetail(RequestSummary):
    """One request with what is still remembered of its prompt."""

    segments: list[RequestSegment]
    text: str | None
    compared_with: str | None  # id of the earlier request that its finding is about
    compared_text: str | None
    can_be_pinned: bool


class SavingsPart(Schema):
    """Sums over requests."""

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    saved_seconds: float = 0.0
    prefill_seconds: float = 0.0


class SavingsByPin(SavingsPart):
    """`pin` null: requests that no pin served."""

    pin: str | None


class SavingsByDay(SavingsPart):
    """`day` is a local date, YYYY-MM-DD."""

    day: str
    pin: str | None


class Savings(Schema):
    """What reuse saved: seconds of prefill at this machine's measured speed, minus what restoring cost."""

    days: int
    total: SavingsPart
    by_pin: list[SavingsByPin]
    by_day: list[SavingsByDay]

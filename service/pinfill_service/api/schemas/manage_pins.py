"""Pins, as the management API takes and shows them."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from pinfill_service.api.schemas.manage_base import PinKind, PinState, Schema
from pinfill_service.api.schemas.openai import Message


class SourceFile(Schema):
    """A file as the client read it. The service never opens it: `path` is for people and for whoever watches it."""

    path: str = Field(max_length=4096)
    size: int = Field(ge=0)
    mtime: float
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")  # of the file
    text_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")  # of the text taken from it


class PinContent(Schema):
    """What a pin holds: exactly one of `text` (a system prompt), `messages` with `tools`, `body`, which is a request to
    chat completions, the Responses API or Anthropic's, and `raw_text`, which is continued as it is by /v1/completions.
    Tools may have the form of any API that takes some; beside `body` they take the place of its own.
    """

    text: str | None = None
    messages: list[Message] | None = None
    tools: list[dict[str, Any]] | None = None
    body: dict[str, Any] | None = None
    raw_text: str | None = None

    @property
    def given(self) -> list[str]:
        """The names of the ways in which a content was given."""
        return [name for name in ("text", "messages", "body", "raw_text") if getattr(self, name)]

    @model_validator(mode="after")
    def _tools_of_a_conversation(self) -> PinContent:
        if self.tools and not (self.text or self.messages or self.body):
            raise ValueError("tools go with text, messages or body")
        return self


class PinCreate(PinContent):
    """A new pin: with a content, or with what a recent request or a cached entry began with.

    `up_to` is the label of the last segment of the request to keep ("system", "message 3 (user)"); all but the
    generation prompt when it is left out.
    """

    name: str = Field(min_length=1, max_length=100)
    request_id: str | None = None
    up_to: str | None = None
    entry_id: str | None = None
    sources: list[SourceFile] = Field(default_factory=list, max_length=1000)
    auto_refresh: bool = False

    @model_validator(mode="after")
    def _one_origin(self) -> PinCreate:
        origins = [*self.given, *(name for name in ("request_id", "entry_id") if getattr(self, name))]
        if len(origins) != 1:
            raise ValueError("give one of text, messages, body, raw_text, request_id and entry_id")
        return self


class PinRefresh(PinContent):
    """What a pin holds from now on; without a content, what it held is prefilled again where it has to be."""

    sources: list[SourceFile] | None = Field(default=None, max_length=1000)

    @model_validator(mode="after")
    def _at_most_one_content(self) -> PinRefresh:
        if len(self.given) > 1:
            raise ValueError("give at most one of text, messages and raw_text")
        return self


class PinChange(Schema):
    """Changes to a pin; what is left out stays. `position` counts from 0. `stale` says why its source is not what was
    pinned any more; empty: it is again.
    """

    name: str | None = Field(default=None, min_length=1, max_length=100)
    position: int | None = Field(default=None, ge=0)
    auto_refresh: bool | None = None
    stale: str | None = Field(default=None, max_length=500)


class Verification(Schema):
    """The outcome of the last verification of a pin."""

    at: float
    greedy_equal: bool
    largest_difference: float


class Pin(Schema):
    """A pin as it stands. `done` and `total` are tokens while it is prefilled."""

    name: str
    kind: PinKind
    state: PinState
    reason: str | None  # why it is queued again, stale, failed, or not on disk
    position: int
    model: str  # the model it was made for
    use_as: str | None  # as the model of a request; null while it belongs to a model that is not loaded
    tokens: int
    shared_tokens: int  # of them with other pins
    done: int
    total: int
    seconds_left: float | None
    memory_bytes: int
    disk_bytes: int
    on_disk: bool  # it survives a restart
    auto_refresh: bool
    sources: list[SourceFile]
    created: float
    hits: int
    saved_seconds: float
    saved_seconds_today: float
    last_used: float | None
    prefill_seconds: float | None  # what it would cost to prefill it again, once that was measured with this model
    verified: Verification | None


class Pins(Schema):
    """All pins, in the user's order."""

    pins: list[Pin]


class PinText(Schema):
    """What was pinned."""

    kind: PinKind
    text: str | None = None
    messages: list[dict[str, Any]] = Field(default_factory=list)
    tools: list[dict[str, Any]] = Field(default_factory=list)


class Unpinned(Schema):
    """A pin that is gone, and what it would cost to get it back."""

    name: str
    tokens: int
    prefill_seconds: float | None


class VerifyRequest(Schema):
    """`tokens`: how many greedy tokens to compare."""

    tokens: int = Field(default=16, ge=1, le=256)


class VerifyReport(Schema):
    """A pin run cold and from the cache. `largest_difference` is over the best log probabilities of every token that
    both runs chose alike, and of the first that they did not.
    """

    name: str
    tokens_compared: int
    greedy_equal: bool
    largest_difference: float
    prompt_tokens: int
    cached_tokens: int
    cold_seconds: float
    cached_seconds: float

"""A pin as the manager keeps it, and as it shows it to others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from pinfill_service.api.schemas.manage import SourceFile
from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.pins.content import PinContent, PinnedPrefix, common_length
from pinfill_service.pins.kept_files import digest_of

PinState = Literal["queued", "prefilling", "warm", "cold", "stale", "failed"]


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """A pin run cold and from the cache; `largest_difference` is of log probabilities, `at` a Unix time."""

    at: float
    tokens_compared: int
    greedy_equal: bool
    largest_difference: float
    prompt_tokens: int
    cached_tokens: int
    cold_seconds: float
    cached_seconds: float


@dataclass(slots=True, eq=False)
class Pin:
    """What is known of a pin. Guarded by the manager's lock.

    `prefix` is None until it was worked out for the loaded model, and for a pin of another one; `digest` is that of its
    tokens, and stays. `held` are the tokens the engine keeps for it: while a refreshed pin is prefilled, those of its
    content before.
    """

    name: str
    content: PinContent
    sources: tuple[SourceFile, ...]
    auto_refresh: bool
    created: float
    model: str
    fingerprint: str
    tokens: int
    state: PinState = "queued"
    reason: str | None = None
    source_changed: str | None = None  # said by whoever watches its files; what was pinned stays usable
    reformed: bool = False  # its tools are read in another form than they were pinned in
    unfit: str | None = None  # why no request can begin with it, whatever the model
    prefix: PinnedPrefix | None = None
    digest: str | None = None
    held: list[int] | None = None
    done: int = 0
    in_memory: bool = False
    on_disk: bool = False
    prefilling_since: float | None = None
    already_there: int = 0  # tokens that were cached when it began to be prefilled
    verified: VerifyResult | None = None
    gone: bool = False

    def reads_as(self, prefix: PinnedPrefix) -> None:
        """These are its tokens now."""
        self.prefix, self.tokens, self.digest = prefix, len(prefix.token_ids), digest_of(prefix.token_ids)

    def seconds_left(self, now: float, cost: PrefillCost | None) -> float | None:
        """Until it is prefilled: what the rest costs, at the speed so far; None when nothing can be said."""
        if self.state != "prefilling" or self.prefilling_since is None:
            return None
        left = cost.measured_seconds(self.done, self.tokens) if cost is not None else None
        evaluated = self.done - self.already_there
        if evaluated <= 0:
            return left
        past = cost.measured_seconds(self.already_there, self.done) if cost is not None else None
        taken = now - self.prefilling_since
        if left is None or not past:
            return taken / evaluated * (self.tokens - self.done)
        return taken / past * left


@dataclass(frozen=True, slots=True)
class PinStatus:
    """One look at a pin. `token_ids` are empty for a pin of another model."""

    name: str
    content: PinContent
    sources: tuple[SourceFile, ...]
    auto_refresh: bool
    created: float
    model: str
    fingerprint: str
    state: PinState
    reason: str | None
    position: int
    tokens: int
    shared_tokens: int
    done: int
    seconds_left: float | None
    in_memory: bool
    on_disk: bool
    verified: VerifyResult | None
    digest: str | None
    token_ids: Sequence[int] = field(repr=False, default=())


def distinct_tokens(prefixes: Iterable[Sequence[int]]) -> int:
    """How many tokens' KV the prefixes need together: what two begin with is kept once."""
    ordered = sorted(list(ids) for ids in prefixes)
    shared = (common_length(a, b) for a, b in pairwise(ordered))
    return sum(map(len, ordered)) - sum(shared)

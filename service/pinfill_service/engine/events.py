"""What the engine says of a request while it runs. Only token ids and counts: no text, no numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pinfill_service.engine.errors import EngineError

FinishReason = Literal["stop", "length", "cancelled"]


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token's log probability under the model (before temperature and truncation), with the best alternatives."""

    token_id: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Timings:
    """Counts and seconds of one sequence. `cached_tokens + processed_tokens == prompt_tokens`, always."""

    cached_tokens: int = 0
    processed_tokens: int = 0
    prefill_seconds: float = 0.0
    queue_seconds: float = 0.0
    generated_tokens: int = 0
    decode_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Started:
    """The request left the queue: how much of its prompt is reused, and why not more (None: nothing to explain).

    `saved_seconds`: what prefilling the reused tokens would have cost, minus what it cost to restore them.
    """

    cached_tokens: int
    prompt_tokens: int
    miss_reason: str | None = None
    saved_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """A chunk of the prompt was evaluated. `done` counts the cached tokens too."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class PromptScored:
    """Log probabilities of prompt tokens 1..n-1 (the first has none), when `prompt_logprobs` asked for them."""

    logprobs: tuple[TokenLogprob, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token. A sampled stop id is not reported; `Finished` follows instead."""

    token_id: int
    logprob: TokenLogprob | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of a request that did not fail, cancelled ones included."""

    reason: FinishReason
    timings: Timings


@dataclass(frozen=True, slots=True)
class Failed:
    """The last event of a request that the engine could not finish."""

    error: EngineError


Event = Started | Progress | PromptScored | Token | Finished | Failed

"""One request on its way through the engine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pinfill_service.engine.constraint import Constraint
from pinfill_service.engine.events import Event, Timings, Token, TokenLogprob
from pinfill_service.engine.interface import GenerationRequest
from pinfill_service.engine.sampler import Logits, Sampler, token_logprob

log = logging.getLogger(__name__)

_LONG_ROPE, _SALT = "long rope\0", "salt\0"


def namespace(salt: str, *, long_rope: bool) -> str:
    """Nothing is shared between namespaces; positions rotated by another table are other KV."""
    return (_LONG_ROPE if long_rope else "") + (f"{_SALT}{salt}" if salt else "")


def salt_of(namespace: str) -> str:
    """The salt of the prompts in a namespace."""
    return namespace.partition(_SALT)[2]


@dataclass(slots=True, eq=False)
class Sequence:
    """Prompt, position, generated tokens and times of one request. Lives on the engine thread after `submit`."""

    id: int
    request: GenerationRequest
    on_event: Callable[[Event], None]
    prompt: NDArray[np.int32]
    sampler: Sampler
    submitted: float
    constraint: Constraint | None = None
    slot: int | None = None
    started: float = 0.0
    first_token: float = 0.0
    cached: int = 0
    evaluated: int = 0  # prompt tokens whose KV is in the slot, cached ones included
    next_token: int = 0
    reply: list[int] = field(default_factory=list)
    complete: bool = False  # its grammar lets nothing follow
    long_rope: bool = False
    checkpoints: tuple[int, ...] = ()  # prompt lengths, in order, at which the state is kept
    prompt_logprobs: list[TokenLogprob] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        return namespace(self.request.salt, long_rope=self.long_rope)

    @property
    def generated(self) -> int:
        return len(self.reply)

    @property
    def length(self) -> int:
        """Tokens of prompt and reply, the one last chosen included."""
        return len(self.request.prompt) + len(self.reply)

    @property
    def remaining(self) -> int:
        """Prompt tokens still to evaluate."""
        return len(self.prompt) - self.evaluated

    @property
    def reads_cache(self) -> bool:
        """Scoring a prompt needs the logits of all its tokens, so all are evaluated."""
        return self.request.use_cache and self.request.prompt_logprobs is None

    def choose(self, logits: Logits) -> Token:
        """Samples the next token from [vocabulary] logits. Raises GrammarError."""
        token_id = self.sampler.choose(logits, None if self.constraint is None else self.constraint.allowed())
        if self.constraint is not None:
            self.constraint.accept(token_id)
            self.complete = self.constraint.finished
        wanted = self.request.sampling.logprobs
        return Token(token_id, None if wanted is None else token_logprob(logits, token_id, wanted))

    def tell(self, event: Event) -> None:
        try:
            self.on_event(event)
        except Exception:  # a listener that is gone must not stop the others
            log.exception("the listener of request %d failed", self.id)

    def timings(self, now: float) -> Timings:
        started = self.started or now
        prefilled = self.first_token or now
        return Timings(
            cached_tokens=self.cached,
            processed_tokens=len(self.request.prompt) - self.cached,
            prefill_seconds=prefilled - started,
            queue_seconds=started - self.submitted,
            generated_tokens=self.generated,
            decode_seconds=now - prefilled,
        )

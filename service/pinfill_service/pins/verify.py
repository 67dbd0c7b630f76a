"""A pin checked against a cold run: the promise that reuse changes nothing, for people to see."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pinfill_service.engine.events import TokenLogprob
from pinfill_service.engine.interface import Engine, GenerationRequest, Sampling
from pinfill_service.pins.pin import VerifyResult
from pinfill_service.pins.running import BlockingRequest

TOP_LOGPROBS = 20
_GREEDY = Sampling(temperature=0, logprobs=TOP_LOGPROBS)


def verify(engine: Engine, prompt: Sequence[int], tokens: int) -> VerifyResult:
    """Generates `tokens` greedily after `prompt`, from the cache and then cold. Raises EngineError."""
    count = min(tokens, engine.model.context_length - len(prompt))
    cached = BlockingRequest(engine, GenerationRequest(prompt, count, _GREEDY))
    cached_run = cached.run()
    cold = BlockingRequest(engine, GenerationRequest(prompt, count, _GREEDY, use_cache=False, background=True))
    cold_run = cold.run()
    compared, equal, difference = compare(cold.scores, cached.scores)
    return VerifyResult(
        at=time.time(),
        tokens_compared=compared,
        greedy_equal=equal,
        largest_difference=difference,
        prompt_tokens=len(prompt),
        cached_tokens=cached.cached,
        cold_seconds=cold_run.timings.prefill_seconds,
        cached_seconds=cached_run.timings.prefill_seconds,
    )


def compare(cold: Sequence[TokenLogprob], cached: Sequence[TokenLogprob]) -> tuple[int, bool, float]:
    """(tokens compared, all chosen alike, largest difference of a log probability).

    Up to and with the first token that differs: what follows another token cannot be compared. A token that is among
    the best of one run only counts with the least it can differ: from the other's last.
    """
    difference, count = 0.0, 0
    for mine, other in zip(cold, cached, strict=False):
        count += 1
        difference = max(difference, _difference(mine, other))
        if mine.token_id != other.token_id:
            return count, False, difference
    return count, len(cold) == len(cached), difference


def _difference(cold: TokenLogprob, cached: TokenLogprob) -> float:
    a, b = (dict(((score.token_id, score.logprob), *score.top)) for score in (cold, cached))
    lowest_a, lowest_b = min(a.values()), min(b.values())
    return max(abs(a.get(token, lowest_a) - b.get(token, lowest_b)) for token in a.keys() | b.keys())

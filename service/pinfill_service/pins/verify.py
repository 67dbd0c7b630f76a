"""A pin checked against a cold run: the promise that reuse changes nothing, for people to see."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from pinfill_service.engine.events import TokenLogprob
from pinfill_service.engine.interface import Engine, GenerationRequest, Sampling
from pinfill_service.pins.pin import VerifyResult
from pinfill_service.pins.running import BlockingRequest

TOP_LOGPROBS = 20
_GREEDY = Sampling(temperature=0, logprobs=TOP_LOGPROBS)


class Verification:
    """Generates `tokens` greedily after `prompt`, from the cache and then cold. `keep` is told the result."""

    def __init__(
        self, engine: Engine, prompt: Sequence[int], tokens: int, keep: Callable[[VerifyResult], None] = lambda _: None
    ) -> None:
        self._keep, self._prompt = keep, prompt
        count = min(tokens, engine.model.context_length - len(prompt))
        cold = GenerationRequest(prompt, count, _GREEDY, use_cache=False, background=True)
        self._cached = BlockingRequest(engine, GenerationRequest(prompt, count, _GREEDY))
        self._cold = BlockingRequest(engine, cold)

    def run(self) -> VerifyResult | None:
        """Takes as long as the prompt's prefill. None: it was stopped, so nothing is known. Raises EngineError."""
        cached, cold = self._cached, self._cold
        warm_end = cached.run()
        if warm_end.reason == "cancelled":
            return None
        cold_end = cold.run()
        if cold_end.reason == "cancelled":
            return None
        compared, equal, difference = compare(cold.scores, cached.scores)
        result = VerifyResult(
            at=time.time(),
            tokens_compared=compared,
            greedy_equal=equal,
            largest_difference=difference,
            prompt_tokens=len(self._prompt),
            cached_tokens=cached.cached,
            cold_seconds=cold_end.timings.prefill_seconds,
            cached_seconds=warm_end.timings.prefill_seconds,
        )
        self._keep(result)
        return result

    def stop(self) -> None:
        """From any thread, at any time: `run` ends soon."""
        self._cached.cancel()
        self._cold.cancel()


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

"""Chooses the next token from logits, the way the request asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pinfill_service.engine.events import TokenLogprob
from pinfill_service.engine.interface import Sampling

Logits = NDArray[np.float32]
_FIRST_LOOK = 256  # tokens
TokenIds = NDArray[np.int64]


def token_logprob(logits: Logits, token_id: int, top: int) -> TokenLogprob:
    """The log softmax of `logits` [vocabulary] at `token_id`, with the `top` best tokens."""
    values = logits.astype(np.float64)
    log_total = float(values.max()) + float(np.log(np.exp(values - values.max()).sum()))
    best: tuple[tuple[int, float], ...] = ()
    if top:
        ids = np.argpartition(values, -top)[-top:] if top < len(values) else np.arange(len(values))
        ids = ids[np.lexsort((ids, -values[ids]))]
        best = tuple((int(i), float(values[i]) - log_total) for i in ids)
    return TokenLogprob(token_id, float(values[token_id]) - log_total, best)


def _usable(values: Logits) -> Logits:
    """Logits of which at least one is finite: NaN is the worst, infinity the best, and if all are -inf they are equal.

    A grammar may leave only tokens that the model rules out; one of them has to be chosen all the same.
    """
    if np.isfinite(values).all():
        return values
    largest = float(np.finfo(np.float32).max)
    values = np.nan_to_num(values, nan=-np.inf, posinf=largest, neginf=-np.inf)
    return values if (values > -np.inf).any() else np.zeros_like(values)


class Sampler:
    """One sequence's random state and token counts. Equal logits and seed give equal tokens."""

    def __init__(self, sampling: Sampling, prompt: NDArray[np.int32], vocab_size: int) -> None:
        self._sampling = sampling
        self._random = np.random.default_rng(sampling.seed)
        self._greedy = sampling.temperature <= 0
        self._bias_ids = np.array([i for i in sampling.logit_bias if 0 <= i < vocab_size], np.int64)
        self._bias = np.array([sampling.logit_bias[int(i)] for i in self._bias_ids], np.float32)
        self._counts = np.zeros(vocab_size, np.int32) if self._needs_counts else None
        self._seen = np.zeros(vocab_size, bool) if sampling.repetition_penalty != 1 else None
        if self._seen is not None:
            self._seen[prompt] = True

    @property
    def _needs_counts(self) -> bool:
        return self._sampling.presence_penalty != 0 or self._sampling.frequency_penalty != 0

    @property
    def _unchanged(self) -> bool:
        return not len(self._bias_ids) and self._counts is None and self._seen is None

    def choose(self, logits: Logits, allowed: TokenIds | None = None) -> int:
        """The next token's id from [vocabulary] logits, which are not changed.

        `allowed`: ids in ascending order, at least one; no other is chosen, whatever the logits are.
        """
        values = logits if self._greedy and self._unchanged else self._adjusted(logits)
        if allowed is not None:
            values = _usable(values[allowed])
        if self._greedy:
            index = int(values.argmax())
            return self._record(index if allowed is None else int(allowed[index]))
        ids, probabilities = self._candidates(np.arange(len(values)) if allowed is None else allowed, values)
        point = self._random.random()
        index = int(np.searchsorted(np.cumsum(probabilities), point * probabilities.sum(), side="right"))
        return self._record(int(ids[min(index, len(ids) - 1)]))

    def _record(self, token_id: int) -> int:
        if self._counts is not None:
            self._counts[token_id] += 1
        if self._seen is not None:
            self._seen[token_id] = True
        return token_id

    def _adjusted(self, logits: Logits) -> Logits:
        sampling = self._sampling
        values = logits.astype(np.float32, copy=True)
        values[self._bias_ids] += self._bias
        if self._seen is not None:  # Keskar et al. 2019 (CTRL): divide what is positive, multiply what is negative
            seen = values[self._seen]
            penalty = np.float32(sampling.repetition_penalty)
            values[self._seen] = np.where(seen > 0, seen / penalty, seen * penalty)
        if self._counts is not None:  # OpenAI's API reference
            values -= np.float32(sampling.frequency_penalty) * self._counts
            values -= np.float32(sampling.presence_penalty) * (self._counts > 0)
        return values

    def _candidates(self, ids: TokenIds, values: Logits) -> tuple[TokenIds, NDArray[np.float64]]:
        """Ids and probabilities of those that survive top-k, top-p and min-p. Nothing is sorted that need not be."""
        sampling = self._sampling
        if 0 < sampling.top_k < len(values):
            best = np.argpartition(values, -sampling.top_k)[-sampling.top_k :]
            ids, values = ids[best], values[best]
        scaled = values.astype(np.float64) / sampling.temperature
        probabilities = np.exp(scaled - scaled.max())
        probabilities /= probabilities.sum()
        if sampling.top_p < 1:
            kept = _most_probable(probabilities, sampling.top_p)
            ids, probabilities = ids[kept], probabilities[kept]
        if sampling.min_p > 0:
            kept = probabilities >= sampling.min_p * probabilities.max()
            ids, probabilities = ids[kept], probabilities[kept]
        return ids, probabilities


def _most_probable(probabilities: NDArray[np.float64], share: float) -> NDArray[np.intp]:
    """Indices of the smallest set whose probability reaches `share` (Holtzman et al. 2020), best first.

    A few hundred tokens nearly always reach it, and sorting a whole vocabulary for each token takes milliseconds.
    """
    size = _FIRST_LOOK
    best = np.arange(len(probabilities))
    while size < len(probabilities):
        most = np.argpartition(probabilities, -size)[-size:]
        if probabilities[most].sum() >= share:
            best = most
            break
        size *= 8
    best = best[np.lexsort((best, -probabilities[best]))]
    before = np.cumsum(probabilities[best]) - probabilities[best]
    kept = before < share
    kept[0] = True
    return best[kept]

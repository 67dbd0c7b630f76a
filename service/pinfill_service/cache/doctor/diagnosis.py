"""Why a prompt was not, or not fully, served from the cache."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pinfill_service.cache.doctor.candidates import Comparison, closest, elsewhere
from pinfill_service.cache.doctor.differing import explain_difference, never_seen
from pinfill_service.cache.doctor.excerpts import around, common_length, writable
from pinfill_service.cache.doctor.reasons import read_reason
from pinfill_service.cache.doctor.records import Eviction, Finding, Kind, PromptRecord
from pinfill_service.cache.doctor.wording import SUGGESTIONS

# The last tokens of every prompt are evaluated: what follows them has to be computed.
_ALWAYS_EVALUATED = 2
# Tokens that had been cached and were not any more; fewer are a template's first words, which are no loss.
_LOSS = 16
_LAST_TIME = 253_000_000_000.0  # in the year 9987; later ones have no date


def diagnose(
    current: PromptRecord,
    cached_tokens: int,
    candidates: Sequence[PromptRecord],
    *,
    evicted: Sequence[Eviction] = (),
    checkpoint: int | None = None,
    reason: str | None = None,
) -> Finding:
    """Where `current`, of which `cached_tokens` came from the cache, left what was cached, and why.

    `candidates` are earlier prompts, in any order; `evicted` what was given up since; `checkpoint` the length at which
    a model whose state cannot be cut back was resumed; `reason` the engine's word. The first of these that applies is
    the answer: nothing is left to explain; the engine knows; another model or other settings had it; it had been
    cached and was not any more; the texts differ. Never raises; takes time in proportion to the prompts.
    """
    said = read_reason(reason)
    nearest = said.checkpoint if checkpoint is None else checkpoint
    case = _Case(current, cached_tokens, evicted, nearest, said.left_at)
    if len(current.token_ids) - cached_tokens <= _ALWAYS_EVALUATED:
        return case.finding("served", "All of the prompt that can be reused came from the cache.")
    if said.kind is not None and reason is not None:
        return case.finding(said.kind, _sentence(reason), cached_tokens)
    best = closest(current, candidates)
    shared = max(cached_tokens, 0 if best is None else best.tokens)
    other = elsewhere(current, candidates, shared)
    if other is not None:
        return case.other_settings(other)
    lost = case.lost(best)
    if lost is not None:
        return lost
    if best is None or not case.is_explained_by(best):
        return case.unknown()
    return explain_difference(current, best, max(best.tokens, cached_tokens))


@dataclass(frozen=True, slots=True)
class _Case:
    """A prompt, how much of it came from the cache, and what happened to the cache."""

    current: PromptRecord
    cached: int
    evicted: Sequence[Eviction]
    checkpoint: int | None
    left_at: int  # where the engine says that the prompt left what was cached; 0 when it does not

    def finding(
        self, kind: Kind, explanation: str, position: int | None = None, comparison: Comparison | None = None
    ) -> Finding:
        """A finding at a token; the texts are those around the first difference to what it was compared with."""
        label = None if position is None else self.current.label_at(position)
        at = None if comparison is None else comparison.characters
        return Finding(
            kind=kind,
            position_tokens=position,
            segment=None if label is None else writable(label),
            before="" if comparison is None or at is None else around(comparison.earlier.all_text, at),
            after="" if at is None else around(self.current.text, at),
            explanation=writable(explanation),
            suggestion=SUGGESTIONS[kind],
            compared_with=writable(comparison.earlier.id) or None if comparison is not None else None,
        )

    def unknown(self) -> Finding:
        """Nothing that is remembered tells."""
        if self.cached:
            words = f"The first {self.cached:,} tokens came from the cache; what followed them there is not remembered."
            return self.finding("not_remembered", words, self.cached)
        return never_seen()

    def other_settings(self, other: Comparison) -> Finding:
        """The prompt is cached where this request must not look."""
        old, new = other.earlier, self.current
        if other.other_template and old.model == new.model:
            words = "The same messages were sent before, but another chat template put them into another prompt."
            return self.finding("template", words, self.cached, other)
        if old.model != new.model:
            what = f"for another model ({old.model or 'without a name'})"
        elif old.adapter != new.adapter:
            what = f"with another adapter ({old.adapter})" if old.adapter else "without this adapter"
        elif old.salt != new.salt:
            what = "with another cache salt"
        else:
            what = "for another state of the model's files or settings"
        words = f"A prompt that begins like this one was sent before, but {what}, and only equal ones share a cache."
        return self.finding("namespace", words, self.cached, other)

    def lost(self, best: Comparison | None) -> Finding | None:
        """What had been cached beyond what was reused; None for nothing worth mentioning."""
        known = min(best.tokens, len(best.earlier.token_ids)) if best is not None else 0
        if self.checkpoint is not None and self._is_loss(max(known, self.left_at)):
            words = f"The first {max(known, self.left_at):,} tokens are known, but this model can only go on from a "
            words += f"checkpoint, and the nearest is at {self.checkpoint:,}."
            return self.finding("not_truncatable", words, self.cached, best)
        gone = self._evicted_prefix(known)
        if gone is not None:
            return self.finding("evicted", gone, self.cached, best)
        if best is None or not self._is_loss(known):
            return None
        words = f"An earlier prompt{_time(best.earlier.at, ' ({})')} begins with the same {known:,} tokens, but "
        if any(eviction.at >= best.earlier.at for eviction in self._evictions()):
            words += "they have been evicted since, to make room."
            return self.finding("evicted", words, self.cached, best)
        words += f"only {self.cached:,} of them were in the cache any more."
        return self.finding("not_kept", words, self.cached, best)

    def is_explained_by(self, best: Comparison) -> bool:
        """Whether the earlier prompt goes as far as the cache did, but for a few tokens that another one shared."""
        same_segment = self.current.segment_at(best.tokens) == self.current.segment_at(self.cached)
        return best.tokens >= self.cached or (same_segment and 0 < self.cached - best.tokens < _LOSS <= best.tokens)

    def _is_loss(self, known: int) -> bool:
        possible = len(self.current.token_ids) - _ALWAYS_EVALUATED
        return min(known, possible) - self.cached >= max(1, min(_LOSS, possible // 4))

    def _evictions(self) -> list[Eviction]:
        return [eviction for eviction in self.evicted if eviction.namespace == self.current.namespace]

    def _evicted_prefix(self, known: int) -> str | None:
        """The sentence about an eviction of which it is known that it took this prompt's beginning."""
        found: tuple[int, float] | None = None
        for eviction in self._evictions():
            if eviction.token_ids is not None:
                length = common_length(eviction.token_ids, self.current.token_ids)
                if length >= known and self._is_loss(length) and (found is None or (length, eviction.at) > found):
                    found = length, eviction.at
        if found is None:
            return None
        return f"The first {found[0]:,} tokens were in the cache until they were evicted{_time(found[1], ' at {}')}."


def _time(at: float, words: str) -> str:
    """`words` with a local date and time put in; nothing for a time that is none."""
    if not (math.isfinite(at) and 0 < at <= _LAST_TIME):
        return ""
    return words.format(datetime.fromtimestamp(at).strftime("%H:%M:%S on %Y-%m-%d"))


def _sentence(reason: str) -> str:
    return reason[:1].upper() + reason[1:] + ("" if reason.endswith(".") else ".")

"""Which earlier prompt to compare a prompt with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pinfill_service.cache.doctor.excerpts import common_length
from pinfill_service.cache.doctor.records import PromptRecord

# Prompts that part this early share a template's first words or a header; which is closest, the words behind tell.
_EARLY = 64
# Comparing words takes longer than comparing tokens: this many of the latest prompts are worth it.
_COMPARED_BY_WORDS = 8
_WORD = re.compile(r"\w+")
_ALIKE = 0.3
_FEW = 4
_SAME_ELSEWHERE = 0.5
# A prompt that shares this much under the same settings did not miss because of others.
_AS_GOOD = 0.9


@dataclass(frozen=True, slots=True)
class Comparison:
    """An earlier prompt, the number of first tokens it shares, and of characters (None: a text is not remembered).

    `other_template`: its messages are alike, and another template made another text of them.
    """

    earlier: PromptRecord
    tokens: int
    characters: int | None
    other_template: bool = False


class Words:
    """The pairs of words of a text."""

    def __init__(self, text: str) -> None:
        words = _WORD.findall(text)
        self._pairs = set(pairwise(words))

    def likeness(self, other: Words) -> float:
        """How many of the pairs of the shorter text stand in the other, 0 to 1."""
        return len(self._pairs & other._pairs) / max(1, min(len(self._pairs), len(other._pairs)))

    def are_alike(self, other: Words) -> bool:
        """Whether one text may be an edited form of the other. Of a few words that cannot be told: they may."""
        return min(len(self._pairs), len(other._pairs)) < _FEW or self.likeness(other) >= _ALIKE


def closest(current: PromptRecord, candidates: Sequence[PromptRecord]) -> Comparison | None:
    """The earlier prompt of the same model and settings that shares most; of equal ones, the latest."""
    usable = [record for record in candidates if _same_settings(record, current) and not _is_same(record, current)]
    if not usable:
        return None
    ranked = _latest([(_shared(record, current.token_ids), record) for record in usable])
    ranked.sort(key=lambda pair: pair[0], reverse=True)
    best, record = ranked[0]
    if best < min(_EARLY, len(current.token_ids)) and current.text is not None:
        nearby = [each for length, each in ranked if length >= best // 2 and each.text is not None]
        words = Words(current.text)
        record = max(
            nearby[:_COMPARED_BY_WORDS], key=lambda each: words.likeness(Words(each.text or "")), default=record
        )
    return _compare(current, record)


def elsewhere(current: PromptRecord, candidates: Sequence[PromptRecord], here: int) -> Comparison | None:
    """An earlier prompt for another model or other settings that shares clearly more than the `here` tokens that are
    shared under the same ones, and at least half of the prompt.
    """
    others = [record for record in candidates if not (_same_settings(record, current) or _is_same(record, current))]
    total = max(1, len(current.token_ids))
    shares = _latest([(_share(current, record), record) for record in others])
    share, best = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    if best is not None and share >= _SAME_ELSEWHERE:
        return _compare(current, best) if here < _AS_GOOD * share * total else None
    if here >= _AS_GOOD * total or current.text is None:
        return None
    rendered = [pair for pair in shares if pair[1].template_fingerprint != current.template_fingerprint]
    words = Words(current.text)
    for _, record in rendered[:_COMPARED_BY_WORDS]:
        likeness = words.likeness(Words(record.text or ""))
        if likeness >= _SAME_ELSEWHERE and here < _AS_GOOD * likeness * total:
            return _compare(current, record, other_template=True)
    return None


def _compare(current: PromptRecord, earlier: PromptRecord, *, other_template: bool = False) -> Comparison:
    old, new = earlier.all_text, current.text
    characters = None if old is None or new is None else common_length(old, new)
    return Comparison(earlier, _shared(earlier, current.token_ids), characters, other_template)


def _shared(earlier: PromptRecord, token_ids: Sequence[int]) -> int:
    """How many first tokens an earlier prompt and its reply share with a prompt."""
    shared = common_length(earlier.token_ids, token_ids)
    if shared == len(earlier.token_ids) and len(earlier.reply_ids):
        shared += common_length(earlier.reply_ids, token_ids[shared : shared + len(earlier.reply_ids)])
    return shared


def _share(current: PromptRecord, earlier: PromptRecord) -> float:
    """How much of the prompt another one begins with, 0 to 1. Tokens of another model mean something else."""
    if earlier.text is not None and current.text is not None:
        return common_length(earlier.text, current.text) / max(1, len(current.text))
    if earlier.model != current.model:
        return 0.0
    return _shared(earlier, current.token_ids) / max(1, len(current.token_ids))


def _latest(pairs: Iterable[tuple[float, PromptRecord]]) -> list[tuple[float, PromptRecord]]:
    return sorted(pairs, key=lambda pair: pair[1].at, reverse=True)


def _same_settings(a: PromptRecord, b: PromptRecord) -> bool:
    return _settings(a) == _settings(b)


def _settings(record: PromptRecord) -> tuple[str, ...]:
    return record.namespace, record.model, record.adapter, record.salt, record.template_fingerprint


def _is_same(a: PromptRecord, b: PromptRecord) -> bool:
    """Whether both records are of one request."""
    return a is b or (bool(a.id) and a.id == b.id)

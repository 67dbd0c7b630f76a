"""Whose chunk is next."""

from __future__ import annotations

from collections.abc import Callable

from pinfill_service.cache.prefix_tree import common_prefix
from pinfill_service.engine.sequence import Sequence

# How many waiting prompts are looked at in a turn, and how much shared prefill is worth waiting for.
_CONSIDERED = 16
_WORTH_WAITING_TOKENS = 64


class PromptQueue:
    """Prompts that wait for a slot and prompts that are being evaluated.

    They take turns between the oldest and the shortest, so that a long prefill neither starves nor is starved. A prompt
    that shares more with one being prefilled than with anything cached waits for it instead of doing the same work.
    Background prompts come when there are no others.
    """

    def __init__(self, reusable: Callable[[Sequence], int]) -> None:
        self._reusable = reusable
        self._oldest_turn = False
        self.waiting: list[Sequence] = []
        self.prefilling: list[Sequence] = []

    def __bool__(self) -> bool:
        return bool(self.waiting or self.prefilling)

    def next(self, *, slot_free: bool) -> Sequence | None:
        """The prompt whose chunk is next; one without a slot only when there is one for it."""
        candidates = self._candidates(slot_free=slot_free, background=False)
        if not candidates and not self.has_urgent:
            candidates = self._candidates(slot_free=slot_free, background=True)
        if not candidates:
            return None
        self._oldest_turn = not self._oldest_turn
        if self._oldest_turn:
            return min(candidates, key=lambda pair: pair[1].id)[1]
        return min(candidates, key=lambda pair: (pair[0], pair[1].id))[1]

    @property
    def has_urgent(self) -> bool:
        """Whether anybody waits who is not in the background."""
        return not all(sequence.request.background for sequence in (*self.waiting, *self.prefilling))

    def _candidates(self, *, slot_free: bool, background: bool) -> list[tuple[int, Sequence]]:
        """(tokens to evaluate, sequence) of those whose turn it could be."""
        found = [(s.remaining, s) for s in self.prefilling if s.request.background == background]
        waiting = [s for s in self.waiting if s.request.background == background] if slot_free else []
        for sequence in waiting[:_CONSIDERED]:
            reusable = self._reusable(sequence)
            if not self._is_held(sequence, reusable):
                found.append((len(sequence.prompt) - reusable, sequence))
        return found

    def to_preempt(self) -> Sequence | None:
        """A background prompt that holds a slot somebody else is waiting for."""
        if all(sequence.request.background for sequence in self.waiting):
            return None
        return next((sequence for sequence in self.prefilling if sequence.request.background), None)

    def preempted(self, sequence: Sequence) -> None:
        """`sequence` gave its slot back."""
        self.prefilling.remove(sequence)
        self.waiting.append(sequence)

    def started(self, sequence: Sequence) -> None:
        """`sequence` has its slot."""
        self.waiting.remove(sequence)
        self.prefilling.append(sequence)

    def remove(self, sequence: Sequence) -> None:
        for queue in (self.waiting, self.prefilling):
            if sequence in queue:
                queue.remove(sequence)

    def _is_held(self, sequence: Sequence, reusable: int) -> bool:
        """True while a prompt in front is evaluating what this one could then reuse."""
        for other in self.prefilling:
            if other.request.background and not sequence.request.background:
                continue
            if sequence.reads_cache and other.request.use_cache and other.namespace == sequence.namespace:
                shared = common_prefix(sequence.prompt, other.prompt)
                if shared > other.evaluated and shared - reusable >= _WORTH_WAITING_TOKENS:
                    return True
        return False

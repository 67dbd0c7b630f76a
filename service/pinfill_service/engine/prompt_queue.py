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
        candidates = [(sequence.remaining, sequence) for sequence in self.prefilling]
        if slot_free:
            for sequence in self.waiting[:_CONSIDERED]:
                reusable = self._reusable(sequence)
                if not self._is_held(sequence, reusable):
                    candidates.append((len(sequence.prompt) - reusable, sequence))
        if not candidates:
            return None
        self._oldest_turn = not self._oldest_turn
        if self._oldest_turn:
            return min(candidates, key=lambda pair: pair[1].id)[1]
        return min(candidates, key=lambda pair: (pair[0], pair[1].id))[1]

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
            if sequence.reads_cache and other.request.use_cache and other.namespace == sequence.namespace:
                shared = common_prefix(sequence.prompt, other.prompt)
                if shared > other.evaluated and shared - reusable >= _WORTH_WAITING_TOKENS:
                    return True
        return False

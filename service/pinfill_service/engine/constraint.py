"""What a grammar leaves a sequence to choose from."""

from __future__ import annotations

import numpy as np

from pinfill_service.engine.interface import GenerationRequest, GrammarError, TokenMatcher
from pinfill_service.engine.sampler import TokenIds


class Constraint:
    """One sequence's matcher, with the ids that end a reply: those are allowed exactly where the grammar may end."""

    def __init__(self, matcher: TokenMatcher, stop_ids: frozenset[int], vocab_size: int) -> None:
        self._matcher = matcher
        self._stops = np.array(sorted(i for i in stop_ids if 0 <= i < vocab_size), np.int64)
        self._vocab_size = vocab_size

    @property
    def finished(self) -> bool:
        """Whether nothing can be added to the reply."""
        return self._matcher.finished

    def allowed(self) -> TokenIds:
        """Ids that may come next, ascending, at least one. Raises GrammarError."""
        mask = np.frombuffer(self._matcher.mask(), np.uint8)
        bits = np.zeros(self._vocab_size, bool)
        known = np.unpackbits(mask, count=min(self._vocab_size, 8 * len(mask)), bitorder="little")
        bits[: len(known)] = known
        bits[self._stops] = self._matcher.may_end
        ids = np.flatnonzero(bits)
        if not len(ids):
            raise GrammarError("The reply's grammar leaves no token of this model to go on with.")
        return ids

    def accept(self, token_id: int) -> None:
        """Goes on with an allowed id. Raises GrammarError."""
        if token_id not in self._stops:
            self._matcher.accept(token_id)


def make_constraint(request: GenerationRequest, vocab_size: int) -> Constraint | None:
    """The constraint of a request with a grammar. Raises GrammarError."""
    if request.grammar is None:
        return None
    return Constraint(request.grammar.matcher(), request.stop_ids, vocab_size)

"""What a grammar leaves a sequence to choose from."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from pinfill_service.engine.errors import GrammarError
from pinfill_service.engine.interface import GenerationRequest, TokenMatcher
from pinfill_service.engine.sampler import TokenIds

log = logging.getLogger(__name__)

_LOST = "The reply's grammar failed; try again, or with a simpler schema."


class Constraint:
    """One sequence's matcher, with the ids that end a reply: those are allowed exactly where the grammar may end.

    Whatever a matcher raises comes out as GrammarError.
    """

    def __init__(self, matcher: TokenMatcher, stop_ids: frozenset[int], vocab_size: int) -> None:
        self._matcher = matcher
        self._stops = np.array(sorted(i for i in stop_ids if 0 <= i < vocab_size), np.int64)
        self._vocab_size = vocab_size

    @property
    def finished(self) -> bool:
        """Whether nothing can be added to the reply."""
        with _as_grammar_error():
            return self._matcher.finished

    def allowed(self) -> TokenIds:
        """Ids that may come next, ascending, at least one. Raises GrammarError."""
        with _as_grammar_error():
            mask, may_end = np.frombuffer(self._matcher.mask(), np.uint8), self._matcher.may_end
        bits = np.zeros(self._vocab_size, bool)
        known = np.unpackbits(mask, count=min(self._vocab_size, 8 * len(mask)), bitorder="little")
        bits[: len(known)] = known
        bits[self._stops] = may_end
        ids = np.flatnonzero(bits)
        if not len(ids):
            raise GrammarError("The reply's grammar leaves no token of this model to go on with.")
        return ids

    def accept(self, token_id: int) -> None:
        """Goes on with an allowed id. Raises GrammarError."""
        if token_id not in self._stops:
            with _as_grammar_error():
                self._matcher.accept(token_id)


@contextmanager
def _as_grammar_error() -> Iterator[None]:
    """A grammar is code of others, and its messages could quote the reply: neither the client nor the log gets them."""
    try:
        yield
    except GrammarError:
        raise
    except Exception as error:
        log.error("a grammar failed with %s", type(error).__name__)
        raise GrammarError(_LOST) from None


def make_constraint(request: GenerationRequest, vocab_size: int) -> Constraint | None:
    """The constraint of a request with a grammar. Raises GrammarError."""
    if request.grammar is None:
        return None
    return Constraint(request.grammar.matcher(), request.stop_ids, vocab_size)

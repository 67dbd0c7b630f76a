"""Implements the engine's Grammar with llguidance."""

from __future__ import annotations

from llguidance import LLMatcher

from pinfill_service.engine.errors import GrammarError
from pinfill_service.engine.interface import TokenMatcher


class LlgGrammar:
    """A compiled grammar. Its own matcher never goes on, so every copy of it is at the beginning."""

    def __init__(self, beginning: LLMatcher, vocab_size: int) -> None:
        self._beginning, self._vocab_size = beginning, vocab_size

    def matcher(self) -> TokenMatcher:
        return LlgMatcher(self._beginning.deep_copy(), self._vocab_size)


class LlgMatcher:
    """One sequence's state. The grammar tokenizer's own end token, the id behind the vocabulary, is masked out."""

    def __init__(self, matcher: LLMatcher, vocab_size: int) -> None:
        self._matcher = matcher
        self._mask: bytes | None = None
        self._end_byte, self._end_bit = vocab_size >> 3, 1 << (vocab_size & 7)

    @property
    def may_end(self) -> bool:
        return self._matcher.is_accepting()

    @property
    def finished(self) -> bool:
        return self.may_end and (self._matcher.is_stopped() or not self.mask().strip(b"\0"))

    def mask(self) -> bytes:
        if self._mask is None:
            mask = bytearray(self._matcher.compute_bitmask())
            self._check()
            mask[self._end_byte] &= ~self._end_bit
            self._mask = bytes(mask)
        return self._mask

    def accept(self, token_id: int) -> None:
        self._mask = None
        self._matcher.consume_token(token_id)
        self._check()

    def _check(self) -> None:
        """Raises GrammarError after a step that failed; the library's own message could quote the reply."""
        if self._matcher.is_error():
            reason = self._matcher.stop_reason()
            raise GrammarError(f"The reply's grammar is too complex to follow ({reason}); use a simpler schema.")

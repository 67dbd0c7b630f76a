"""A model's vocabulary, the way llguidance wants it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from llguidance import LLTokenizer, TokenizerWrapper

from pinfill_service.prompt.tokenizer import TextTokenizer

# A text that nothing merges with and that takes the space some tokenizers put in front.
_LEAD = "\n"
_LARGEST = 1 << 20  # ids; the largest vocabularies have a quarter of it


class GrammarVocabulary:
    """Implements llguidance's TokenizerWrapper: tokens as bytes, and how text becomes tokens.

    Special tokens, and those that end a reply, are never part of a text. llguidance adds an end token of its own behind
    the last id, because ends are the engine's affair. Raises ValueError for a tokenizer that
    cannot be used.
    """

    is_tokenizer_wrapper = True
    eos_token_id = None
    bos_token_id = None

    def __init__(self, tokenizer: TextTokenizer, stop_ids: Iterable[int]) -> None:
        vocabulary = tokenizer.vocabulary
        if not vocabulary.exact:
            raise ValueError("This model's tokenizer cannot be used with a grammar: its tokens are not plain text.")
        size = vocabulary.size
        if size > _LARGEST:
            raise ValueError("This model's tokenizer cannot be used with a grammar: its vocabulary is too large.")
        self._tokenizer = tokenizer
        self.tokens = [vocabulary.token(token_id).data for token_id in range(size)]
        self.special_token_ids = sorted({i for i in (*vocabulary.special_tokens.values(), *stop_ids) if 0 <= i < size})
        self._special = frozenset(self.special_token_ids)
        self._by_bytes = {data: i for i, data in enumerate(self.tokens) if data and i not in self._special}
        self._longest = max(map(len, self._by_bytes), default=0)
        self._lead = tokenizer.encode(_LEAD)

    def __call__(self, text: str) -> list[int]:
        """Token ids whose bytes are exactly those of `text`: the tokenizer's, or the longest ones from the left."""
        data = text.encode()
        for lead, lead_ids in (("", []), (_LEAD, self._lead)):
            ids = self._tokenizer.encode(lead + text)
            if ids[: len(lead_ids)] == lead_ids and self._spells(ids[len(lead_ids) :], data):
                return ids[len(lead_ids) :]
        return self._longest_first(data)

    def _spells(self, ids: list[int], data: bytes) -> bool:
        return self._special.isdisjoint(ids) and b"".join(self.tokens[i] for i in ids) == data

    def _longest_first(self, data: bytes) -> list[int]:
        ids: list[int] = []
        position = 0
        while position < len(data):
            lengths = range(min(self._longest, len(data) - position), 0, -1)
            found = next((n for n in lengths if data[position : position + n] in self._by_bytes), None)
            if found is None:
                return ids
            ids.append(self._by_bytes[data[position : position + found]])
            position += found
        return ids


def grammar_tokenizer(tokenizer: TextTokenizer, stop_ids: Iterable[int]) -> LLTokenizer:
    """llguidance's tokenizer of a model: a second of work for a large vocabulary. Raises ValueError."""
    return LLTokenizer(cast(TokenizerWrapper, GrammarVocabulary(tokenizer, stop_ids)))

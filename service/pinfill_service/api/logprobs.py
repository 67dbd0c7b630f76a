"""Log probabilities in the two forms OpenAI has for them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pinfill_service.api.choice import ScoredToken
from pinfill_service.engine.events import TokenLogprob
from pinfill_service.prompt.tokenizer import TextTokenizer

_LOWEST = -9999.0  # JSON has no minus infinity; OpenAI writes this


def chat_logprobs(tokenizer: TextTokenizer, scores: Sequence[ScoredToken]) -> dict[str, object]:
    """`logprobs` of a chat choice: one entry a token, with its bytes and the best alternatives."""
    content = [
        {
            **_entry(tokenizer, score.logprob.token_id, score.logprob.logprob),
            "top_logprobs": [_entry(tokenizer, token_id, logprob) for token_id, logprob in score.logprob.top],
        }
        for score in scores
    ]
    return {"content": content, "refusal": None}


class LegacyLogprobs:
    """`logprobs` of a text completion: four parallel lists. `shift` is added to the offsets of generated tokens."""

    def __init__(self, tokenizer: TextTokenizer, shift: int = 0) -> None:
        self._tokenizer = tokenizer
        self._shift = shift

    def generated(self, scores: Sequence[ScoredToken]) -> dict[str, list[object]]:
        return self._lists([(score.logprob.token_id, score.offset + self._shift, score.logprob) for score in scores])

    def prompt(
        self, ids: Sequence[int], offsets: Sequence[int], scores: Sequence[TokenLogprob]
    ) -> dict[str, list[object]]:
        """The prompt's own tokens; the first has no log probability."""
        padded: list[TokenLogprob | None] = [None, *scores]
        return self._lists(list(zip(ids, offsets, padded, strict=True)))

    def _lists(self, rows: Sequence[tuple[int, int, TokenLogprob | None]]) -> dict[str, list[object]]:
        return {
            "tokens": [self._name(token_id) for token_id, _, _ in rows],
            "token_logprobs": [None if score is None else finite(score.logprob) for _, _, score in rows],
            "top_logprobs": [None if score is None else self._top(score) for _, _, score in rows],
            "text_offset": [offset for _, offset, _ in rows],
        }

    def _top(self, score: TokenLogprob) -> dict[str, float]:
        best = {self._name(token_id): finite(logprob) for token_id, logprob in score.top}
        return best | {self._name(score.token_id): finite(score.logprob)}

    def _name(self, token_id: int) -> str:
        """The token's text, or its bytes spelled out where they are no text: keys must not fall together."""
        token = self._tokenizer.token_text(token_id)
        if token.text.encode() == token.data:
            return token.text
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in token.data)


def finite(logprob: float) -> float:
    """A log probability that JSON can carry."""
    return logprob if math.isfinite(logprob) else _LOWEST


def _entry(tokenizer: TextTokenizer, token_id: int, logprob: float) -> dict[str, object]:
    token = tokenizer.token_text(token_id)
    return {"token": token.text, "logprob": finite(logprob), "bytes": list(token.data)}

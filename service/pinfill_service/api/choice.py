"""One choice of an answer: engine events in, certain text out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from pinfill_service.engine.interface import Finished, Timings, Token, TokenLogprob
from pinfill_service.prompt.stops import StopMatcher
from pinfill_service.prompt.tokenizer import TextTokenizer

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class ScoredToken:
    """A token's log probability and where its text begins, in characters of the choice's text."""

    offset: int
    logprob: TokenLogprob


@dataclass(frozen=True, slots=True)
class Delta:
    """Text that is certain now, and the tokens it is made of when log probabilities were asked for."""

    text: str = ""
    scores: tuple[ScoredToken, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text or self.scores)


@dataclass(slots=True)
class ChoiceResult:
    """What is known of a choice. `finish_reason` and `timings` are set when it is complete."""

    text: str = ""
    scores: list[ScoredToken] = field(default_factory=list)
    prompt_scores: tuple[TokenLogprob, ...] = ()
    generated: int = 0
    miss_reason: str | None = None
    finish_reason: FinishReason | None = None
    timings: Timings = field(default_factory=Timings)


class Choice:
    """Decodes tokens, looks for stop strings, keeps log probabilities in step with the text.

    A token's log probability comes out with the text that it begins; tokens that begin in a stop string do not.
    """

    def __init__(self, tokenizer: TextTokenizer, stops: tuple[str, ...]) -> None:
        self.result = ChoiceResult()
        self._decoder = tokenizer.stream_decoder()
        self._stops = StopMatcher(stops)
        self._decoded = 0  # characters decoded, held back ones included
        self._emitted = 0
        self._scores: deque[ScoredToken] = deque()

    @property
    def stopped(self) -> bool:
        """A stop string was found: nothing more is wanted from the engine."""
        return self._stops.stopped

    def push(self, token: Token) -> Delta:
        """Takes a generated token. Tokens that arrive after a stop string are dropped and not counted."""
        if self.stopped:
            return Delta()
        self.result.generated += 1
        if token.logprob is not None:
            self._scores.append(ScoredToken(self._decoded, token.logprob))
        text = self._decoder.push(token.token_id)
        return self._emit(self._match(text)) if text else Delta()

    def finish(self, finished: Finished) -> Delta:
        """Takes the last event; the delta holds whatever was still held back."""
        text = ""
        if not self.stopped:
            text = self._match(self._decoder.flush()) + self._stops.flush()
        self.result.timings = finished.timings
        self.result.finish_reason = "length" if finished.reason == "length" and not self.stopped else "stop"
        return self._emit(text, last=not self.stopped)

    def _match(self, text: str) -> str:
        self._decoded += len(text)
        return self._stops.push(text)[0]

    def _emit(self, text: str, *, last: bool = False) -> Delta:
        self._emitted += len(text)
        scores: list[ScoredToken] = []
        while self._scores and (last or self._scores[0].offset < self._emitted):
            scores.append(self._scores.popleft())
        self.result.text += text
        self.result.scores += scores
        return Delta(text, tuple(scores))

"""One choice of an answer: engine events in, certain text out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from pinfill_service.engine.events import Finished, Started, Timings, Token, TokenLogprob
from pinfill_service.prompt.reply import Part, PlainReader, Reply, ReplyReader
from pinfill_service.prompt.stops import StopMatcher
from pinfill_service.prompt.tokenizer import TextTokenizer

FinishReason = Literal["stop", "length", "tool_calls"]


@dataclass(frozen=True, slots=True)
class ScoredToken:
    """A token's log probability and where its text begins, in characters of the choice's text."""

    offset: int
    logprob: TokenLogprob


@dataclass(frozen=True, slots=True)
class Delta:
    """Text that is certain now, what of the answer it completes, and the tokens it is made of when log probabilities
    were asked for.
    """

    text: str = ""
    scores: tuple[ScoredToken, ...] = ()
    parts: tuple[Part, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text or self.scores or self.parts)


@dataclass(slots=True)
class ChoiceResult:
    """What is known of a choice: its text, and what that text says. `finish_reason`, `stop` (the stop string that was
    found, if one was) and `timings` are set when it is complete.
    """

    text: str = ""
    reply: Reply = field(default_factory=Reply)
    scores: list[ScoredToken] = field(default_factory=list)
    prompt_scores: tuple[TokenLogprob, ...] = ()
    generated: int = 0
    started: Started | None = None  # None while it waits in the queue
    finish_reason: FinishReason | None = None
    stop: str | None = None
    timings: Timings = field(default_factory=Timings)


class Choice:
    """Decodes tokens, looks for stop strings, keeps log probabilities in step with the text.

    A token's log probability comes out with the text that it begins; tokens that begin in a stop string do not.
    """

    def __init__(self, tokenizer: TextTokenizer, stops: tuple[str, ...], reader: ReplyReader | None = None) -> None:
        self.result = ChoiceResult()
        self._reader = reader or PlainReader()
        self._decoder = tokenizer.stream_decoder(shown=self._reader.markers)
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
        delta = self._emit(text, last=not self.stopped, ended=True)
        self.result.timings = finished.timings
        self.result.stop = self._stops.found
        self.result.finish_reason = self._reason(finished)
        return delta

    def _reason(self, finished: Finished) -> FinishReason:
        if finished.reason == "length" and not self.stopped:
            return "length"
        return "tool_calls" if self.result.reply.calls else "stop"

    def _match(self, text: str) -> str:
        self._decoded += len(text)
        return self._stops.push(text)[0]

    def _emit(self, text: str, *, last: bool = False, ended: bool = False) -> Delta:
        self._emitted += len(text)
        scores: list[ScoredToken] = []
        while self._scores and (last or self._scores[0].offset < self._emitted):
            scores.append(self._scores.popleft())
        parts = (*self._reader.push(text), *(self._reader.flush() if ended else ()))
        self.result.text += text
        self.result.reply.add(parts)
        self.result.scores += scores
        return Delta(text, tuple(scores), parts)

"""An engine on the default model, asked like the HTTP side asks it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pinfill_service.engine.events import Event, Failed, Finished, Progress, Started, Token, TokenLogprob
from pinfill_service.engine.interface import GenerationRequest, Sampling
from pinfill_service.engine.loading import load_engine
from pinfill_service.engine.scheduler import OnnxEngine
from pinfill_service.settings import Settings
from tests.support.default_model import default_model

LIMIT_SECONDS = 300
# Log probabilities come straight from the logits in float64: equal ones mean equal logits, to the bit.
GREEDY = Sampling(temperature=0, logprobs=5)


@dataclass
class Reply:
    """What came back: tokens with their log probabilities, and what was reused."""

    started: Started | None = None
    scores: list[TokenLogprob] = field(default_factory=list)
    finished: Finished | None = None
    progressed: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case Started():
                self.started = event
            case Progress():
                self.progressed.set()
            case Token(_, logprob):
                assert logprob is not None
                self.scores.append(logprob)
            case Finished():
                self.finished = event
                self.done.set()
            case Failed(error):
                self.error = error
                self.done.set()

    def wait(self) -> Reply:
        assert self.done.wait(LIMIT_SECONDS), "no answer"
        if self.error is not None:
            raise self.error
        return self

    @property
    def cached(self) -> int:
        assert self.started is not None
        return self.started.cached_tokens

    @property
    def tokens(self) -> list[int]:
        return [score.token_id for score in self.scores]


class Client:
    """Submits prompts to an engine."""

    def __init__(self, engine: OnnxEngine) -> None:
        self.engine = engine

    def send(self, prompt: Sequence[int], max_tokens: int, *, cached: bool = True) -> tuple[int, Reply]:
        reply = Reply()
        return self.engine.submit(GenerationRequest(prompt, max_tokens, GREEDY, use_cache=cached), reply), reply

    def ask(self, prompt: Sequence[int], max_tokens: int, *, cached: bool = True) -> Reply:
        return self.send(prompt, max_tokens, cached=cached)[1].wait()


@contextmanager
def engine(folder: Path | None = None, **flags: int) -> Iterator[Client]:
    """An engine with the given settings, closed at the end. It keeps nothing on disk."""
    settings = Settings.from_flags(disk_budget_mib=0, **flags)
    running = load_engine(folder or default_model(), "tested", settings)
    try:
        yield Client(running)
    finally:
        running.close()

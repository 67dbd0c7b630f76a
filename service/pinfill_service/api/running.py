"""An answer under way: several choices fed from one generation, streamed or collected."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pinfill_service.api.choice import Choice, ChoiceResult, Delta
from pinfill_service.api.context import Service
from pinfill_service.api.errors import ApiError
from pinfill_service.api.generation import Generation
from pinfill_service.api.json_text import dump_bytes
from pinfill_service.api.recording import NO_ORIGIN, Origin, Run, Watch
from pinfill_service.api.sse import CLIENT_CLOSED_REQUEST, ClientGoneError, GenerationStream, until_disconnect
from pinfill_service.engine.errors import ContextLengthError, EngineError
from pinfill_service.engine.events import Event, Failed, Finished, Progress, PromptScored, Started, Token
from pinfill_service.engine.interface import GenerationRequest, Grammar, Sampling
from pinfill_service.prompt.chat import GenerationOptions
from pinfill_service.prompt.reply import PlainReader, ReplyReader

_log = logging.getLogger(__name__)

KEEPALIVE_SECONDS = 2.0
OPENING_SECONDS = 0.5  # how long an opening waits for the counts it may tell: clients give up on silence, not on this
_SEED_MASK = (1 << 63) - 1


class Dialect(Protocol):
    """How an answer is written in one API. Parts of a stream are complete events (or lines) of its `media_type`."""

    media_type: str

    def opening(self, results: Sequence[ChoiceResult]) -> bytes:
        """The beginning of a stream. Choices that still wait in the queue have not `started`."""
        ...

    def waiting(self, words: str) -> bytes:
        """A sign of life while there is nothing to tell; `words` say what is going on."""
        ...

    def failed(self, error: Exception) -> bytes:
        """The end of a stream that cannot be completed."""
        ...

    def prompt_scored(self, index: int, result: ChoiceResult) -> bytes:
        """The prompt's log probabilities are known."""
        ...

    def delta(self, index: int, delta: Delta) -> bytes: ...

    def finished(self, index: int, results: Sequence[ChoiceResult], *, last: bool) -> bytes:
        """A choice is complete; `last`: all are."""
        ...

    def closing(self, results: Sequence[ChoiceResult]) -> bytes: ...

    def whole(self, results: Sequence[ChoiceResult]) -> dict[str, object]:
        """The answer that is not streamed."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """Prompts (token ids), each to be continued `options.n` times. `origin` is that of the first one.

    `remember` is told the tokens of every reply, before the client sees its end. `session` names the conversation that
    others go on from.
    """

    prompts: Sequence[Sequence[int]]
    options: GenerationOptions
    prompt_logprobs: int | None = None
    origin: Origin = NO_ORIGIN
    reader: Callable[[], ReplyReader] = PlainReader
    remember: Callable[[Sequence[int]], None] | None = None
    session: str = ""
    grammar: Grammar | None = None

    @property
    def boundaries(self) -> Sequence[int]:
        """Ends of the segments of a single prompt."""
        return [segment.end_token for segment in self.origin.segments] if len(self.prompts) == 1 else ()


async def respond(service: Service, request: Request, plan: Plan, dialect: Dialect, *, stream: bool) -> Response:
    """Submits the plan and answers. What the engine refuses at once is raised before any header is sent."""
    run = Run(service.engine, plan.prompts, plan.options.n, plan.options.salt, plan.origin, plan.remember)
    requests = engine_requests(service, plan)
    watch = service.app.recorder.watch(request, run)
    try:
        generation = Generation.start(service.engine, requests)
    except EngineError as error:
        watch.failed(error)
        watch.end(())
        raise
    tokenizer, stop = service.text.tokenizer, plan.options.stop
    choices = [Choice(tokenizer, stop, plan.reader()) for _ in requests]
    running = Running(generation, choices, watch)
    if stream:
        return WatchedStream(generation, running, dialect)
    with generation:
        try:
            results = await until_disconnect(request.receive, running.collect())
        except ClientGoneError:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        finally:
            watch.end(running.results)
    return Response(dump_bytes(dialect.whole(results)), media_type="application/json")


def engine_requests(service: Service, plan: Plan) -> list[GenerationRequest]:
    """One engine request for each choice. `max_tokens` is clamped to what the context leaves; prompts are never cut.

    Raises ContextLengthError for a prompt that leaves no room and ApiError for an empty one.
    """
    options = plan.options
    stop_ids = frozenset() if options.ignore_eos else service.text.stop_ids
    requests = []
    for prompt in plan.prompts:
        room = service.engine.model.context_length - len(prompt)
        if not prompt:
            raise ApiError(400, "The prompt is empty.", code="invalid_value", param="prompt")
        if room <= 0:
            raise ContextLengthError(len(prompt), service.engine.model.context_length)
        for number in range(options.n):
            requests.append(
                GenerationRequest(
                    prompt=prompt,
                    max_tokens=room if options.max_tokens is None else min(options.max_tokens, room),
                    sampling=_seeded(options.sampling, number),
                    stop_ids=stop_ids,
                    salt=options.salt,
                    use_cache=options.use_cache,
                    prompt_logprobs=plan.prompt_logprobs,
                    boundaries=plan.boundaries,
                    session=plan.session,
                    grammar=plan.grammar,
                )
            )
    return requests


class Running:
    """Feeds engine events to the choices. After a stop string the engine is told to stop, and its counts awaited."""

    def __init__(self, generation: Generation, choices: Sequence[Choice], watch: Watch) -> None:
        self._generation = generation
        self._choices = choices
        self.watch = watch
        self._prefill: Progress | None = None

    @property
    def results(self) -> list[ChoiceResult]:
        return [choice.result for choice in self._choices]

    async def collect(self) -> list[ChoiceResult]:
        """All choices, complete. Raises the EngineError of the first that fails."""
        while self._generation.running:
            for index, event in await self._generation.next():
                self._take(index, event)
        return self.results

    async def stream(self, dialect: Dialect) -> AsyncGenerator[bytes, None]:
        """The answer as it comes: an opening at once, or a little later with what is cached; a sign of life after
        KEEPALIVE_SECONDS without another part; at the end the closing, or an error when the engine failed.
        """
        loop = asyncio.get_running_loop()
        batch = await self._generation.next(OPENING_SECONDS)
        for index, event in batch:
            if isinstance(event, Started):
                self._choices[index].result.started = event
        yield dialect.opening(self.results)
        due = loop.time() + KEEPALIVE_SECONDS
        while batch or self._generation.running:
            part, failure = self._write_all(batch, dialect)
            if failure is not None:
                self.watch.failed(failure)
                self.watch.end(self.results)  # before the client can ask for it
                yield part + dialect.failed(failure)
                return
            if not part and loop.time() >= due:
                part = dialect.waiting(self._waiting_for())
            if part:
                yield part
                due = loop.time() + KEEPALIVE_SECONDS
            running = self._generation.running
            batch = await self._generation.next(max(due - loop.time(), 0.0)) if running else []
        yield dialect.closing(self.results)

    def _take(self, index: int, event: Event) -> Delta:
        choice = self._choices[index]
        match event:
            case Token():
                self.watch.token(index, event.token_id)
                delta = choice.push(event)
                if choice.stopped:
                    self._generation.stop(index)
                self._prefill = None
                return delta
            case Finished():
                self.watch.finished(index)
                delta = choice.finish(event)
                if all(result.finish_reason is not None for result in self.results):
                    self.watch.end(self.results)  # before the client can ask for it
                return delta
            case Failed():
                self.watch.failed(event.error)
                raise event.error
            case PromptScored():
                choice.result.prompt_scores = event.logprobs
            case Started():
                self.watch.started(index, event)
                choice.result.started = event
                self._prefill = Progress(event.cached_tokens, event.prompt_tokens)
            case Progress():
                self.watch.progress(index, event)
                self._prefill = event
        return Delta()

    def _write_all(self, batch: Sequence[tuple[int, Event]], dialect: Dialect) -> tuple[bytes, Exception | None]:
        """What the events write, up to a failure if there is one among them."""
        written = bytearray()
        try:
            for index, event in batch:
                written += self._write(index, event, dialect)
        except Exception as error:  # headers are out: whatever it was must be told in the stream
            if not isinstance(error, EngineError):
                _log.exception("an answer failed while it was streamed")
            return bytes(written), error
        return bytes(written), None

    def _write(self, index: int, event: Event, dialect: Dialect) -> bytes:
        delta = self._take(index, event)
        part = dialect.delta(index, delta) if delta else b""
        if isinstance(event, PromptScored):
            part += dialect.prompt_scored(index, self._choices[index].result)
        if isinstance(event, Finished):
            last = all(result.finish_reason is not None for result in self.results)
            part += dialect.finished(index, self.results, last=last)
        return part

    def _waiting_for(self) -> str:
        return "waiting" if self._prefill is None else f"prefilling {self._prefill.done}/{self._prefill.total}"


class WatchedStream(GenerationStream):
    """A streamed answer, recorded when it has ended, however that came about."""

    def __init__(self, generation: Generation, running: Running, dialect: Dialect) -> None:
        super().__init__(generation, running.stream(dialect), dialect.media_type)
        self._running = running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._running.watch.end(self._running.results)


def _seeded(sampling: Sampling, number: int) -> Sampling:
    """The sampling of choice `number`: choices of one seeded request differ, and always in the same way."""
    if sampling.seed is None or number == 0:
        return sampling
    return replace(sampling, seed=(sampling.seed + number) & _SEED_MASK)

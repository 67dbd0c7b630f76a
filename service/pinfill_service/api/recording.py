"""What becomes of every request: events while it runs, and a record of it afterwards."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Protocol

from starlette.requests import Request

from pinfill_service.api.choice import ChoiceResult
from pinfill_service.api.errors import REQUEST_ID
from pinfill_service.api.remembered import RecentRequests, Remembered
from pinfill_service.api.schemas.manage import (
    EntryEvictedEvent,
    Finding,
    RequestFinishedEvent,
    RequestProgressEvent,
    RequestStartedEvent,
    RequestSummary,
)
from pinfill_service.cache.doctor import Eviction, PromptRecord, diagnose
from pinfill_service.engine.errors import EngineClosedError, EngineError
from pinfill_service.engine.events import Progress, Started
from pinfill_service.engine.interface import Engine
from pinfill_service.engine.interface import Eviction as EngineEviction
from pinfill_service.pins.content import PinnedPrefix
from pinfill_service.pins.shelf import Publish
from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.segments import Segment
from pinfill_service.prompt.tokenizer import Piece

log = logging.getLogger(__name__)

_MAX_CLIENT = 80  # characters of a User-Agent
SETTLING_SECONDS = 2.0  # a record waits for the engine, which may be in a long step, or stuck
_MAX_EVICTIONS, _MAX_EVICTED_TOKENS = 100, 500_000


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a prompt's tokens come from. All of it may be missing."""

    text: str | None = None
    segments: tuple[Segment, ...] = ()
    pieces: tuple[Piece, ...] = ()
    chat: ChatRequest | None = None


NO_ORIGIN = Origin()


@dataclass(frozen=True, slots=True)
class Run:
    """What a request runs on and with. `remember` is told the tokens of its replies."""

    engine: Engine
    prompts: Sequence[Sequence[int]]
    choices: int  # of each prompt
    salt: str
    origin: Origin
    remember: Callable[[Sequence[int]], None] | None = None


class Keeping(Protocol):
    """What is kept of requests for good. Called on one thread."""

    def pin_of(self, prompt: Sequence[int]) -> str | None:
        """The name of the pin that a prompt, a list, begins with."""
        ...

    def pinned(self) -> list[PinnedPrefix]:
        """What requests go on from as if it had been asked before."""
        ...

    def record(self, request: RequestSummary, prompt: PromptRecord) -> None:
        """Writes a request down, or says once that it cannot. Never raises."""
        ...


@dataclass(slots=True)
class _Counts:
    prompt: int = 0
    cached: int = 0
    saved: float = 0.0
    miss_reason: str | None = None


class Recorder:
    """Makes a watch for each request, and its record once it has ended. What takes time happens on one thread."""

    def __init__(self, publish: Publish, keeping: Keeping | None) -> None:
        self._publish, self._keeping = publish, keeping
        self.recent = RecentRequests()
        self._evictions: deque[Eviction] = deque(maxlen=_MAX_EVICTIONS)
        self._worker = ThreadPoolExecutor(1, "records")
        self._latest: Future[None] | None = None

    def watch(self, request: Request, run: Run) -> Watch:
        return Watch(self, self._publish, request, run)

    def evicted(self, engine: Engine) -> None:
        """Somebody asked for it, and was told."""
        self._worker.submit(self._take_evictions, engine)

    def submit(self, watch: Watch, results: Sequence[ChoiceResult]) -> None:
        try:
            self._latest = self._worker.submit(self._record, watch, results)
        except RuntimeError:  # closed: the answer ended after the service did
            log.debug("the request %s ended too late to be recorded", watch.id)

    async def settled(self) -> None:
        """Returns when all requests are recorded whose answers are out, or after SETTLING_SECONDS.

        Whoever has an answer finds its request in what is looked up behind this.
        """
        latest = self._latest
        if latest is not None and not latest.done():
            await asyncio.wait([asyncio.wrap_future(latest)], timeout=SETTLING_SECONDS)

    def close(self) -> None:
        """Returns when everything is recorded."""
        self._worker.shutdown(wait=True)

    # -- on the thread -------------------------------------------------------------------------------------------

    def _record(self, watch: Watch, results: Sequence[ChoiceResult]) -> None:
        try:
            self._look_for_evictions(watch.run.engine)
            prompt = self._prompt(watch, results)
            pin = self._keeping.pin_of(prompt.token_ids) if self._keeping is not None else None
            summary = watch.summary(results, pin, self._finding(watch, prompt))
            self.recent.add(Remembered(summary, prompt, watch.run.origin.chat))
            if self._keeping is not None:
                self._keeping.record(summary, prompt)  # first: who is told looks at once
            self._publish("request.finished", RequestFinishedEvent(**summary.model_dump()))
        except Exception:  # the answer is out: a record that fails concerns nobody else
            log.exception("the request %s could not be recorded", watch.id)

    def _prompt(self, watch: Watch, results: Sequence[ChoiceResult]) -> PromptRecord:
        run, model = watch.run, watch.run.engine.model
        return PromptRecord(
            token_ids=self.recent.compact(run.prompts[0]),
            id=watch.id,
            at=watch.at,
            model=model.name,
            namespace=_namespace(run.engine, run.salt),
            salt=run.salt,
            segments=run.origin.segments,
            text=run.origin.text,
            pieces=run.origin.pieces,
            reply_ids=self.recent.compact(watch.replies[0]),
            reply_text=results[0].text if results else None,
        )

    def _finding(self, watch: Watch, prompt: PromptRecord) -> Finding | None:
        first, evicted = watch.counts.get(0), list(self._evictions)
        if first is None or first.miss_reason is None:
            return None
        pinned = self._keeping.pinned() if self._keeping is not None else []
        model, namespace = watch.run.engine.model, _namespace(watch.run.engine, "")
        pins = [
            PromptRecord(
                prefix.token_ids,
                model=model.name,
                namespace=namespace,
                text=prefix.text,
            )
            for prefix in pinned
        ]
        earlier = [*self.recent.prompts, *pins]
        found = diagnose(prompt, first.cached, earlier, evicted=evicted, reason=first.miss_reason)
        return Finding(**asdict(found))

    def _look_for_evictions(self, engine: Engine) -> None:
        found = self._take_evictions(engine)
        if found:
            only = found[0].id if len(found) == 1 else None
            self._publish("entry.evicted", EntryEvictedEvent(id=only, entries=len(found)))

    def _take_evictions(self, engine: Engine) -> list[EngineEviction]:
        """What was evicted since the last look, remembered from now on."""
        try:
            found = engine.prefixes.take_evictions().result()
        except EngineClosedError:  # another model has taken over
            return []
        now = time.time()
        for each in found:
            ids = self.recent.compact(each.token_ids)
            self._evictions.append(Eviction(now - each.seconds_ago, _namespace(engine, each.salt), ids))
        while sum(len(each.token_ids or ()) for each in self._evictions) > _MAX_EVICTED_TOKENS:
            self._evictions.popleft()
        return found


class Watch:
    """One request under way. Belongs to the event loop until `end`."""

    def __init__(self, recorder: Recorder, publish: Publish, request: Request, run: Run) -> None:
        self._recorder, self._publish = recorder, publish
        self.run = run
        self.id = str(request.scope[REQUEST_ID])
        self.at = time.time()
        self.route = request.url.path
        self.client = client_name(request.headers.get("user-agent", ""))
        self.counts: dict[int, _Counts] = {}  # by the index of the choice
        self.replies: defaultdict[int, list[int]] = defaultdict(list)  # token ids by the index of the choice
        self._error: str | None = None
        self._ended = False

    def started(self, index: int, event: Started) -> None:
        self.counts[index] = _Counts(event.prompt_tokens, event.cached_tokens, event.saved_seconds, event.miss_reason)
        if index == 0:
            self._publish(
                "request.started",
                RequestStartedEvent(
                    id=self.id,
                    route=self.route,
                    client=self.client,
                    model=self.run.engine.model.name,
                    prompt_tokens=event.prompt_tokens,
                    cached_tokens=event.cached_tokens,
                    miss_reason=event.miss_reason,
                ),
            )

    def progress(self, index: int, event: Progress) -> None:
        if index == 0:
            self._publish("request.progress", RequestProgressEvent(id=self.id, done=event.done, total=event.total))

    def token(self, index: int, token_id: int) -> None:
        self.replies[index].append(token_id)

    def finished(self, index: int) -> None:
        """A reply is complete."""
        if self.run.remember is not None:
            self.run.remember(self.replies[index])

    def failed(self, error: Exception) -> None:
        self._error = error.code if isinstance(error, EngineError) else "internal_error"

    def end(self, results: Sequence[ChoiceResult]) -> None:
        """The answer is complete, has failed, or nobody waits for it any more. Once."""
        if not self._ended:
            self._ended = True
            self._recorder.submit(self, results)

    def summary(self, results: Sequence[ChoiceResult], pin: str | None, finding: Finding | None) -> RequestSummary:
        """A prompt counts once however many choices continue it, as in `usage`."""
        firsts = range(0, len(self.run.prompts) * self.run.choices, self.run.choices)
        counts = [self.counts.get(index, _Counts()) for index in firsts]
        timings = [results[index].timings for index in firsts if index < len(results)]
        prompt = sum(map(len, self.run.prompts))
        cached = sum(count.cached for count in counts)
        first = timings[0] if timings else None
        done = bool(results) and all(result.finish_reason is not None for result in results)
        return RequestSummary(
            id=self.id,
            at=self.at,
            route=self.route,
            client=self.client,
            model=self.run.engine.model.name,
            pin=pin,
            prompt_tokens=prompt,
            cached_tokens=cached,
            processed_tokens=prompt - cached,
            generated_tokens=sum(result.generated for result in results),
            queue_seconds=first.queue_seconds if first else 0.0,
            prefill_seconds=sum(each.prefill_seconds for each in timings),
            decode_seconds=max((result.timings.decode_seconds for result in results), default=0.0),
            ttft_seconds=first.queue_seconds + first.prefill_seconds if first else 0.0,
            saved_seconds=sum(count.saved for count in counts),
            finish_reason=results[0].finish_reason if done else None if self._error else "cancelled",
            error=self._error,
            miss_reason=counts[0].miss_reason if counts else None,
            finding=finding,
        )


def client_name(user_agent: str) -> str:
    """Who sent a request, as people know it: the first product of a User-Agent, without its version."""
    return user_agent.strip().split(" ")[0].split("/")[0][:_MAX_CLIENT] or "unknown"


def _namespace(engine: Engine, salt: str) -> str:
    return f"{engine.model.fingerprint}\0{salt}"

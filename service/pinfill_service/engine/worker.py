"""What the engine thread does in one turn: a chunk of one prompt, then a token of every running sequence."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.cache.prefix_cache import MIN_EVALUATED, PrefixCache
from pinfill_service.cache.prefix_tree import Tokens
from pinfill_service.cache.system_memory import plenty
from pinfill_service.engine.chunks import checkpoints, chunk_length
from pinfill_service.engine.interface import (
    EngineError,
    EngineStats,
    Event,
    Failed,
    Finished,
    FinishReason,
    Progress,
    PromptScored,
    Started,
)
from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.prompt_queue import PromptQueue
from pinfill_service.engine.sampler import Logits, token_logprob
from pinfill_service.engine.sequence import Sequence, namespace

log = logging.getLogger(__name__)

# While others decode, chunks are shorter so that their tokens keep coming.
_SHARED_CHUNK_TOKENS = 128
# Logits of every position are kept for a chunk when a prompt is scored: 128 x 150k x 4 bytes is 77 MB.
_SCORED_CHUNK_TOKENS = 128


class Session(Protocol):
    """What the worker needs of a model in memory; `session.DecoderSession` is the real one."""

    rope_switch: int | None
    final_from: int  # results of a chunk that ends before this many tokens depend on where it ends

    def groups(self, running: list[int]) -> list[tuple[int, int]]: ...
    def use_long_rope(self, slot: int, long: bool) -> None: ...
    def prefill(self, slot: int, ids: NDArray[np.int64], logits: int) -> NDArray[np.float32]: ...
    def decode(self, first: int, last: int, ids: list[int | None]) -> NDArray[np.float32]: ...


@dataclass(slots=True)
class _Totals:
    cached: int = 0
    processed: int = 0
    generated: int = 0
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    saved_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Reply:
    """Decoded tokens that stand behind the first `start` tokens of an idle slot."""

    slot: int
    start: int
    tokens: tuple[int, ...]


class Worker:
    """All sequences of an engine and the model they run on. Owned by one thread; knows nothing of threads.

    Invariant after every turn: for each sequence, KV length == tokens recorded == evaluated prompt + decoded tokens.
    """

    def __init__(
        self,
        session: Session,
        kv: KvSlots,
        *,
        context_length: int,
        budget_bytes: int,
        chunk_tokens: int,
        clock: Callable[[], float],
        no_reuse: str | None = None,
        spare_bytes: Callable[[], int] = plenty,
    ) -> None:
        """`no_reuse`: why this model's KV must never be reused; None when it may."""
        self._session, self._kv, self._clock, self._no_reuse = session, kv, clock, no_reuse
        self._context_length, self._chunk_tokens = context_length, chunk_tokens
        self._cost = PrefillCost()
        self.cache = PrefixCache(kv, budget_bytes, self._cost, clock, spare_bytes)
        self._prompts = PromptQueue(self._reusable)
        self._decoding: list[Sequence] = []
        self._replies: deque[_Reply] = deque()
        self._totals = _Totals()

    # -- asked by the engine -------------------------------------------------------------------------------------

    @property
    def sequences(self) -> list[Sequence]:
        return [*self._prompts.waiting, *self._prompts.prefilling, *self._decoding]

    @property
    def kv(self) -> KvSlots:
        return self._kv

    def namespace_for(self, tokens: int) -> str:
        """The namespace of unsalted prompts of this length."""
        switch = self._session.rope_switch
        return namespace("", long_rope=switch is not None and tokens > switch)

    def prefill_seconds(self, tokens: int) -> float:
        """What evaluating a prompt of this length costs here, as far as has been measured."""
        return self._cost.seconds(0, tokens)

    @property
    def has_work(self) -> bool:
        return bool(self._prompts or self._decoding)

    @property
    def has_replies(self) -> bool:
        """Whether `settle` has something to do."""
        return bool(self._replies)

    def add(self, sequence: Sequence) -> None:
        sequence.long_rope = self._needs_long_rope(sequence)
        self._prompts.waiting.append(sequence)

    def cancel(self, sequence: Sequence, *, keep_reply: bool) -> None:
        if sequence in self.sequences:
            self._finish(sequence, "cancelled", keep_reply=keep_reply)

    def turn(self) -> None:
        """One chunk and one token for everybody."""
        sequence = self._next_prompt()
        if sequence is not None:
            self._evaluate_chunk(sequence)
        if self._decoding:
            self._decode_step()

    def fail(self, sequences: list[Sequence], error: EngineError) -> None:
        """Gives sequences up; nothing that only their slots hold is reused."""
        for sequence in sequences:
            self._leave(sequence)
            if sequence.slot is not None:
                self.cache.abandon(sequence.slot)
            self._emit(sequence, Failed(error))

    def settle(self) -> None:
        """Evaluates a chunk of a finished reply again, as a prompt: from then on a next turn may reuse it.

        Decoding adds in another order than prefill, and int8 activations turn the last bit into a visible difference
        (measured on AVX2: up to 1.0 in a logit). Evaluated again, the reply is bit for bit what a cold run would hold.
        """
        reply = self._replies.popleft()
        if self.cache.shared_length(reply.slot) != reply.start:
            return  # what it stood behind was evicted meanwhile
        count = chunk_length(reply.start, len(reply.tokens), self._chunk_tokens, self._session.final_from)
        tokens = np.array(reply.tokens[:count], np.int32)
        if reply.start + count < self._session.final_from or not self.cache.drop_tail(reply.slot):
            return
        try:
            self._session.prefill(reply.slot, tokens.astype(np.int64), 1)
        except Exception:
            log.exception("a reply could not be evaluated again; its slot is given up")
            self.cache.abandon(reply.slot)
            return
        self.cache.extend(reply.slot, tokens)
        self.cache.mark(reply.slot)
        self.cache.enforce_budget()
        if len(reply.tokens) > count:
            self._replies.appendleft(_Reply(reply.slot, reply.start + count, reply.tokens[count:]))

    # -- prompts -------------------------------------------------------------------------------------------------

    def _next_prompt(self) -> Sequence | None:
        if not self.cache.has_free_slot and (background := self._prompts.to_preempt()) is not None:
            self._preempt(background)
        sequence = self._prompts.next(slot_free=self.cache.has_free_slot)
        if sequence is not None and sequence.request.background and self._decoding:
            return None
        if sequence is not None and sequence.slot is None:
            self._start(sequence)
        return sequence

    def _preempt(self, sequence: Sequence) -> None:
        """Takes a background prompt's slot. What it has evaluated stays cached; later it goes on from there."""
        assert sequence.slot is not None
        self.cache.release(sequence.slot)
        sequence.slot = None
        self._prompts.preempted(sequence)

    def _reusable(self, sequence: Sequence) -> int:
        return self.cache.reusable(sequence.namespace, sequence.prompt) if self._reads_cache(sequence) else 0

    def _reads_cache(self, sequence: Sequence) -> bool:
        return sequence.reads_cache and self._no_reuse is None and len(sequence.prompt) >= self._session.final_from

    def _start(self, sequence: Sequence) -> None:
        began, first_time = self._clock(), not sequence.started
        sequence.started = sequence.started or began
        request = sequence.request
        claim = self.cache.claim(
            sequence.namespace,
            sequence.prompt,
            reuse=self._reads_cache(sequence),
            keep=request.use_cache,
            session=request.session,
        )
        sequence.slot = claim.slot
        self._session.use_long_rope(claim.slot, sequence.long_rope)
        if self._kv.has_state and request.use_cache:
            wanted = (*request.boundaries, claim.known)
            sequence.checkpoints = checkpoints(len(sequence.prompt), claim.cached, wanted, self._session.final_from)
        self._replies = deque(reply for reply in self._replies if reply.slot != claim.slot)
        sequence.evaluated = claim.cached
        restore_seconds = self._clock() - began
        self._prompts.started(sequence)
        if not first_time:  # it was preempted, or goes on with the other RoPE table: its listener knows
            return
        sequence.cached = claim.cached
        self._totals.cached += claim.cached
        saved = max(0.0, self._cost.seconds(0, claim.cached) - restore_seconds)
        self._totals.saved_seconds += saved
        reason = claim.reason
        if not request.use_cache:
            reason = "the request turned the cache off"
        elif self._no_reuse is not None:
            reason = self._no_reuse
        elif len(sequence.prompt) < self._session.final_from:
            reason = f"prompts of fewer than {self._session.final_from} tokens cannot be reused exactly with this model"
        elif not sequence.reads_cache:
            reason = "scoring a prompt needs the logits of all its tokens"
        self._emit(sequence, Started(claim.cached, len(sequence.prompt), reason, saved))

    def _chunk_size(self, sequence: Sequence) -> int:
        size = self._chunk_tokens
        to_checkpoint = next((c - sequence.evaluated for c in sequence.checkpoints if c > sequence.evaluated + 1), size)
        if to_checkpoint <= size + 1:  # not one token short of it: a single token is no chunk
            size = to_checkpoint
        if self._decoding:
            size = min(size, _SHARED_CHUNK_TOKENS)
        if sequence.request.prompt_logprobs is not None:
            size = min(size, _SCORED_CHUNK_TOKENS)
        return chunk_length(sequence.evaluated, sequence.remaining, size, self._session.final_from)

    def _evaluate_chunk(self, sequence: Sequence) -> None:
        assert sequence.slot is not None
        count, position = self._chunk_size(sequence), sequence.evaluated
        tokens = sequence.prompt[position : position + count]
        scored = None if sequence.reply else sequence.request.prompt_logprobs
        began = self._clock()
        try:
            logits = self._session.prefill(sequence.slot, tokens.astype(np.int64), 1 if scored is None else count)
        except Exception as error:
            log.exception("a chunk of %d tokens could not be evaluated", count)
            self.fail([sequence], EngineError(f"The model could not be run: {error}"))
            return
        seconds = self._clock() - began
        self._cost.measured(position, count, seconds)
        self._totals.prefill_seconds += seconds
        self._totals.processed += count
        sequence.evaluated += count
        self._record(sequence, sequence.slot, tokens)
        if scored is not None:
            targets = sequence.prompt[position + 1 : position + count + 1]
            rows = zip(logits, targets, strict=False)
            sequence.prompt_logprobs += [token_logprob(row, int(target), scored) for row, target in rows]
        if not sequence.reply:
            self._emit(sequence, Progress(sequence.evaluated, len(sequence.prompt)))
        if not sequence.remaining:
            self._prompt_done(sequence, logits[-1])

    def _record(self, sequence: Sequence, slot: int, tokens: Tokens) -> None:
        if len(tokens) > 1 and sequence.evaluated >= self._session.final_from:
            self.cache.extend(slot, tokens)
            if sequence.evaluated in sequence.checkpoints:
                self.cache.mark(slot)
            return
        for token in tokens:  # of such a chunk no other prompt may reuse anything, as of decoded tokens
            self.cache.append_decoded(slot, int(token))

    def _prompt_done(self, sequence: Sequence, logits: Logits) -> None:
        self._prompts.remove(sequence)
        self._decoding.append(sequence)
        if sequence.request.prompt_logprobs is not None and not sequence.reply:
            self._emit(sequence, PromptScored(tuple(sequence.prompt_logprobs)))
        if sequence.request.pin:
            self.cache.pin(sequence.namespace, sequence.prompt)
        sequence.first_token = sequence.first_token or self._clock()
        if sequence.request.max_tokens <= 0:
            self._finish(sequence, "length", keep_reply=True)
        else:
            self._choose(sequence, logits)

    # -- replies -------------------------------------------------------------------------------------------------

    def _choose(self, sequence: Sequence, logits: Logits) -> None:
        """Samples the next token, reports it, and ends the sequence where it ends."""
        request = sequence.request
        try:
            token = sequence.choose(logits)
        except Exception as error:
            log.exception("no token could be chosen for request %d", sequence.id)
            told = error if isinstance(error, EngineError) else EngineError(f"No next token could be chosen: {error}")
            self.fail([sequence], told)
            return
        if token.token_id in request.stop_ids:
            self._finish(sequence, "stop", keep_reply=True)
            return
        sequence.reply.append(token.token_id)
        self._totals.generated += 1
        sequence.next_token = token.token_id
        self._emit(sequence, token)
        if sequence.complete:
            self._finish(sequence, "stop", keep_reply=True)
        elif sequence.length >= self._context_length or sequence.generated >= request.max_tokens:
            self._finish(sequence, "length", keep_reply=True)

    def _needs_long_rope(self, sequence: Sequence) -> bool:
        switch = self._session.rope_switch
        return switch is not None and sequence.length > switch

    def _switch_rope(self, sequence: Sequence) -> None:
        """The reply outgrew the length that short factors are for: all of it is evaluated again with the long ones."""
        assert sequence.slot is not None
        self._leave(sequence)
        self.cache.drop_tail(sequence.slot)
        self.cache.release(sequence.slot)
        sequence.slot, sequence.evaluated, sequence.long_rope = None, 0, True
        sequence.prompt = np.array([*sequence.request.prompt, *sequence.reply], np.int32)
        self._prompts.waiting.append(sequence)

    def _decode_step(self) -> None:
        for outgrown in [s for s in self._decoding if not s.long_rope and self._needs_long_rope(s)]:
            self._switch_rope(outgrown)
        by_slot = {sequence.slot: sequence for sequence in self._decoding if sequence.slot is not None}
        began = self._clock()
        for first, last in self._session.groups(sorted(by_slot)):
            rows = [by_slot.get(slot) for slot in range(first, last)]
            tokens: list[int | None] = [None if row is None else row.next_token for row in rows]
            running = [row for row in rows if row is not None]
            try:
                logits = self._session.decode(first, last, tokens)
            except Exception as error:
                log.exception("a decoding step over slots %d to %d failed", first, last - 1)
                self.fail(running, EngineError(f"The model could not be run: {error}"))
                continue
            for row, sequence in enumerate(rows):
                if sequence is not None and sequence.slot is not None:
                    self.cache.append_decoded(sequence.slot, sequence.next_token)
                    self._choose(sequence, logits[row])
        self._totals.decode_seconds += self._clock() - began

    # -- ends ----------------------------------------------------------------------------------------------------

    def _finish(self, sequence: Sequence, reason: FinishReason, *, keep_reply: bool) -> None:
        self._leave(sequence)
        if sequence.slot is not None:
            if not keep_reply:
                self.cache.drop_tail(sequence.slot)
            self.cache.release(sequence.slot)
            reply = tuple(self.cache.unsettled(sequence.slot))
            if len(reply) >= MIN_EVALUATED:
                self._replies.append(_Reply(sequence.slot, self.cache.shared_length(sequence.slot), reply))
        self._emit(sequence, Finished(reason, sequence.timings(self._clock())))

    def _leave(self, sequence: Sequence) -> None:
        self._prompts.remove(sequence)
        if sequence in self._decoding:
            self._decoding.remove(sequence)

    def _emit(self, sequence: Sequence, event: Event) -> None:
        try:
            sequence.on_event(event)
        except Exception:  # a listener that is gone must not stop the others
            log.exception("the listener of request %d failed", sequence.id)

    def stats(self) -> EngineStats:
        cache, totals = self.cache.stats(), self._totals
        return EngineStats(
            running=len(self._prompts.prefilling) + len(self._decoding),
            waiting=len(self._prompts.waiting),
            slots=self._kv.count,
            entries=cache.entries,
            cached_tokens=cache.tokens,
            total_bytes=cache.total_bytes,
            protected_bytes=cache.protected_bytes,
            evictable_bytes=cache.evictable_bytes,
            budget_bytes=self.cache.budget_bytes,
            prompt_tokens_cached_total=totals.cached,
            prompt_tokens_processed_total=totals.processed,
            generated_tokens_total=totals.generated,
            prefill_seconds_total=totals.prefill_seconds,
            decode_seconds_total=totals.decode_seconds,
            saved_seconds_total=totals.saved_seconds,
            evictions_total=cache.evictions,
            mismatches_total=cache.mismatches,
            short_of_memory=self.cache.system.is_short,
        )

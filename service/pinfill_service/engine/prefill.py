"""Prompts: what of them is cached, and the rest, one chunk of one prompt in a turn."""

from __future__ import annotations

import logging

import numpy as np

from pinfill_service.cache.contract import Claim
from pinfill_service.cache.prefix_tree import Tokens
from pinfill_service.engine.chunks import checkpoints, chunk_length
from pinfill_service.engine.decode import Decode
from pinfill_service.engine.endings import Endings
from pinfill_service.engine.errors import EngineError
from pinfill_service.engine.events import Progress, PromptScored, Started
from pinfill_service.engine.machine import Machine
from pinfill_service.engine.prompt_queue import PromptQueue
from pinfill_service.engine.sampler import Logits, token_logprob
from pinfill_service.engine.sequence import Sequence
from pinfill_service.engine.settling import Settling

log = logging.getLogger(__name__)

# While others decode, chunks are shorter so that their tokens keep coming.
_SHARED_CHUNK_TOKENS = 128
# Logits of every position are kept for a chunk when a prompt is scored: 128 x 150k x 4 bytes is 77 MB.
_SCORED_CHUNK_TOKENS = 128


def reads_cache(machine: Machine, sequence: Sequence) -> bool:
    """Whether the sequence may reuse what is cached of this model."""
    return sequence.reads_cache and machine.no_reuse is None and len(sequence.prompt) >= machine.session.final_from


class Prefill:
    """Gives waiting prompts slots, evaluates them, and hands them to `decode` when nothing of them is left."""

    def __init__(
        self, machine: Machine, prompts: PromptQueue, decode: Decode, endings: Endings, settling: Settling
    ) -> None:
        self._machine, self._prompts, self._decode = machine, prompts, decode
        self._endings, self._settling = endings, settling

    def step(self) -> None:
        """A chunk of the prompt whose turn it is, if there is one."""
        sequence = self._next()
        if sequence is not None:
            self._evaluate_chunk(sequence)

    # -- slots ---------------------------------------------------------------------------------------------------

    def _next(self) -> Sequence | None:
        cache = self._machine.cache
        if not cache.has_free_slot and (background := self._prompts.to_preempt()) is not None:
            self._preempt(background)
        sequence = self._prompts.next(slot_free=cache.has_free_slot)
        if sequence is not None and sequence.request.background and self._decode:
            return None
        if sequence is not None and sequence.slot is None:
            self._start(sequence)
        return sequence

    def _preempt(self, sequence: Sequence) -> None:
        """Takes a background prompt's slot. What it has evaluated stays cached; later it goes on from there."""
        assert sequence.slot is not None
        self._machine.cache.release(sequence.slot)
        sequence.slot = None
        self._prompts.preempted(sequence)

    def _start(self, sequence: Sequence) -> None:
        clock = self._machine.clock
        began, first_time = clock(), not sequence.started
        sequence.started = sequence.started or began
        claim = self._claim(sequence)
        restore_seconds = clock() - began
        self._prompts.started(sequence)
        if first_time:  # otherwise it was preempted, or goes on with the other RoPE table: its listener knows
            self._announce(sequence, claim, restore_seconds)

    def _claim(self, sequence: Sequence) -> Claim:
        """Gives the sequence a slot that holds as much of its prompt as is cached."""
        machine, request = self._machine, sequence.request
        claim = machine.cache.claim(
            sequence.namespace,
            sequence.prompt,
            reuse=reads_cache(machine, sequence),
            keep=request.use_cache,
            session=request.session,
        )
        sequence.slot, sequence.evaluated = claim.slot, claim.cached
        machine.session.use_long_rope(claim.slot, sequence.long_rope)
        if machine.kv.has_state and request.use_cache:
            wanted = (*request.boundaries, claim.known)
            final_from = machine.session.final_from
            sequence.checkpoints = checkpoints(len(sequence.prompt), claim.cached, wanted, final_from)
        self._settling.forget(claim.slot)
        return claim

    def _announce(self, sequence: Sequence, claim: Claim, restore_seconds: float) -> None:
        machine = self._machine
        sequence.cached = claim.cached
        machine.totals.cached += claim.cached
        saved = max(0.0, machine.cost.seconds(0, claim.cached) - restore_seconds)
        machine.totals.saved_seconds += saved
        reason = self._why_nothing_is_read(sequence) or claim.reason
        sequence.tell(Started(claim.cached, len(sequence.prompt), reason, saved))

    def _why_nothing_is_read(self, sequence: Sequence) -> str | None:
        """The reason that lies in the request or the model; None when what is cached is read."""
        final_from = self._machine.session.final_from
        if not sequence.request.use_cache:
            return "the request turned the cache off"
        if self._machine.no_reuse is not None:
            return self._machine.no_reuse
        if len(sequence.prompt) < final_from:
            return f"prompts of fewer than {final_from} tokens cannot be reused exactly with this model"
        if not sequence.reads_cache:
            return "scoring a prompt needs the logits of all its tokens"
        return None

    # -- chunks --------------------------------------------------------------------------------------------------

    def _chunk_size(self, sequence: Sequence) -> int:
        size = self._machine.chunk_tokens
        to_checkpoint = next((c - sequence.evaluated for c in sequence.checkpoints if c > sequence.evaluated + 1), size)
        if to_checkpoint <= size + 1:  # not one token short of it: a single token is no chunk
            size = to_checkpoint
        if self._decode:
            size = min(size, _SHARED_CHUNK_TOKENS)
        if sequence.request.prompt_logprobs is not None:
            size = min(size, _SCORED_CHUNK_TOKENS)
        return chunk_length(sequence.evaluated, sequence.remaining, size, self._machine.session.final_from)

    def _evaluate_chunk(self, sequence: Sequence) -> None:
        assert sequence.slot is not None
        count, position = self._chunk_size(sequence), sequence.evaluated
        tokens = sequence.prompt[position : position + count]
        scored = None if sequence.reply else sequence.request.prompt_logprobs
        logits = self._run(sequence, sequence.slot, tokens, 1 if scored is None else count)
        if logits is None:
            return
        sequence.evaluated += count
        self._record(sequence, sequence.slot, tokens)
        if scored is not None:
            targets = sequence.prompt[position + 1 : position + count + 1]
            rows = zip(logits, targets, strict=False)
            sequence.prompt_logprobs += [token_logprob(row, int(target), scored) for row, target in rows]
        if not sequence.reply:
            sequence.tell(Progress(sequence.evaluated, len(sequence.prompt)))
        if not sequence.remaining:
            self._prompt_done(sequence, logits[-1])

    def _run(self, sequence: Sequence, slot: int, tokens: Tokens, wanted: int) -> Logits | None:
        """The last `wanted` rows of logits [wanted, vocabulary]; None: the run failed, and the sequence with it."""
        machine, count = self._machine, len(tokens)
        began = machine.clock()
        try:
            logits = machine.session.prefill(slot, tokens.astype(np.int64), wanted)
        except Exception as error:
            log.exception("a chunk of %d tokens could not be evaluated", count)
            self._endings.fail([sequence], EngineError(f"The model could not be run: {error}"))
            return None
        seconds = machine.clock() - began
        machine.cost.measured(sequence.evaluated, count, seconds)
        machine.totals.prefill_seconds += seconds
        machine.totals.processed += count
        return logits

    def _record(self, sequence: Sequence, slot: int, tokens: Tokens) -> None:
        cache = self._machine.cache
        if len(tokens) > 1 and sequence.evaluated >= self._machine.session.final_from:
            cache.extend(slot, tokens)
            if sequence.evaluated in sequence.checkpoints:
                cache.mark(slot)
            return
        for token in tokens:  # of such a chunk no other prompt may reuse anything, as of decoded tokens
            cache.append_decoded(slot, int(token))

    def _prompt_done(self, sequence: Sequence, logits: Logits) -> None:
        if sequence.request.prompt_logprobs is not None and not sequence.reply:
            sequence.tell(PromptScored(tuple(sequence.prompt_logprobs)))
        if sequence.request.pin:
            self._machine.cache.pin(sequence.namespace, sequence.prompt)
        self._prompts.remove(sequence)
        self._decode.begin(sequence, logits)

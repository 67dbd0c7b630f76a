"""Replies, one token of each running sequence in a turn."""

from __future__ import annotations

import logging

import numpy as np

from pinfill_service.engine.endings import Endings
from pinfill_service.engine.errors import EngineError
from pinfill_service.engine.machine import Machine
from pinfill_service.engine.prompt_queue import PromptQueue
from pinfill_service.engine.sampler import Logits
from pinfill_service.engine.sequence import Sequence

log = logging.getLogger(__name__)


class Decode:
    """Sequences whose prompts are evaluated. `decoding` is the list of them, which `endings` take them off."""

    def __init__(self, machine: Machine, prompts: PromptQueue, decoding: list[Sequence], endings: Endings) -> None:
        self._machine, self._prompts, self._decoding, self._endings = machine, prompts, decoding, endings

    def __bool__(self) -> bool:
        return bool(self._decoding)

    def begin(self, sequence: Sequence, logits: Logits) -> None:
        """Takes a sequence in. `logits` [vocabulary] are those of its prompt's last token."""
        self._decoding.append(sequence)
        sequence.first_token = sequence.first_token or self._machine.clock()
        if sequence.request.max_tokens <= 0:
            self._endings.finish(sequence, "length", keep_reply=True)
        else:
            self._choose(sequence, logits)

    def step(self) -> None:
        """A token of every sequence."""
        machine = self._machine
        for outgrown in [s for s in self._decoding if not s.long_rope and machine.needs_long_rope(s.length)]:
            self._switch_rope(outgrown)
        by_slot = {sequence.slot: sequence for sequence in self._decoding if sequence.slot is not None}
        began = machine.clock()
        for first, last in machine.session.groups(sorted(by_slot)):
            self._run([by_slot.get(slot) for slot in range(first, last)], first, last)
        machine.totals.decode_seconds += machine.clock() - began

    def _run(self, rows: list[Sequence | None], first: int, last: int) -> None:
        """One run of the model over neighbouring slots; those without a sequence do not count."""
        tokens: list[int | None] = [None if row is None else row.next_token for row in rows]
        try:
            logits = self._machine.session.decode(first, last, tokens)
        except Exception as error:
            log.exception("a decoding step over slots %d to %d failed", first, last - 1)
            running = [row for row in rows if row is not None]
            self._endings.fail(running, EngineError(f"The model could not be run: {error}"))
            return
        for row, sequence in enumerate(rows):
            if sequence is not None and sequence.slot is not None:
                self._machine.cache.append_decoded(sequence.slot, sequence.next_token)
                self._choose(sequence, logits[row])

    def _choose(self, sequence: Sequence, logits: Logits) -> None:
        """Samples the next token, reports it, and ends the sequence where it ends."""
        try:
            token = sequence.choose(logits)
        except Exception as error:
            log.exception("no token could be chosen for request %d", sequence.id)
            told = error if isinstance(error, EngineError) else EngineError(f"No next token could be chosen: {error}")
            self._endings.fail([sequence], told)
            return
        if token.token_id in sequence.request.stop_ids:
            self._endings.finish(sequence, "stop", keep_reply=True)
            return
        sequence.reply.append(token.token_id)
        self._machine.totals.generated += 1
        sequence.next_token = token.token_id
        sequence.tell(token)
        if sequence.complete:
            self._endings.finish(sequence, "stop", keep_reply=True)
        elif self._is_full(sequence):
            self._endings.finish(sequence, "length", keep_reply=True)

    def _is_full(self, sequence: Sequence) -> bool:
        full = sequence.length >= self._machine.context_length
        return full or sequence.generated >= sequence.request.max_tokens

    def _switch_rope(self, sequence: Sequence) -> None:
        """The reply outgrew the length that short factors are for: all of it is evaluated again with the long ones."""
        assert sequence.slot is not None
        self._endings.leave(sequence)
        self._machine.cache.drop_tail(sequence.slot)
        self._machine.cache.release(sequence.slot)
        sequence.slot, sequence.evaluated, sequence.long_rope = None, 0, True
        sequence.prompt = np.array([*sequence.request.prompt, *sequence.reply], np.int32)
        self._prompts.waiting.append(sequence)

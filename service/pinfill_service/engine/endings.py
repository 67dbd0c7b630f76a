"""The two ways in which a sequence ends."""

from __future__ import annotations

from collections.abc import Iterable

from pinfill_service.engine.errors import EngineError
from pinfill_service.engine.events import Failed, Finished, FinishReason
from pinfill_service.engine.machine import Machine
from pinfill_service.engine.prompt_queue import PromptQueue
from pinfill_service.engine.sequence import Sequence
from pinfill_service.engine.settling import Settling


class Endings:
    """Takes sequences off `prompts` and `decoding`, gives their slots back and tells their listeners."""

    def __init__(self, machine: Machine, prompts: PromptQueue, decoding: list[Sequence], settling: Settling) -> None:
        self._machine, self._prompts, self._decoding, self._settling = machine, prompts, decoding, settling

    def finish(self, sequence: Sequence, reason: FinishReason, *, keep_reply: bool) -> None:
        self.leave(sequence)
        cache = self._machine.cache
        if sequence.slot is not None:
            if not keep_reply:
                cache.drop_tail(sequence.slot)
            cache.release(sequence.slot)
            self._settling.add(sequence.slot)
        sequence.tell(Finished(reason, sequence.timings(self._machine.clock())))

    def fail(self, sequences: Iterable[Sequence], error: EngineError) -> None:
        """Gives sequences up; nothing that only their slots hold is reused."""
        for sequence in sequences:
            self.leave(sequence)
            if sequence.slot is not None:
                self._machine.cache.abandon(sequence.slot)
            sequence.tell(Failed(error))

    def leave(self, sequence: Sequence) -> None:
        self._prompts.remove(sequence)
        if sequence in self._decoding:
            self._decoding.remove(sequence)

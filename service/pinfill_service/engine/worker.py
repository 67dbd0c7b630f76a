"""What the engine thread does in one turn: a chunk of one prompt, then a token of every running sequence."""

from __future__ import annotations

from collections.abc import Callable

from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.cache.prefix_cache import PrefixCache
from pinfill_service.cache.system_memory import plenty
from pinfill_service.engine.decode import Decode
from pinfill_service.engine.endings import Endings
from pinfill_service.engine.errors import EngineError
from pinfill_service.engine.interface import EngineStats
from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.machine import Machine, Session
from pinfill_service.engine.prefill import Prefill, reads_cache
from pinfill_service.engine.prompt_queue import PromptQueue
from pinfill_service.engine.sequence import Sequence, namespace
from pinfill_service.engine.settling import Settling


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
        cost = PrefillCost()
        self.cache = PrefixCache(kv, budget_bytes, cost, clock, spare_bytes)
        self._machine = Machine(session, kv, self.cache, cost, clock, context_length, chunk_tokens, no_reuse)
        self._prompts = PromptQueue(self._reusable)
        self._decoding: list[Sequence] = []
        self._settling = Settling(self._machine)
        self._endings = Endings(self._machine, self._prompts, self._decoding, self._settling)
        self._decode = Decode(self._machine, self._prompts, self._decoding, self._endings)
        self._prefill = Prefill(self._machine, self._prompts, self._decode, self._endings, self._settling)

    @property
    def sequences(self) -> list[Sequence]:
        return [*self._prompts.waiting, *self._prompts.prefilling, *self._decoding]

    @property
    def kv(self) -> KvSlots:
        return self._machine.kv

    def namespace_for(self, tokens: int) -> str:
        """The namespace of unsalted prompts of this length."""
        return namespace("", long_rope=self._machine.needs_long_rope(tokens))

    @property
    def cost(self) -> PrefillCost:
        return self._machine.cost

    @property
    def has_work(self) -> bool:
        return bool(self._prompts or self._decoding)

    @property
    def has_replies(self) -> bool:
        """Whether `settle` has something to do."""
        return bool(self._settling)

    def add(self, sequence: Sequence) -> None:
        sequence.long_rope = self._machine.needs_long_rope(sequence.length)
        self._prompts.waiting.append(sequence)

    def cancel(self, sequence: Sequence, *, keep_reply: bool) -> None:
        if sequence in self.sequences:
            self._endings.finish(sequence, "cancelled", keep_reply=keep_reply)

    def fail(self, sequences: list[Sequence], error: EngineError) -> None:
        """Gives sequences up; nothing that only their slots hold is reused."""
        self._endings.fail(sequences, error)

    def turn(self) -> None:
        """One chunk and one token for everybody."""
        self._prefill.step()
        if self._decode:
            self._decode.step()

    def settle(self) -> None:
        """Evaluates a chunk of a finished reply again, as a prompt: from then on a next turn may reuse it."""
        self._settling.settle()

    def stats(self) -> EngineStats:
        running = len(self._prompts.prefilling) + len(self._decoding)
        return self._machine.stats(running=running, waiting=len(self._prompts.waiting))

    def _reusable(self, sequence: Sequence) -> int:
        machine = self._machine
        return machine.cache.reusable(sequence.namespace, sequence.prompt) if reads_cache(machine, sequence) else 0

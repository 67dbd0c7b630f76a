"""Replies that ended, evaluated again as prompts while nobody asks for anything."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass

import numpy as np

from pinfill_service.cache.prefix_cache import MIN_EVALUATED
from pinfill_service.engine.chunks import chunk_length
from pinfill_service.engine.machine import Machine

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Reply:
    """Decoded tokens that stand behind the first `start` tokens of an idle slot."""

    slot: int
    start: int
    tokens: tuple[int, ...]


class Settling:
    """The replies that wait for it, the oldest first.

    Decoding adds in another order than prefill, and int8 activations turn the last bit into a visible difference
    (measured on AVX2: up to 1.0 in a logit). Evaluated again, the reply is bit for bit what a cold run would hold.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._replies: deque[_Reply] = deque()

    def __bool__(self) -> bool:
        return bool(self._replies)

    def add(self, slot: int) -> None:
        """What was decoded in a slot that was just released."""
        cache = self._machine.cache
        reply = tuple(cache.unsettled(slot))
        if len(reply) >= MIN_EVALUATED:
            self._replies.append(_Reply(slot, cache.shared_length(slot), reply))

    def forget(self, slot: int) -> None:
        """The slot holds something else from now on."""
        self._replies = deque(reply for reply in self._replies if reply.slot != slot)

    def settle(self) -> None:
        """Evaluates a chunk of the oldest reply: from then on a next turn may reuse it."""
        session, cache = self._machine.session, self._machine.cache
        reply = self._replies.popleft()
        if cache.shared_length(reply.slot) != reply.start:
            return  # what it stood behind was evicted meanwhile
        count = chunk_length(reply.start, len(reply.tokens), self._machine.chunk_tokens, session.final_from)
        tokens = np.array(reply.tokens[:count], np.int32)
        if reply.start + count < session.final_from or not cache.drop_tail(reply.slot):
            return
        try:
            session.prefill(reply.slot, tokens.astype(np.int64), 1)
        except Exception:
            log.exception("a reply could not be evaluated again; its slot is given up")
            cache.abandon(reply.slot)
            return
        cache.extend(reply.slot, tokens)
        cache.mark(reply.slot)
        cache.enforce_budget()
        if len(reply.tokens) > count:
            self._replies.appendleft(_Reply(reply.slot, reply.start + count, reply.tokens[count:]))

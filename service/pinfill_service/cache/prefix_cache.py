"""Decides which slot a prompt runs in, what it reuses, what is saved before it is overwritten, and what is evicted."""

from __future__ import annotations

import logging

from pinfill_service.cache.cache_files import CacheFiles
from pinfill_service.cache.contract import Claim, NoSlotError
from pinfill_service.cache.prefix_tree import Match, Node, Tokens
from pinfill_service.cache.slot_record import SlotRecord

log = logging.getLogger(__name__)

# A last chunk of one token takes kernels that add in another order than a prompt's: see engine/chunks.py.
MIN_EVALUATED = 2
# Fresh memory costs about this many times a copy between memory already in use (measured: 5 to 10).
_COLD_FACTOR = 6.0


class PrefixCache(CacheFiles):
    """The prefix tree and the slots it lives in.

    Invariants, whatever happened before:
    - a slot's KV length == tokens recorded for it; where they disagree, the slot is emptied and counted, never reused;
    - only tokens that were evaluated as part of a prompt are in the tree. A reply's tokens were decoded one at a time,
      by kernels that add in another order, and reusing them could change an answer: they wait in the slot's tail until
      they are evaluated again as a prompt (`engine/settling.py`), or are part of the next one;
    - a model's non-truncatable state, where it has one, is that of the slot's tokens whenever a sequence runs: prompts
      resume only at checkpoints, which nodes keep.
    """

    # -- a sequence's life ---------------------------------------------------------------------------------------

    @property
    def has_free_slot(self) -> bool:
        return any(not slot.busy for slot in self._slots)

    def reusable(self, namespace: str, prompt: Tokens) -> int:
        """How many tokens of `prompt` a claim would reuse now."""
        return self._usable(self.tree.match(namespace, prompt), prompt)

    def _usable(self, match: Match, prompt: Tokens) -> int:
        """How much of a match can be reused: at least MIN_EVALUATED tokens are evaluated, state needs a checkpoint."""
        usable = max(0, min(match.length, len(prompt) - MIN_EVALUATED))
        if not self._kv.has_state:
            return usable
        ends = (node.end for node in match.node.path() if node.checkpoint is not None and node.end <= usable)
        return max(ends, default=0)

    def claim(
        self, namespace: str, prompt: Tokens, *, reuse: bool = True, keep: bool = True, session: str = ""
    ) -> Claim:
        """Gives `prompt` a slot that holds as much of it as is cached. `keep=False`: nobody will reuse what it adds.
        `session`: others will go on from this prompt, and keep what the session used before in use.

        Raises NoSlotError. What the slot held beyond the common prefix is stored first when it is worth its memory.
        """
        self._verify_idle()
        if not self.has_free_slot:
            raise NoSlotError
        self._used(session)
        claim = self._claim(namespace, prompt) if reuse and keep else self._claim_empty(namespace, private=not keep)
        slot = self._slots[claim.slot]
        slot.namespace, slot.session = namespace, session
        slot.begun, slot.continues = slot.node, 2 * claim.cached >= len(prompt)
        return claim

    def _claim(self, namespace: str, prompt: Tokens) -> Claim:
        match = self.tree.match(namespace, prompt)
        usable = self._usable(match, prompt)
        if usable == 0:
            claim = self._claim_empty(namespace, private=False)
            return Claim(claim.slot, 0, self._reason(match, prompt, 0), match.length)
        target = self.tree.node_at(match, usable)
        self.tree.reference(target, 1)
        try:
            slot, in_place = self._cheapest(target)
            self._empty(slot, in_place)
            reached = self._load(slot, target)
        finally:
            self.tree.reference(target, -1)
        if reached is not target:
            self._forget_damaged(target)
        if self._kv.has_state and not self._resume(slot, target, reached):
            self._forget(slot)
            reached = self.tree.root(namespace)
        # An empty namespace was forgotten together with its last node.
        self._start(slot, self.tree.root(namespace) if reached.is_root else reached)
        cached = slot.shared_length
        self.enforce_budget()
        return Claim(slot.index, cached, self._reason(match, prompt, cached), match.length)

    def extend(self, index: int, tokens: Tokens) -> None:
        """The graph appended `tokens` to the slot as part of a prompt: from now on others can match them."""
        slot = self._slots[index]
        if slot.private:
            slot.tail.extend(int(token) for token in tokens)
            return
        assert not slot.tail
        if slot.node is None or slot.node.is_root:  # of an idle slot it may have been forgotten: nothing was in it
            slot.node = self.tree.root(slot.namespace)
        begins, ends_there = slot.node is slot.begun, not slot.node.children
        grown = self.tree.insert(slot.node, tokens, index, self._clock(), begins=begins)
        if begins and slot.continues:  # as much in use as what it goes on from, or, beside others, once if in a session
            grown.hits = max(grown.hits, slot.node.hits if ends_there else min(slot.node.hits, int(bool(slot.session))))
        if slot.busy and grown is not slot.node:
            self.tree.reference(grown, 1)
            self.tree.reference(slot.node, -1)
        slot.node = grown
        grown.session = slot.session or grown.session

    def mark(self, index: int) -> None:
        """Keeps the state behind what the slot shares, so that prompts can resume there."""
        node = self._slots[index].node  # none for private slots
        if self._kv.has_state and node is not None and not node.is_root and node.checkpoint is None:
            node.checkpoint = self._kv.checkpoint(index)

    def append_decoded(self, index: int, token: int) -> None:
        """The graph appended a token that was decoded: recorded, never matched."""
        self._slots[index].tail.append(token)

    def unsettled(self, index: int) -> list[int]:
        """Decoded tokens behind what the slot shares."""
        return [] if self._slots[index].private else list(self._slots[index].tail)

    def shared_length(self, index: int) -> int:
        """Tokens of a slot that are in the tree."""
        return self._slots[index].shared_length

    def drop_tail(self, index: int) -> bool:
        """Forgets the decoded tokens of a slot. False: its state cannot go back, so nothing can be appended."""
        slot = self._slots[index]
        if slot.private or not slot.tail:
            return True
        slot.tail.clear()
        self._kv.truncate(index, slot.shared_length)
        if self._kv.has_state and slot.shared_length:
            if slot.node is None or slot.node.checkpoint is None:
                return False
            self._kv.restore(index, slot.node.checkpoint)
        return True

    def release(self, index: int) -> None:
        """The sequence ended; its slot stays as it is until somebody needs it."""
        slot = self._slots[index]
        slot.busy, slot.last_used = False, self._clock()
        self._used(slot.session)
        if slot.node is not None:
            self.tree.reference(slot.node, -1)
            slot.node.last_used = slot.last_used
        if slot.private:
            self._forget(slot)
        self.enforce_budget()

    def abandon(self, index: int) -> None:
        """Something went wrong while the graph ran on this slot: nothing it alone holds may be reused."""
        slot = self._slots[index]
        if slot.busy and slot.node is not None:
            self.tree.reference(slot.node, -1)
        slot.busy = False
        self._forget(slot)

    def is_idle(self, index: int) -> bool:
        return not self._slots[index].busy

    # -- choosing and filling a slot -----------------------------------------------------------------------------

    def _claim_empty(self, namespace: str, *, private: bool) -> Claim:
        slot = min(self._idle(), key=lambda s: (s.loss(0), s.last_used, s.index))
        self._empty(slot, 0)
        if private:
            slot.busy = slot.private = True
        else:
            self._start(slot, self.tree.root(namespace))
        self.enforce_budget()
        return Claim(slot.index, 0, None)

    def _start(self, slot: SlotRecord, node: Node) -> None:
        now = self._clock()
        slot.busy, slot.private, slot.node, slot.last_used = True, False, node, now
        self.tree.reference(node, 1)
        for above in node.path():
            above.hits += 1
            above.last_used = now

    def _cheapest(self, target: Node) -> tuple[SlotRecord, int]:
        """The idle slot that reaches `target` with the least copying, and how much of it that slot holds already."""
        path = target.path()
        best: tuple[float, float, int] | None = None
        chosen, in_place = self._slots[0], 0
        for slot in self._idle():
            held = slot.held(path)
            warm = max(0, min(target.end, self._kv.touched(slot.index)) - held)
            cold = target.end - held - warm
            price = warm + _COLD_FACTOR * cold + slot.loss(held)
            rank = (price, slot.last_used, slot.index)
            if best is None or rank < best:
                best, chosen, in_place = rank, slot, held
        return chosen, in_place

    def _empty(self, slot: SlotRecord, keep: int) -> None:
        """Cuts a slot back to its first `keep` shared tokens, storing first what would be lost."""
        slot.tail.clear()
        self._kv.truncate(slot.index, slot.shared_length)
        if slot.node is None:
            return
        boundary = self.tree.node_at(Match(slot.node.end, slot.node), keep)
        self._write_back(slot, boundary)
        if slot.node is not None and slot.loss(keep):  # there was no room for it
            self._note_eviction(slot.node)
        self.tree.detach(slot.node, slot.index, boundary)
        self._kv.truncate(slot.index, keep)
        slot.node = None if boundary.is_root else boundary

    def _write_back(self, slot: SlotRecord, boundary: Node) -> None:
        """Stores the nodes behind `boundary` that only this slot holds, first ones first, as far as memory is found.

        What a file holds need not be stored; of pins it is all the same, so that they stay warm, if there is room.
        """
        assert slot.node is not None
        for node in slot.node.path():
            kept = node.span is not None or node.slots != {slot.index}
            if node.start < boundary.end or kept or (node.disk is not None and not node.pinned):
                continue
            must = node.pinned and node.disk is None
            room = must or self._make_room(len(node.tokens) * self._kv.bytes_per_token, node, slot)
            if slot.index not in node.slots:  # it had to make room itself
                return
            if not (room and self._store(node, slot)) and node.disk is None:
                return  # nothing behind it could be reached

    def _store(self, node: Node, slot: SlotRecord) -> bool:
        """Copies a node out of its slot. False: there is no memory for it."""
        try:
            node.span = self._kv.export(slot.index, node.start, node.end)
        except MemoryError:
            log.warning("no memory to keep %d tokens of a prefix; they will be prefilled again", len(node.tokens))
            return False
        return True

    def _load(self, slot: SlotRecord, target: Node) -> Node:
        """Copies what `slot` lacks of the path to `target`; returns the node it reached, the root when none.

        Damaged files are found out here: they are forgotten by the caller, once nothing refers to their nodes.
        """
        reached = target.path()[0].parent
        assert reached is not None
        for node in target.path():
            if slot.index not in node.slots:
                sources = [s for s in node.slots if self._kv.length(s) >= node.end]
                if sources:
                    self._kv.fork(sources[0], slot.index, node.start, node.end)
                elif node.span is not None:
                    self._kv.load(node.span, slot.index)
                elif node.disk is not None and node.disk.is_sound():
                    self._kv.load(node.disk, slot.index)
                else:
                    self._mismatch(f"tokens {node.start}..{node.end} are recorded but cannot be had")
                    break
                node.slots.add(slot.index)
            reached = node
        return reached

    def _resume(self, slot: SlotRecord, target: Node, reached: Node) -> bool:
        """Restores the state at `target`. False: the slot, which holds the path to `reached`, could not get there."""
        slot.node = reached
        if reached is not target or target.checkpoint is None:
            return False
        self._kv.restore(slot.index, target.checkpoint)
        return True

    def _forget_damaged(self, target: Node) -> None:
        """Forgets what files that turned out to be damaged held of the path to `target`."""
        for node in target.path():
            if node.disk is not None and not node.disk.is_sound():
                self.tree.forget_disk(node)
                return

    # -- doubt ---------------------------------------------------------------------------------------------------

    def _verify_idle(self) -> None:
        for slot in self._idle():
            recorded = slot.shared_length + len(slot.tail)
            if self._kv.length(slot.index) != recorded:
                self._mismatch(f"slot {slot.index}: {recorded} tokens recorded, KV of {self._kv.length(slot.index)}")
                self._forget(slot)

    def _reason(self, match: Match, prompt: Tokens, cached: int) -> str | None:
        """Why not more was reused, in words; None when nothing more could be."""
        if cached >= len(prompt) - MIN_EVALUATED:
            return None
        if match.length == 0:
            return "never seen: nothing cached begins like this prompt"
        if cached < match.length and self._kv.has_state:
            return f"left the cached prefix at token {match.length:,}; the last checkpoint before it is at {cached:,}"
        if cached < match.length:
            return f"KV of tokens {cached:,} to {match.length:,} was recorded but could not be read"
        return f"left the cached prefix at token {cached:,}"

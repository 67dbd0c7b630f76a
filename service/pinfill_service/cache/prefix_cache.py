"""Decides which slot a prompt runs in, what it reuses, what is saved before it is overwritten, and what is evicted."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from pinfill_service.cache.contract import CacheStats, Claim, KvStore, NoSlotError, Snapshot
from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.cache.prefix_tree import Match, Node, PrefixTree, Tokens
from pinfill_service.cache.slot_record import SlotRecord

log = logging.getLogger(__name__)

# A last chunk of one token takes kernels that add in another order than a prompt's: see engine/worker.py.
MIN_EVALUATED = 2
# Fresh memory costs about this many times a copy between memory already in use (measured: 5 to 10).
_COLD_FACTOR = 6.0
# An entry this old is worth half of an equal one used just now.
_HALF_VALUE_SECONDS = 600.0
# Evicting less than this from an entry's end is not worth the books.
_MIN_TRIM_TOKENS = 64


class PrefixCache:
    """The prefix tree and the slots it lives in.

    Invariants, whatever happened before:
    - a slot's KV length == tokens recorded for it; where they disagree, the slot is emptied and counted, never reused;
    - only tokens that were evaluated as part of a prompt are in the tree. A reply's tokens were decoded one at a time,
      by kernels that add in another order, and reusing them could change an answer: they wait in the slot's tail until
      they are evaluated again as a prompt (`settle` in the scheduler), or are part of the next one;
    - an entry in use or pinned is never evicted; what nothing protects fits the budget;
    - a model's non-truncatable state, where it has one, is that of the slot's tokens whenever a sequence runs: prompts
      resume only at checkpoints, which nodes keep.
    """

    def __init__(self, kv: KvStore, budget_bytes: int, cost: PrefillCost, clock: Callable[[], float]) -> None:
        self.tree = PrefixTree()
        self.budget_bytes = budget_bytes
        self._kv = kv
        self._cost = cost
        self._clock = clock
        self._slots = [SlotRecord(index) for index in range(kv.count)]
        self._evictions = 0
        self._mismatches = 0

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

    def claim(self, namespace: str, prompt: Tokens, *, reuse: bool = True, keep: bool = True) -> Claim:
        """Gives `prompt` a slot that holds as much of it as is cached. `keep=False`: nobody will reuse what it adds.

        Raises NoSlotError. What the slot held beyond the common prefix is stored first when it is worth its memory.
        """
        self._verify_idle()
        if not self.has_free_slot:
            raise NoSlotError
        if not (reuse and keep):
            return self._claim_empty(namespace, private=not keep)
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
        assert not slot.tail and slot.node is not None
        grown = self.tree.insert(slot.node, tokens, index, self._clock())
        if slot.busy and grown is not slot.node:
            self.tree.reference(grown, 1)
            self.tree.reference(slot.node, -1)
        slot.node = grown

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

    # -- pins ----------------------------------------------------------------------------------------------------

    def pin(self, namespace: str, tokens: Tokens) -> bool:
        """Keeps a cached prefix, and all of it, until it is unpinned. False: it is not cached in full."""
        match = self.tree.match(namespace, tokens)
        if match.length < len(tokens):
            return False
        self.tree.pin(self.tree.node_at(match, len(tokens)), 1)
        return True

    def unpin(self, namespace: str, tokens: Tokens) -> None:
        """Takes one pin of this prefix back; from now on it may be evicted like any other."""
        match = self.tree.match(namespace, tokens)
        if match.length == len(tokens) and match.node.end == match.length:
            self.tree.pin(match.node, -1)
        self.enforce_budget()

    # -- files ---------------------------------------------------------------------------------------------------

    def snapshot(self, namespace: str, tokens: Tokens) -> Snapshot | None:
        """What of a cached prefix no file holds yet, for writing it to one; None when nothing is missing.

        The spans are the caller's to free. Raises LookupError when the prefix is not cached in full, and MemoryError.
        """
        match = self.tree.match(namespace, tokens)
        if match.length < len(tokens):
            raise LookupError("the prefix is not cached in full")
        path = self.tree.node_at(match, len(tokens)).path()
        missing = [node for node in path if node.disk is None]
        if not missing:
            return None
        spans: list[Any] = []
        try:
            for node in missing:
                if node.span is not None:
                    spans.append(node.span.share())
                else:
                    spans.append(self._kv.export(min(node.slots), node.start, node.end))
        except MemoryError:
            for span in spans:
                span.free()
            raise
        checkpoints = {node.end: node.checkpoint for node in missing if node.checkpoint is not None}
        return Snapshot(namespace, tokens.copy(), missing[0].start, spans, checkpoints)

    def saved(self, snapshot: Snapshot, disk: Any) -> bool:
        """A file holds the snapshot now: takes its span over. False: what stood before it is on disk no more."""
        return self.tree.graft(snapshot.namespace, snapshot.tokens, snapshot.start, disk, self._clock())

    def restore(self, saved: Snapshot, disk: Any) -> bool:
        """Records what a file of an earlier run holds, and its checkpoints. False: it cannot be reached."""
        if not self.tree.graft(saved.namespace, saved.tokens, saved.start, disk, self._clock()):
            return False
        for length, checkpoint in saved.checkpoints.items():
            match = self.tree.match(saved.namespace, saved.tokens[:length])
            self.tree.node_at(match, length).checkpoint = checkpoint
        return True

    def forget_files(self, namespace: str, tokens: Tokens) -> None:
        """Deletes the files that hold this prefix, as far as no pinned or longer prefix needs them."""
        node = self.tree.match(namespace, tokens).node
        while not node.is_root and not node.pinned and not any(child.disk for child in node.children.values()):
            above = node.parent
            assert above is not None
            self.tree.forget_disk(node)
            node = above

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

    def _idle(self) -> list[SlotRecord]:
        return [slot for slot in self._slots if not slot.busy]

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
        self.tree.detach(slot.node, slot.index, boundary)
        self._kv.truncate(slot.index, keep)
        slot.node = None if boundary.is_root else boundary

    def _write_back(self, slot: SlotRecord, boundary: Node) -> None:
        """Stores the nodes behind `boundary` that only this slot holds, first ones first, as far as memory is found."""
        assert slot.node is not None
        for node in slot.node.path():
            kept = node.span is not None or node.disk is not None or node.slots != {slot.index}
            if node.start < boundary.end or kept:
                continue
            if not node.pinned and not self._make_room(len(node.tokens) * self._kv.bytes_per_token, node):
                return
            try:
                node.span = self._kv.export(slot.index, node.start, node.end)
            except MemoryError:
                log.warning("no memory to keep %d tokens of a prefix; they will be prefilled again", len(node.tokens))
                return

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

    def _mismatch(self, what: str) -> None:
        self._mismatches += 1
        log.error("KV mismatch, treated as a miss: %s", what)

    def _forget(self, slot: SlotRecord) -> None:
        """Empties a slot without storing anything of it."""
        if slot.node is not None and not slot.node.is_root:
            root = slot.node.path()[0].parent
            assert root is not None
            self.tree.detach(slot.node, slot.index, root)
        slot.node, slot.private = None, False
        slot.tail.clear()
        self._kv.truncate(slot.index, 0)
        self._kv.discard_dead(slot.index)

    # -- budget --------------------------------------------------------------------------------------------------

    @property
    def held_bytes(self) -> int:
        """Memory of everything cached. What running sequences touched is in use, not cached."""
        busy = sum(self._kv.touched(slot.index) for slot in self._slots if slot.busy)
        kv = self._kv
        return int(kv.resident_bytes - busy * kv.bytes_per_token + kv.pool.bytes_used + self._checkpoint_bytes())

    def _checkpoint_bytes(self) -> int:
        """Memory of states that no file holds."""
        if not self._kv.has_state:
            return 0
        return self._kv.state_bytes * sum(_holds_state(node) for node in self.tree.nodes())

    def enforce_budget(self) -> None:
        """Evicts the least valuable leaves until what is cached fits; never what is in use or only pinned in memory."""
        if self.held_bytes <= self.budget_bytes:
            return
        for slot in self._idle():
            self._kv.discard_dead(slot.index)
        while (excess := self.held_bytes - self.budget_bytes) > 0:
            if self._drop_copy():
                continue
            leaf = self._least_valuable()
            if leaf is None:
                return
            self._free_memory(leaf, excess)

    def _free_memory(self, leaf: Node, excess: int) -> None:
        """Takes an entry's end out of memory: what a file holds stays there, anything else is forgotten."""
        if leaf.disk is None:
            self.evict(leaf, excess)
            return
        self._empty_slots(leaf)
        if leaf.span is not None:
            leaf.span.free()
            leaf.span = None

    def _empty_slots(self, leaf: Node) -> None:
        """Cuts the slots that stand in `leaf` back to its parent."""
        parent = leaf.parent
        assert parent is not None
        for index in list(leaf.slots):
            slot = self._slots[index]
            slot.tail.clear()
            slot.node = None if parent.is_root else parent
            self._kv.truncate(index, parent.end)
            self._kv.discard_dead(index)
        leaf.slots.clear()

    def _drop_copy(self) -> bool:
        """Empties the idle slot longest unused of those whose KV is all held elsewhere too: that loses nothing."""
        copies = [slot for slot in self._idle() if self._kv.touched(slot.index) and not slot.loss(0)]
        if not copies:
            return False
        self._forget(min(copies, key=lambda slot: slot.last_used))
        return True

    def evict(self, leaf: Node, excess: int | None = None) -> None:
        """Forgets an unprotected leaf, or only as much of its end as frees `excess` bytes."""
        assert not leaf.is_protected and not leaf.children
        keep = len(leaf.tokens) - (-(-excess // self._kv.bytes_per_token) if excess is not None else len(leaf.tokens))
        if excess is not None and keep >= _MIN_TRIM_TOKENS and not self._kv.has_state:
            self.tree.node_at(Match(leaf.end, leaf), leaf.start + keep - keep % _MIN_TRIM_TOKENS)
        self._empty_slots(leaf)
        self.tree.remove(leaf)
        self._evictions += 1

    def evict_all(self) -> int:
        """Forgets everything that nothing protects, on disk too; returns how many entries that were."""
        count = 0
        while leaves := [leaf for leaf in self.tree.leaves() if not leaf.is_protected]:
            for leaf in leaves:
                self.evict(leaf)
                count += 1
        return count

    def evict_prefix(self, namespace: str, tokens: Tokens) -> bool:
        """Forgets a cached prefix, files included, as far as no other entry shares it. False: it is protected."""
        match = self.tree.match(namespace, tokens)
        node, evicted = match.node, False
        if match.length < len(tokens) or node.is_protected:
            return False
        while not node.is_root and not node.is_protected and not node.children:
            above = node.parent
            assert above is not None
            self.evict(node)
            node, evicted = above, True
        return evicted

    def _least_valuable(self) -> Node | None:
        """The end of an entry in memory that is worth least, among those that nothing protects or a file holds too."""
        now = self._clock()
        ends = [
            node
            for node in self.tree.nodes()
            if node.in_memory and not any(child.in_memory for child in node.children.values())
        ]
        free = [node for node in ends if not node.references and (node.disk is not None or not node.pinned)]
        return min(free, key=lambda node: self._value(node, now), default=None)

    def _value(self, node: Node, now: float) -> float:
        """Seconds of prefill saved for each byte, weighed by how often and how lately it was used."""
        age = max(0.0, now - node.last_used)
        return (1 + node.hits) * self._cost.per_token(node.start) / (1 + age / _HALF_VALUE_SECONDS)

    def _make_room(self, size: int, node: Node) -> bool:
        """Evicts leaves worth less than `node` until `size` more bytes fit; False when they cannot."""
        now = self._clock()
        while self.held_bytes + size > self.budget_bytes:
            if self._drop_copy():
                continue
            leaf = self._least_valuable()
            if leaf is None or leaf is node or self._value(leaf, now) >= self._value(node, now):
                return False
            self._free_memory(leaf, self.held_bytes + size - self.budget_bytes)
        return True

    # -- numbers -------------------------------------------------------------------------------------------------

    def stats(self) -> CacheStats:
        entries = tokens = total = protected = 0
        for node in self.tree.nodes():
            entries += not node.children
            tokens += len(node.tokens)
            size = len(node.tokens) * self._kv.bytes_per_token * (len(node.slots) + (node.span is not None))
            size += self._kv.state_bytes * _holds_state(node)
            total += size
            protected += size if node.is_protected else 0
        return CacheStats(entries, tokens, total, protected, self._evictions, self._mismatches)

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


def _holds_state(node: Node) -> bool:
    """Whether a node's checkpoint is in memory only."""
    return node.checkpoint is not None and node.disk is None

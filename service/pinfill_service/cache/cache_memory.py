"""What is cached and what it weighs: the tree, the slots it lives in, files, and a budget that is kept by eviction."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from pinfill_service.cache.contract import CacheStats, KvStore, Snapshot
from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.cache.prefix_tree import Match, Node, PrefixTree, Tokens
from pinfill_service.cache.slot_record import SlotRecord

log = logging.getLogger(__name__)

# An entry this old is worth half of an equal one used just now.
_HALF_VALUE_SECONDS = 600.0
# Sessions whose last use is remembered.
_MAX_SESSIONS = 256
# Evicting less than this from an entry's end is not worth the books.
_MIN_TRIM_TOKENS = 64


class CacheMemory:
    """Everything cached, and how it leaves memory, or comes from and goes to files.

    Invariants: an entry in use, or pinned and in no file, is never evicted; what nothing protects fits the budget.
    """

    def __init__(self, kv: KvStore, budget_bytes: int, cost: PrefillCost, clock: Callable[[], float]) -> None:
        self.tree = PrefixTree()
        self.budget_bytes = budget_bytes
        self._kv = kv
        self._cost = cost
        self._clock = clock
        self._slots = [SlotRecord(index) for index in range(kv.count)]
        self._sessions: OrderedDict[str, float] = OrderedDict()  # when each was last used, the latest last
        self._evictions = 0
        self._mismatches = 0

    def _idle(self) -> list[SlotRecord]:
        return [slot for slot in self._slots if not slot.busy]

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

    def _mismatch(self, what: str) -> None:
        self._mismatches += 1
        log.error("KV mismatch, treated as a miss: %s", what)

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

    def _drop_copy(self, but: SlotRecord | None = None) -> bool:
        """Empties the idle slot longest unused of those whose KV is all held elsewhere too: that loses nothing."""
        idle = [slot for slot in self._idle() if slot is not but]
        copies = [slot for slot in idle if self._kv.touched(slot.index) and not slot.loss(0)]
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
        return min(free, key=lambda node: (self._value(node, now), node.end), default=None)

    def _value(self, node: Node, now: float) -> float:
        """Seconds of prefill that each byte at its end saves, weighed by how often and how lately it or its session was
        used. The end is what goes first.

        A session's entry is likely to be used again, and while it has not been, it does not lose to one that is only
        newer: a side call ends after the conversation it is about. Of equal ones the shorter goes first, for the same
        reason: an agent's notes are shorter than what they are about.
        """
        age = max(0.0, now - max(node.last_used, self._sessions.get(node.session, 0.0)))
        if node.session and not node.hits:
            age = max(0.0, age - _HALF_VALUE_SECONDS)
        uses = 1 + node.hits + bool(node.session)
        return uses * self._cost.per_token(node.end) / (1 + age / _HALF_VALUE_SECONDS)

    def _used(self, session: str) -> None:
        """Everything of this session counts as used now."""
        if session:
            self._sessions[session] = self._clock()
            self._sessions.move_to_end(session)
            if len(self._sessions) > _MAX_SESSIONS:
                self._sessions.popitem(last=False)

    def _make_room(self, size: int, node: Node, slot: SlotRecord) -> bool:
        """Evicts leaves worth less than `node`, which is in `slot`, until `size` more bytes fit; False: they cannot."""
        now = self._clock()
        while self.held_bytes + size > self.budget_bytes:
            if self._drop_copy(but=slot):
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


def _holds_state(node: Node) -> bool:
    """Whether a node's checkpoint is in memory only."""
    return node.checkpoint is not None and node.disk is None

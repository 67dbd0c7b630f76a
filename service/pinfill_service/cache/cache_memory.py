"""What is cached and what it weighs: the tree, the slots it lives in, and a budget that is kept by eviction."""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Callable

import numpy as np

from pinfill_service.cache.contract import CacheStats, Evicted, KvStore
from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.cache.prefix_tree import Match, Node, PrefixTree, Tokens
from pinfill_service.cache.slot_record import SlotRecord
from pinfill_service.cache.system_memory import SystemMemory, plenty

log = logging.getLogger(__name__)

# An entry this old is worth half of an equal one used just now.
_HALF_VALUE_SECONDS = 600.0
_REMEMBERED_EVICTIONS = 100  # until somebody asks for them
# Sessions whose last use is remembered.
_MAX_SESSIONS = 256
# Evicting less than this from an entry's end is not worth the books.
_MIN_TRIM_TOKENS = 64


class CacheMemory:
    """Everything cached, and how it leaves memory.

    Invariants: an entry in use, or pinned and in no file, is never evicted; what nothing protects fits the budget and,
    as of the last look, what the system can spare.
    """

    def __init__(
        self,
        kv: KvStore,
        budget_bytes: int,
        cost: PrefillCost,
        clock: Callable[[], float],
        spare_bytes: Callable[[], int] = plenty,
    ) -> None:
        """`spare_bytes`: memory that the system can still give; negative when it needs some back."""
        self.tree = PrefixTree()
        self.budget_bytes = budget_bytes
        self.system = SystemMemory(spare_bytes, lambda: self.held_bytes, clock)
        self._kv = kv
        self._cost = cost
        self._clock = clock
        self._slots = [SlotRecord(index) for index in range(kv.count)]
        self._sessions: OrderedDict[str, float] = OrderedDict()  # when each was last used, the latest last
        self._evictions = 0
        self._evicted: deque[Evicted] = deque(maxlen=_REMEMBERED_EVICTIONS)
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

    def limit_bytes(self) -> int:
        """What may be held now: the budget, or less while the system is short of memory."""
        return min(self.budget_bytes, self.system.affordable_bytes())

    def enforce_budget(self) -> None:
        """Evicts the least valuable leaves until what is cached fits; never what is in use or only pinned in memory."""
        if self.held_bytes > self.limit_bytes():
            self._evict_until_it_fits(self.limit_bytes())
        self._kv.pool.trim(self.limit_bytes() - self.held_bytes)

    def _evict_until_it_fits(self, limit: int) -> None:
        for slot in self._idle():
            self._kv.discard_dead(slot.index)
        while (excess := self.held_bytes - limit) > 0:
            if self._drop_copy():
                continue
            leaf = self._least_valuable()
            if leaf is None:
                return
            self._free_memory(leaf, excess)

    def give_back_unused(self) -> None:
        """Gives memory that nothing holds back to the system, which touching it again costs: for quiet times."""
        for slot in self._idle():
            if self._dead_tokens(slot):  # of others only what a graph returned would go, which is in use
                self._kv.discard_dead(slot.index)
        self._kv.pool.trim(0)

    def _dead_tokens(self, slot: SlotRecord) -> int:
        """Positions behind the cursor whose memory is still there."""
        return self._kv.touched(slot.index) - self._kv.length(slot.index)

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
            self._cut(self._slots[index], parent)
        leaf.slots.clear()

    def _cut(self, slot: SlotRecord, end: Node) -> None:
        """From now on a slot holds the path to `end` only."""
        slot.tail.clear()
        slot.node = None if end.is_root else end
        self._kv.truncate(slot.index, end.end)
        self._kv.discard_dead(slot.index)

    def _drop_copy(self, but: SlotRecord | None = None) -> bool:
        """Cuts off what is held elsewhere too, which loses nothing, from the idle slot longest unused that ends so.

        Slot `but` is about to be overwritten: what only it holds beside another one is not held elsewhere.
        """
        others = () if but is None else (but.index,)
        idle = [slot for slot in self._idle() if slot is not but and self._kv.touched(slot.index)]
        copies = [slot for slot in idle if slot.needed_length(*others) < max(slot.shared_length, 1)]
        if not copies:
            return False
        slot = min(copies, key=lambda slot: slot.last_used)
        self._cut_to(slot, slot.needed_length(*others))
        return True

    def _cut_to(self, slot: SlotRecord, length: int) -> None:
        """Cuts a slot back to its first `length` tokens, which end a node of its path."""
        if not length:
            self._forget(slot)
            return
        assert slot.node is not None
        end = next(node for node in slot.node.path() if node.end == length)
        self.tree.detach(slot.node, slot.index, end)
        self._cut(slot, end)

    def _copies(self) -> list[tuple[SlotRecord, int, int]]:
        """Idle slots that end in what is protected and in memory elsewhere too, those longest unused first.

        (slot, tokens of it that have to stay, protected tokens behind those), as if all before were cut already.
        """
        copies, cut = [], set[tuple[int, Node]]()
        for slot in sorted(self._idle(), key=lambda slot: slot.last_used):
            node, behind, doubled = slot.node, list[Node](), 0
            while node is not None and not node.is_root:
                elsewhere = node.span is not None or any(
                    (other, node) not in cut for other in node.slots - {slot.index}
                )
                if node.is_protected and not elsewhere:
                    break
                behind.append(node)
                doubled += len(node.tokens) if node.is_protected else 0
                node = node.parent
            if doubled:
                cut |= {(slot.index, each) for each in behind}
                copies.append((slot, node.end if node is not None else 0, doubled))
        return copies

    def evict(self, leaf: Node, excess: int | None = None) -> None:
        """Forgets an unprotected leaf, or only as much of its end as frees `excess` bytes."""
        assert not leaf.is_protected and not leaf.children
        keep = len(leaf.tokens) - (-(-excess // self._kv.bytes_per_token) if excess is not None else len(leaf.tokens))
        if excess is not None and keep >= _MIN_TRIM_TOKENS and not self._kv.has_state:
            self.tree.node_at(Match(leaf.end, leaf), leaf.start + keep - keep % _MIN_TRIM_TOKENS)
        self._note_eviction(leaf)
        self._empty_slots(leaf)
        self.tree.remove(leaf)

    def _note_eviction(self, end: Node) -> None:
        """The path to `end` is about to lose its last tokens."""
        self._evictions += 1
        token_ids = np.concatenate([node.tokens for node in end.path()])
        self._evicted.append(Evicted(self.tree.namespace_of(end), token_ids, self._clock()))

    def take_evicted(self) -> list[Evicted]:
        """What was evicted since the last call, as far as it is remembered."""
        taken = list(self._evicted)
        self._evicted.clear()
        return taken

    def evict_all(self) -> int:
        """Forgets everything that nothing protects, on disk too; returns how many entries that were."""
        count = 0
        for slot in self._idle():
            self._kv.discard_dead(slot.index)
        while leaves := [leaf for leaf in self.tree.leaves() if not leaf.is_protected]:
            for leaf in leaves:
                self.evict(leaf)
                count += 1
        for slot, needed, _ in self._copies():
            self._cut_to(slot, needed)
        self._kv.pool.trim(0)
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
        self._kv.pool.trim(0)
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
        now, limit = self._clock(), self.limit_bytes()
        while self.held_bytes + size > limit:
            if self._drop_copy(but=slot):
                continue
            leaf = self._least_valuable()
            if leaf is None or leaf is node or self._value(leaf, now) >= self._value(node, now):
                return False
            self._free_memory(leaf, self.held_bytes + size - limit)
        return True

    # -- numbers -------------------------------------------------------------------------------------------------

    def stats(self) -> CacheStats:
        kv, entries, tokens, evictable = self._kv, 0, 0, 0
        for node in self.tree.nodes():
            entries += not node.children
            tokens += len(node.tokens)
            if not node.is_protected:
                evictable += len(node.tokens) * kv.bytes_per_token * (len(node.slots) + (node.span is not None))
                evictable += kv.state_bytes * _holds_state(node)
        evictable += sum(doubled for _, _, doubled in self._copies()) * kv.bytes_per_token
        unused = kv.pool.bytes_free + sum(self._dead_tokens(slot) for slot in self._idle()) * kv.bytes_per_token
        total = kv.resident_bytes + kv.pool.bytes_used + kv.pool.bytes_free + self._checkpoint_bytes()
        protected = total - evictable - unused
        return CacheStats(entries, tokens, total, protected, evictable, self._evictions, self._mismatches)


def _holds_state(node: Node) -> bool:
    """Whether a node's checkpoint is in memory only."""
    return node.checkpoint is not None and node.disk is None

"""What must hold of a PrefixCache over FakeKv at every moment."""

from __future__ import annotations

from pinfill_service.cache.prefix_cache import PrefixCache
from pinfill_service.cache.prefix_tree import Node
from tests.support.fake_kv import FakeKv


def path_tokens(node: Node) -> list[int]:
    return [int(token) for above in node.path() for token in above.tokens]


def check_books(cache: PrefixCache, kv: FakeKv, *, damaged_files: bool = False) -> None:
    """Asserts the invariants of tree, slots and memory. Only damaged files excuse a mismatch."""
    spans = 0
    for node in cache.tree.nodes():
        parent = node.parent
        assert parent is not None and len(node.tokens) > 0
        assert node.start == parent.end
        assert parent.children[int(node.tokens[0])] is node
        assert node.in_memory or node.disk is not None, f"{node} has no KV"
        assert node.disk is None or parent.is_root or parent.disk is not None, f"{node} is on disk, its parent is not"
        assert parent.is_root or node.slots <= parent.slots
        assert node.references >= sum(child.references for child in node.children.values())
        tokens = path_tokens(node)
        if node.span is not None:
            assert node.span.live and node.span.tokens == tokens[node.start :], f"{node} stores other tokens' KV"
            spans += len(node.span.tokens) * kv.bytes_per_token
        if node.disk is not None:
            assert node.disk.live and node.disk.tokens == tokens[node.start :], f"{node}'s file holds other tokens' KV"
        for slot in node.slots:
            assert kv.content[slot][: node.end] == tokens, f"slot {slot} does not hold {node}"
    assert spans == kv.pool.bytes_used, "a span leaked"
    for slot in cache._slots:
        assert len(kv.content[slot.index]) == slot.shared_length + len(slot.tail)
        if slot.node is not None:
            assert kv.content[slot.index][: slot.node.end] == path_tokens(slot.node)
            assert all(slot.index in above.slots for above in slot.node.path())
        assert kv.content[slot.index][slot.shared_length :] == slot.tail
    marked = [node for node in cache.tree.nodes() if node.checkpoint is not None]
    assert all(node.checkpoint == path_tokens(node) for node in marked), "the state of other tokens"
    stats = cache.stats()
    assert stats.protected_bytes + stats.evictable_bytes + stats.unused_bytes == stats.total_bytes
    assert min(stats.protected_bytes, stats.evictable_bytes, stats.unused_bytes) >= 0
    assert stats.mismatches == 0 or damaged_files

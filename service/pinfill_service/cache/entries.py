"""The cache as people see it: a list of entries, each a path of the tree."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from pinfill_service.cache.contract import Entry, KvStore
from pinfill_service.cache.prefix_tree import Node, PrefixTree, Tokens


def entries(tree: PrefixTree, kv: KvStore) -> Iterator[Entry]:
    """Every leaf, and every node at which a pin ends."""
    for node in tree.nodes():
        if not node.children or _ends_pin(node):
            yield _entry(tree, kv, node)


def entry_id(namespace: str, token_ids: Tokens) -> str:
    """The same prefix always has the same id."""
    digest = hashlib.sha256(f"{namespace}\0".encode())
    digest.update(token_ids.astype("<i4").tobytes())
    return digest.hexdigest()[:16]


def _ends_pin(node: Node) -> bool:
    return node.pinned > sum(child.pinned for child in node.children.values())


def _entry(tree: PrefixTree, kv: KvStore, node: Node) -> Entry:
    path = node.path()
    shared = [above.end for above in path[:-1] if len(above.children) > 1 or _ends_pin(above)]
    in_memory = sum(len(above.tokens) for above in path if above.in_memory)
    on_disk = sum(len(above.tokens) for above in path if above.disk is not None)
    return Entry(
        namespace=tree.namespace_of(node),
        token_ids=np.concatenate([above.tokens for above in path]),
        shared_tokens=node.end if node.children else max(shared, default=0),
        memory_bytes=in_memory * kv.bytes_per_token,
        disk_bytes=on_disk * kv.bytes_per_token,
        pinned=_ends_pin(node),
        in_use=node.references > 0,
        hits=node.hits,
        last_used=node.last_used,
    )

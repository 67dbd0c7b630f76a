"""The index of everything cached: a token tree whose nodes say where the KV of their tokens can be found.

A node's KV lives in stored pages (its span), in a file (`disk`), in live slots, or in several of them. The tree holds
no KV and never copies any; it keeps the books. Ideas: SGLang's radix cache (shared nodes, lock references), vLLM's
block pool (value types).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int32]
EMPTY: Tokens = np.empty(0, np.int32)

# Finding the first difference in pieces touches little memory when prompts differ early.
_FIRST_COMPARED = 256


class Span(Protocol):
    """Stored KV of a run of tokens."""

    def split(self, count: int) -> tuple[Any, Any]:
        """Two spans: the first `count` tokens and the rest. This one must not be used afterwards."""
        ...

    def is_sound(self) -> bool:
        """Whether its KV may be used."""
        ...

    def free(self) -> None:
        """Gives the memory back. Must be called exactly once on every span that is not split."""
        ...


class Node:
    """A run of tokens after its parent's. `checkpoint`: the state behind its last token, for models that have one.
    `session`: of the last request that ended in it, empty for one that nobody goes on from.

    Invariants: `tokens` is not empty (but for roots); children begin with different tokens; `slots` of a child is a
    subset of its parent's; a node on disk has a parent on disk, or the root; `references` is at least the sum of the
    children's; KV is somewhere: span, disk or slots not empty, except while a node is being dropped.
    """

    __slots__ = (
        "checkpoint", "children", "disk", "hits", "last_used", "parent", "pinned", "references", "session", "slots",
        "span", "start", "tokens",
    )  # fmt: skip

    def __init__(self, tokens: Tokens, parent: Node | None, now: float) -> None:
        self.tokens = tokens
        self.parent = parent
        self.start: int = 0 if parent is None else parent.end
        self.children: dict[int, Node] = {}
        self.span: Any | None = None
        self.disk: Any | None = None
        self.checkpoint: Any | None = None
        self.slots: set[int] = set()
        self.references = 0
        self.pinned = 0
        self.last_used = now
        self.hits = 0
        self.session = ""

    @property
    def end(self) -> int:
        return self.start + len(self.tokens)

    @property
    def is_root(self) -> bool:
        return self.parent is None

    @property
    def in_memory(self) -> bool:
        return self.span is not None or bool(self.slots)

    def is_only_in(self, *slots: int) -> bool:
        """Whether these slots, one of which holds it, are all the places where its KV is."""
        return self.span is None and self.disk is None and self.slots <= set(slots)

    @property
    def is_protected(self) -> bool:
        return self.references > 0 or self.pinned > 0

    def path(self) -> list[Node]:
        """From the first node below the root down to this one."""
        nodes: list[Node] = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def __repr__(self) -> str:
        return f"<Node {self.start}..{self.end} slots={sorted(self.slots)} span={self.span is not None}>"


@dataclass(frozen=True, slots=True)
class Match:
    """The longest cached prefix: `length` tokens, the last of them inside `node` (the root when length is 0)."""

    length: int
    node: Node


def common_prefix(a: Tokens, b: Tokens) -> int:
    """How many tokens `a` and `b` share from the start."""
    limit = min(len(a), len(b))
    done, size = 0, _FIRST_COMPARED
    while done < limit:
        stop = min(done + size, limit)
        different = a[done:stop] != b[done:stop]
        first = int(different.argmax())
        if different[first]:
            return done + first
        done, size = stop, size * 4
    return limit


class PrefixTree:
    """Token trees by namespace. Not thread-safe: the engine thread owns it.

    Invariants: nothing matches across namespaces; a lookup changes nothing; references and pins of a node count on
    every node above it, so a protected node never hangs below an unprotected one.
    """

    def __init__(self) -> None:
        self._roots: dict[str, Node] = {}

    def root(self, namespace: str) -> Node:
        if namespace not in self._roots:
            self._roots[namespace] = Node(EMPTY, None, 0.0)
        return self._roots[namespace]

    def namespace_of(self, node: Node) -> str:
        root = node.path()[0].parent
        return next(name for name, other in self._roots.items() if other is root)

    def match(self, namespace: str, tokens: Tokens) -> Match:
        """The longest prefix of `tokens` that is cached. No side effects."""
        node = self._roots.get(namespace)
        if node is None:
            return Match(0, Node(EMPTY, None, 0.0))
        position = 0
        while position < len(tokens):
            child = node.children.get(int(tokens[position]))
            if child is None:
                break
            shared = common_prefix(child.tokens, tokens[position:])
            position, node = position + shared, child
            if shared < len(child.tokens):
                break
        return Match(position, node)

    def node_at(self, match: Match, length: int) -> Node:
        """The node that ends exactly at `length` <= match.length on the matched path; splits one where needed."""
        node = match.node
        while node.parent is not None and node.start >= length:
            node = node.parent
        return node if node.end == length else self._split(node, length - node.start)

    def insert(self, parent: Node, tokens: Tokens, slot: int, now: float, *, begins: bool = False) -> Node:
        """Records that `slot` holds `tokens` after `parent`'s path, which it holds already. Returns the deepest node.

        A leaf that only this slot holds grows in place, so that a prompt evaluated in chunks stays one node. `begins`:
        these are the first tokens of another prompt, which get a node, and uses, of their own.
        """
        while len(tokens):
            child = parent.children.get(int(tokens[0]))
            if child is None:
                return self._append(parent, tokens, slot, now, begins)
            shared = common_prefix(child.tokens, tokens)
            if shared < len(child.tokens):
                child = self._split(child, shared)
            child.slots.add(slot)
            parent, tokens, begins = child, tokens[shared:], False
        return parent

    def _append(self, parent: Node, tokens: Tokens, slot: int, now: float, begins: bool) -> Node:
        grows = (
            not begins and not parent.is_root and not parent.children and parent.span is None and parent.slots == {slot}
        )
        if grows and not parent.pinned and parent.disk is None and parent.checkpoint is None:
            parent.tokens = np.concatenate([parent.tokens, tokens])
            return parent
        node = Node(tokens.copy(), parent, now)
        if not begins and not parent.is_root and not parent.children:
            node.hits = parent.hits
        node.slots.add(slot)
        parent.children[int(tokens[0])] = node
        return node

    def _split(self, node: Node, count: int) -> Node:
        """Cuts the first `count` tokens off into a new parent and returns it; `node` keeps its identity below it."""
        parent = node.parent
        assert parent is not None and 0 < count < len(node.tokens)
        upper = Node(node.tokens[:count], parent, node.last_used)
        upper.hits, upper.session = node.hits, node.session
        upper.slots, upper.references, upper.pinned = set(node.slots), node.references, node.pinned
        if node.span is not None:
            upper.span, node.span = node.span.split(count)
        if node.disk is not None:
            upper.disk, node.disk = node.disk.split(count)
        parent.children[int(upper.tokens[0])] = upper
        node.tokens, node.parent, node.start = node.tokens[count:], upper, upper.end
        upper.children[int(node.tokens[0])] = node
        return upper

    def reference(self, node: Node, change: int) -> None:
        """Counts a use of `node` (or takes it back) on its whole path, the root included."""
        above: Node | None = node
        while above is not None:
            above.references += change
            assert above.references >= 0
            if above.is_root:
                self._prune(above)
            above = above.parent

    def pin(self, node: Node, change: int) -> None:
        """Protects `node` and everything above it from eviction, or takes that back."""
        for above in node.path():
            above.pinned += change
            assert above.pinned >= 0

    def detach(self, node: Node, slot: int, keep: Node) -> None:
        """`slot`, which holds the path to `node`, is about to hold only the path to `keep` above it."""
        while node is not keep:
            node.slots.discard(slot)
            above = node.parent
            assert above is not None
            if not node.in_memory and node.disk is None:
                self.pin(node, -node.pinned)
                self._drop_subtree(node)
            node = above

    def remove(self, leaf: Node) -> None:
        """Forgets a leaf and frees its span."""
        assert not leaf.children and leaf.parent is not None
        for span in (leaf.span, leaf.disk):
            if span is not None:
                span.free()
        leaf.span = leaf.disk = None
        del leaf.parent.children[int(leaf.tokens[0])]
        self._prune(leaf.parent)
        leaf.parent = None

    def graft(self, namespace: str, tokens: Tokens, start: int, disk: Any, now: float) -> bool:
        """Records that a file holds the KV of `tokens[start:]`, and takes over the span.

        False, and the span is freed, when the tokens before `start` are not all on disk: it could never be reached.
        Nodes that a file holds already keep that one.
        """
        match = self.match(namespace, tokens[:start])
        parent = self.root(namespace) if start == 0 else self.node_at(match, min(start, match.length))
        if parent.end != start or not (parent.is_root or parent.disk is not None):
            disk.free()
            return False
        rest = tokens[start:]
        while len(rest):
            child = parent.children.get(int(rest[0]))
            shared = 0 if child is None else common_prefix(child.tokens, rest)
            if child is None:
                child = parent.children[int(rest[0])] = Node(rest.copy(), parent, now)
                shared = len(rest)
            elif shared < len(child.tokens):
                child = self._split(child, shared)
            own, disk = disk.split(shared) if shared < len(rest) else (disk, None)
            if child.disk is None:
                child.disk = own
            else:
                own.free()
            parent, rest = child, rest[shared:]
        return True

    def forget_disk(self, node: Node) -> None:
        """Frees the file's KV of a node and of everything below it; what has no other KV is forgotten."""
        for child in list(node.children.values()):
            self.forget_disk(child)
        if node.disk is not None:
            node.disk.free()
            node.disk = None
        if not node.in_memory and node.parent is not None:
            self.pin(node, -node.pinned)
            self._drop_subtree(node)

    def _prune(self, root: Node) -> None:
        """Unused empty roots go, so that salts leave nothing behind."""
        if root.is_root and not root.children and not root.references:
            self._roots = {name: other for name, other in self._roots.items() if other is not root}

    def _drop_subtree(self, node: Node) -> None:
        """A node without KV makes everything below it unreachable."""
        for child in list(node.children.values()):
            self._drop_subtree(child)
        self.remove(node)

    def nodes(self) -> Iterator[Node]:
        """Every node but the roots, parents before children."""
        stack = [child for root in self._roots.values() for child in root.children.values()]
        while stack:
            node = stack.pop()
            stack.extend(node.children.values())
            yield node

    def leaves(self) -> Iterator[Node]:
        return (node for node in self.nodes() if not node.children)

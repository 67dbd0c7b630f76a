"""How cached prefixes get to files, and come back from those of an earlier run."""

from __future__ import annotations

from typing import Any

from pinfill_service.cache.cache_memory import CacheMemory
from pinfill_service.cache.contract import Snapshot
from pinfill_service.cache.prefix_tree import Tokens


class CacheFiles(CacheMemory):
    """The books of what is in files; writing and reading them is `engine.persistence`'s."""

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
        match = self.tree.match(namespace, tokens)
        node = match.node
        if match.length < node.end:  # it ends within a longer one
            return
        while not node.is_root and not node.pinned and not any(child.disk for child in node.children.values()):
            above = node.parent
            assert above is not None
            self.tree.forget_disk(node)
            node = above

"""What is known of one slot."""

from __future__ import annotations

from dataclasses import dataclass, field

from pinfill_service.cache.prefix_tree import Node


@dataclass(slots=True)
class SlotRecord:
    """What a slot holds: the path to `node`, then `tail` tokens that must not be reused (see PrefixCache)."""

    index: int
    node: Node | None = None
    tail: list[int] = field(default_factory=list)
    busy: bool = False
    private: bool = False
    namespace: str = ""
    session: str = ""  # of the sequence that runs or ran in it
    begun: Node | None = None  # what that went on from
    continues: bool = False  # whether that was the greater part of its prompt
    last_used: float = 0.0

    @property
    def shared_length(self) -> int:
        return 0 if self.node is None else self.node.end

    def held(self, path: list[Node]) -> int:
        """How many tokens of a path, given from the root down, this slot holds."""
        end = 0
        for node in path:
            if self.index not in node.slots:
                break
            end = node.end
        return end

    def needed_length(self, *others: int) -> int:
        """Tokens up to the last one that only this slot, and `others`, hold; what is behind can be had elsewhere."""
        node = self.node
        while node is not None and not node.is_only_in(self.index, *others):
            node = node.parent
        return 0 if node is None else node.end

    def loss(self, keep: int) -> int:
        """Tokens beyond the first `keep` that only this slot holds."""
        lost, node = 0, self.node
        while node is not None and node.end > keep:
            if node.is_only_in(self.index):
                lost += node.end - max(node.start, keep)
            node = node.parent
        return lost

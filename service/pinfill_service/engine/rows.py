"""Which neighbouring slots are decoded together."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def row_groups(running: Sequence[int], length: Callable[[int], int], weight_tokens: float) -> list[tuple[int, int]]:
    """Splits slot numbers, in rising order, into views [first, last) that are each one run of the graph.

    A gap of slots that do not run costs reading their KV; a run of its own costs reading the weights once more. Both go
    at memory speed, so a gap is bridged while its tokens weigh less than the weights: `weight_tokens` is the weights'
    size in tokens of KV.
    """
    groups: list[tuple[int, int]] = []
    for slot in running:
        if groups and sum(length(gap) for gap in range(groups[-1][1], slot)) < weight_tokens:
            groups[-1] = (groups[-1][0], slot + 1)
        else:
            groups.append((slot, slot + 1))
    return groups

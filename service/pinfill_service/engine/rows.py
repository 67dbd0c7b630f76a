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


def level_row_groups(
    running: Sequence[int], length: Callable[[int], int], weight_tokens: float
) -> list[tuple[int, int]]:
    """Like `row_groups`, for graphs with windowed layers, whose rows all look back from one position.

    That position follows from the shortest row. What longer rows have in front of their own window is read for nothing,
    so neighbours go together while that weighs less than the weights; gaps, which may be empty, are never bridged.
    """
    groups: list[tuple[int, int]] = []
    for slot in running:
        if groups and groups[-1][1] == slot:
            lengths = [length(row) for row in range(groups[-1][0], slot + 1)]
            if sum(lengths) - len(lengths) * min(lengths) < weight_tokens:
                groups[-1] = (groups[-1][0], slot + 1)
                continue
        groups.append((slot, slot + 1))
    return groups

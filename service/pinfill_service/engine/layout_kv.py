"""How a graph keeps its KV: appended in place, in buffers of a fixed length, or grown by concatenation."""

from __future__ import annotations

from dataclasses import dataclass

from pinfill_service.engine.graph_facts import GraphFacts, TensorFacts
from pinfill_service.engine.layout_files import LayoutError
from pinfill_service.engine.layout_model import Names

_LENGTH = 2  # the dimension of [batch, heads, length, head_size] that grows


@dataclass(frozen=True, slots=True)
class KvKind:
    """`head_size` is that of the first layer's keys, None when the graph leaves it open."""

    appends_in_place: bool
    fixed_length: int | None
    head_size: int | None
    heads: tuple[int, ...]  # of each layer


def kv_kind(facts: GraphFacts, names: Names, layers: tuple[int, ...]) -> KvKind:
    """Decides it from shapes and operators alone. Raises LayoutError when the tensors do not fit together.

    In place needs an operator that does so for every single tensor; where one is made otherwise, all of them are
    treated as growing, which those operators can do as well.
    """
    pairs, heads = [], []
    for layer in layers:
        key = _pair(facts, names.past_key % layer, names.present_key % layer)
        value = _pair(facts, names.past_value % layer, names.present_value % layer)
        if key[0].shape[1] != value[0].shape[1]:
            raise LayoutError(f"layer {layer} of the graph has other numbers of KV heads for keys than for values")
        heads.append(int(key[0].shape[1]))
        pairs += [key, value]
    in_place = all((past.name, present.name) in facts.appended for past, present in pairs)
    lengths = {past.shape[_LENGTH] for past, _ in pairs}
    fixed = next((length for length in lengths if isinstance(length, int)), None)
    if fixed is not None and (len(lengths) > 1 or not in_place):
        raise LayoutError("the graph's KV has a fixed length and is not appended in place: it cannot be continued")
    size = pairs[0][0].shape[3]
    return KvKind(in_place, fixed, size if isinstance(size, int) else None, tuple(heads))


def _pair(facts: GraphFacts, past: str, present: str) -> tuple[TensorFacts, TensorFacts]:
    """One KV tensor before and after a run, whose shapes were compared."""
    if past not in facts.inputs or present not in facts.outputs:
        raise LayoutError(f"the graph has no input {past[:100]!r} or no output {present[:100]!r}")
    before, after = facts.inputs[past], facts.outputs[present]
    if len(before.shape) != 4:
        raise LayoutError(f"the graph's KV is {len(before.shape)}-dimensional; [batch, heads, length, size] is needed")
    sizes = [size for size in before.shape[1:] if isinstance(size, int)]
    if not isinstance(before.shape[1], int) or any(not 0 < size < 1 << 24 for size in sizes):
        raise LayoutError(
            f"the graph does not say how many KV heads {past[:100]!r} has, or gives it an impossible shape"
        )
    if len(after.shape) == 4 and any(_differ(before.shape[dim], after.shape[dim]) for dim in (1, 3)):
        raise LayoutError(
            f"the graph's {past[:100]!r} and {present[:100]!r} have other numbers of KV heads, or head sizes"
        )
    if before.dtype != after.dtype:
        raise LayoutError(f"the graph's {past[:100]!r} and {present[:100]!r} are of different types")
    return before, after


def _differ(one: int | str, other: int | str) -> bool:
    return isinstance(one, int) and isinstance(other, int) and one != other

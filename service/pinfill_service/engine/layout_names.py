"""Finds the graph's inputs and outputs for KV and other state, and checks that they fit together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pinfill_service.engine.graph_facts import GraphFacts, TensorFacts
from pinfill_service.engine.layout_files import LayoutError
from pinfill_service.engine.layout_model import Names

# What says that a graph is not a plain text decoder, and what it is then.
_FOREIGN = {
    "encoder": "an encoder-decoder model",
    "decoder_input": "an encoder-decoder model",
    "pixel": "a vision model",
    "image": "a vision model",
    "vision": "a vision model",
    "audio": "an audio model",
    "input_features": "an audio model",
    "inputs_embeds": "a part of a vision or audio model: it takes embeddings, not tokens",
}
_LAYER = "(0|[1-9][0-9]{0,3})"


def check_pattern(pattern: str, where: str) -> str:
    """The pattern, when `pattern % layer` is safe. Raises LayoutError."""
    if pattern.count("%") != 1 or "%d" not in pattern or len(pattern) > 200:
        raise LayoutError(f"{where} is malformed: {pattern[:200]!r} must have one %d, for the layer")
    return pattern


def layers_of(pattern: str, names: Iterable[str]) -> tuple[int, ...]:
    """The layers for which there is a name of that pattern, in order."""
    before, after = pattern.split("%d")
    expression = re.compile(re.escape(before) + _LAYER + re.escape(after))
    return tuple(sorted(int(found[1]) for found in map(expression.fullmatch, names) if found))


def complete_names(names: Names, facts: GraphFacts) -> tuple[Names, tuple[int, ...]]:
    """`names` with the patterns of KV (when those given do not fit) and of states found; and the layers with KV.

    Raises LayoutError for a graph that is no text decoder, has inputs nobody could feed, or has no KV.
    """
    _check_kind(names, facts)
    if not layers_of(names.past_key, facts.inputs):
        names = _find_kv(names, facts)
    layers = layers_of(names.past_key, facts.inputs)
    kv = {pattern % layer for pattern in (names.past_key, names.past_value) for layer in layers}
    usual = {names.input_ids, names.attention_mask, names.position_ids, names.use_cache_branch, "num_logits_to_keep"}
    given = {past % layer for past, _ in names.states for layer in layers_of(past, facts.inputs)}
    names = replace(names, states=tuple(pair for pair in names.states if layers_of(pair[0], facts.inputs)))
    rest = {name: item for name, item in facts.inputs.items() if name not in kv | usual | given}
    names = replace(names, states=names.states + _find_states(names, rest, facts, layers))
    return names, layers


def _check_kind(names: Names, facts: GraphFacts) -> None:
    """Refuses what is no decoder of text, by the names of its inputs and outputs."""
    for name in facts.inputs:
        kind = next((kind for word, kind in _FOREIGN.items() if word in name.lower()), None)
        if kind is not None:
            raise LayoutError(f"this is {kind} (input {name[:100]!r}); only text decoders can be run")
    if names.input_ids not in facts.inputs or names.logits not in facts.outputs:
        raise LayoutError(f"the graph has no input {names.input_ids!r} or no output {names.logits!r}: no text decoder")


def _pattern(name: str) -> str | None:
    """The name with %d for its layer number: the first number that stands alone, or else the last one."""
    if "%" in name:
        return None
    alone = re.search(r"(?<![A-Za-z0-9])[0-9]+(?![A-Za-z0-9])", name)
    found = alone or next(iter(reversed(list(re.finditer(r"[0-9]+", name)))), None)
    return None if found is None else f"{name[: found.start()]}%d{name[found.end() :]}"


def _find_kv(names: Names, facts: GraphFacts) -> Names:
    """KV under other names than the usual: 4-dimensional, with `key` or `value` among the words of the name."""
    found: dict[str, tuple[str, str]] = {}
    usual = names.past_key == Names().past_key  # otherwise the folder's configuration gave the name
    for name, item in facts.inputs.items() if usual else ():
        pattern = _pattern(name)
        words = re.split(r"[^a-z]+", name.lower().replace("past_key_values", "").replace("key_value", ""))
        for kind, spellings in (("key", {"key", "keys", "k"}), ("value", {"value", "values", "v"})):
            if pattern is not None and len(item.shape) == 4 and spellings.intersection(words) and kind not in found:
                present = _present(pattern, layers_of(pattern, facts.inputs), facts)
                if present is not None:
                    found[kind] = (pattern, present)
    if found.keys() != {"key", "value"}:
        raise LayoutError(
            f"the graph has no input {names.past_key % 0!r}, nor others that look like KV: export it with its cache"
        )
    (past_key, present_key), (past_value, present_value) = found["key"], found["value"]
    return replace(
        names, past_key=past_key, past_value=past_value, present_key=present_key, present_value=present_value
    )


def _present(past: str, layers: tuple[int, ...], facts: GraphFacts) -> str | None:
    """The pattern of the outputs that continue the inputs of pattern `past`."""
    guesses = [past.replace(old, new) for old, new in (("past_key_values", "present"), ("past", "present"))]
    guesses += [past.replace("past_key_values", "present_key_values"), past.replace("_in", "_out"), f"{past}_out"]
    for guess in guesses:
        if guess != past and layers_of(guess, facts.outputs) == layers:
            return guess
    # Otherwise the one output pattern with the same layers, type and rank.
    mine = facts.inputs[past % layers[0]]
    patterns = {pattern for pattern in map(_pattern, facts.outputs) if pattern is not None}
    same = [p for p in patterns if layers_of(p, facts.outputs) == layers and _alike(mine, facts.outputs[p % layers[0]])]
    return same[0] if len(same) == 1 else None


def _alike(one: TensorFacts, other: TensorFacts) -> bool:
    """Whether two tensors can be the same state, as far as sizes are given."""
    fits = all(
        a == b for a, b in zip(one.shape, other.shape, strict=False) if isinstance(a, int) and isinstance(b, int)
    )
    return one.dtype == other.dtype and len(one.shape) == len(other.shape) and fits


def _find_states(
    names: Names, rest: Mapping[str, TensorFacts], facts: GraphFacts, kv_layers: tuple[int, ...]
) -> tuple[tuple[str, str], ...]:
    """Pairs of patterns for the inputs in `rest`. Raises LayoutError for one that no output continues."""
    states: dict[str, str] = {}
    for name in rest:
        pattern = _pattern(name)
        if pattern in states:
            continue
        layers = layers_of(pattern, facts.inputs) if pattern is not None else ()
        present = _present(pattern, layers, facts) if pattern is not None and layers else None
        if pattern is None or present is None:
            raise LayoutError(f"the graph wants an input that this version does not know: {name[:100]!r}")
        states[pattern] = present
    return tuple(states.items())

"""Joins what a folder's configuration claims with what its graph says. Where both say something, the graph is right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pinfill_service.engine.graph_facts import GraphFacts, read_facts
from pinfill_service.engine.layout_files import LayoutError, ModelFolder
from pinfill_service.engine.layout_kv import KvKind, kv_kind
from pinfill_service.engine.layout_model import ModelLayout, Names
from pinfill_service.engine.layout_names import complete_names

_MAX_VOCABULARY = 1 << 24


@dataclass(frozen=True, slots=True)
class Claims:
    """What a configuration says; None where it says nothing."""

    context_length: int | None
    vocab_size: int | None
    head_size: int | None
    kv_heads: int | None
    eos_ids: tuple[int, ...]
    bos_id: int | None
    names: Names = field(default_factory=Names)
    session_options: Mapping[str, str] = field(default_factory=dict)


def join(folder: ModelFolder, graph: Path, claims: Claims, source: str) -> ModelLayout:
    """The layout. Reads the graph. Raises LayoutError for what is missing, does not fit, or is not supported."""
    facts = read_facts(folder, graph, input_ids=claims.names.input_ids, logits=claims.names.logits)
    _check_metadata(facts)
    names, layers = complete_names(claims.names, facts)
    kind = kv_kind(facts, names, layers)
    if claims.kv_heads is not None and claims.kv_heads not in kind.heads:
        raise LayoutError(f"the configuration says {claims.kv_heads} KV heads, the graph has {kind.heads[0]}")
    if claims.context_length is None:
        raise LayoutError("the configuration does not say the context length (max_position_embeddings)")
    return ModelLayout(
        folder=folder.path,
        graph=graph,
        names=names,
        # A graph that switches its position factors by itself can be run up to there; an import makes it run beyond.
        context_length=min(n for n in (claims.context_length, kind.fixed_length, facts.rope_switch) if n is not None),
        vocab_size=_vocabulary(facts, names, claims),
        head_size=_head_size(kind, claims),
        eos_ids=claims.eos_ids,
        bos_id=claims.bos_id,
        session_options=claims.session_options,
        facts=facts,
        kv_layers=layers,
        source=source,
        appends_in_place=kind.appends_in_place,
        fixed_kv_length=kind.fixed_length,
    )


def with_variant(layout: ModelLayout, variant: str, reason: str) -> ModelLayout:
    """The layout with the choice among a folder's graphs."""
    if layout.facts.scales_whole_chunks:
        reason += "; it scales whole chunks, so an answer on reused tokens is close to a cold run's, not equal"
    return replace(layout, variant=variant, variant_reason=reason)


def _check_metadata(facts: GraphFacts) -> None:
    """What the engine reads of a graph's metadata must be numbers, and there when the graph needs it."""
    metadata = facts.metadata
    number = "[0-9]{1,9}"
    forms = {
        "pinfill.window": number,
        "pinfill.rope_switch": number,
        "pinfill.windowed_layers": f"{number}(,{number})*",
    }
    for key, form in forms.items():
        if not re.fullmatch(form, metadata.get(key, "0")):
            raise LayoutError(f"the graph's metadata {key!r} is malformed")
    together = {"pinfill.window": "pinfill.windowed_layers", "pinfill.windowed_layers": "pinfill.window"}
    missing = next((other for key, other in together.items() if key in metadata and other not in metadata), None)
    if missing is None and "rope_offset" in facts.optional and "pinfill.rope_switch" not in metadata:
        missing = "pinfill.rope_switch"
    if missing is not None:
        raise LayoutError(f"the graph lacks the metadata {missing!r}")


def _head_size(kind: KvKind, claims: Claims) -> int:
    size = kind.head_size or claims.head_size
    if size is None:
        raise LayoutError("neither the graph nor the configuration says the size of an attention head")
    return size


def _vocabulary(facts: GraphFacts, names: Names, claims: Claims) -> int:
    """The number of logits; it must be what the output head computes, and the token table must have a row for each."""
    shape = facts.outputs[names.logits].shape
    declared = shape[-1] if shape else ""
    size = declared if isinstance(declared, int) else facts.head_width or claims.vocab_size
    if size is None or not 0 < size <= _MAX_VOCABULARY:
        raise LayoutError("neither the graph nor the configuration says a possible size of the vocabulary")
    if facts.head_width is not None and facts.head_width != size:
        raise LayoutError(f"the graph says {size} logits, but its output head computes {facts.head_width}")
    if facts.table_rows is not None and facts.table_rows < size:
        raise LayoutError(f"the graph gives {size} logits, but its token table has {facts.table_rows} rows")
    return size

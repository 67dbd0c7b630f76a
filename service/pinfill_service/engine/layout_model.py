"""What the engine has to know about a model folder, whichever program wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pinfill_service.engine.graph_facts import GraphFacts


@dataclass(frozen=True, slots=True)
class Names:
    """The graph's own names for what the engine feeds and reads. `past` and `present` map a pattern's layer number."""

    input_ids: str = "input_ids"
    attention_mask: str = "attention_mask"
    position_ids: str = "position_ids"
    logits: str = "logits"
    past_key: str = "past_key_values.%d.key"
    past_value: str = "past_key_values.%d.value"
    present_key: str = "present.%d.key"
    present_value: str = "present.%d.value"
    use_cache_branch: str = "use_cache_branch"  # of merged decoders
    states: tuple[tuple[str, str], ...] = ()  # (past, present) patterns of state beside KV: convolution, SSM


@dataclass(frozen=True, slots=True)
class ModelLayout:
    """One model folder, whichever program wrote it."""

    folder: Path
    graph: Path
    names: Names
    context_length: int
    vocab_size: int
    head_size: int  # graphs may leave it symbolic
    eos_ids: tuple[int, ...]
    bos_id: int | None
    session_options: Mapping[str, str]
    facts: GraphFacts
    kv_layers: tuple[int, ...]  # the layers that have KV; others carry state, or none
    source: str = "onnxruntime-genai"  # or "optimum", "transformers.js"
    appends_in_place: bool = True  # False: past and present are different tensors, KV grows by concatenation
    fixed_kv_length: int | None = None  # positions, when the graph's KV inputs have that length and no other
    variant: str | None = None  # which of a folder's graphs: "fp32", "q4", ...; None when the folder names one
    variant_reason: str = ""  # why that one

    @property
    def widest_head(self) -> int:
        """The largest head size of any KV tensor."""
        sizes = (self.facts.inputs[self.names.past_key % layer].shape[3] for layer in self.kv_layers)
        return max(size if isinstance(size, int) else self.head_size for size in sizes)

"""What can be told about a model on this machine without loading its weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pinfill_service.engine.layout import GraphFacts, ModelLayout, read_layout
from pinfill_service.engine.layout_names import layers_of
from pinfill_service.engine.provider_choice import ProviderError, choose_provider
from pinfill_service.engine.provider_libraries import survey
from pinfill_service.engine.providers import RuntimeMissingError
from pinfill_service.models.library import InstalledModel
from pinfill_service.models.sidecar import SIDECAR, Sidecar
from pinfill_service.prompt.template import TemplateError, load_template, read_json
from pinfill_service.prompt.tools.formats import tool_format
from pinfill_service.settings import Settings

_DTYPES = {"float": "float32"}  # where ONNX' name differs from everybody else's


@dataclass(frozen=True, slots=True)
class KvFacts:
    """What a token costs. `kind` is "appends in place", "grows by concatenation" or "fixed length".

    `bytes_per_token` is by type of number. `window` is in tokens, `windowed_layers` how many of `layers` have it; their
    KV is kept whole all the same. `states` are inputs that cannot be cut back (convolution, SSM), of `state_bytes` in
    all, whatever the number of tokens.
    """

    kind: str
    fixed_length: int | None
    layers: int
    bytes_per_token: Mapping[str, int]
    window: int | None
    windowed_layers: int
    states: tuple[str, ...]
    state_bytes: int


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model, its files in bytes by relative path, and where it would run with the present settings.

    `rope_switch`: longer requests are evaluated with other position factors, and share no KV with shorter ones.
    `exact_reuse` is False for graphs whose results depend on how a prompt is cut into chunks.
    """

    model: InstalledModel
    files: Mapping[str, int]
    layout: str
    graph: str
    variant: str | None
    variant_reason: str
    architecture: str | None
    quantisation: str | None
    changes: tuple[str, ...]
    kv: KvFacts
    context_length: int
    rope_switch: int | None
    vocab_size: int
    eos_ids: tuple[int, ...]
    chat_template: bool
    tools: bool
    exact_reuse: bool
    provider: str | None
    provider_reason: str


def model_facts(model: InstalledModel, sidecar: Sidecar | None, settings: Settings) -> ModelFacts:
    """Raises LayoutError for a folder that cannot be run."""
    layout = read_layout(model.path, dtype=sidecar.dtype if sidecar else None)
    switch = layout.facts.metadata.get("pinfill.rope_switch")
    provider, reason = _provider(settings, layout.facts)
    has_template = _has_template(model.path)
    return ModelFacts(
        model=model,
        files=_files(model.path),
        layout=layout.source,
        graph=layout.graph.relative_to(layout.folder).as_posix(),
        variant=layout.variant,
        variant_reason=layout.variant_reason,
        architecture=(sidecar.architecture if sidecar else None) or _architecture(model.path),
        quantisation=(sidecar.quantisation if sidecar else None) or layout.variant,
        changes=sidecar.changes if sidecar else (),
        kv=kv_facts(layout),
        context_length=layout.context_length,
        rope_switch=None if switch is None else int(switch),
        vocab_size=layout.vocab_size,
        eos_ids=layout.eos_ids,
        chat_template=has_template,
        tools=has_template and shows_tools(model.path),
        exact_reuse=not layout.facts.scales_whole_chunks,
        provider=provider,
        provider_reason=reason,
    )


def kv_facts(layout: ModelLayout) -> KvFacts:
    """From the shapes in the graph."""
    facts, names = layout.facts, layout.names
    per_token: Counter[str] = Counter()
    for pattern in (names.past_key, names.past_value):
        for layer in layout.kv_layers:
            tensor = facts.inputs[pattern % layer]
            heads, size = tensor.shape[1], tensor.shape[3]
            dtype = _DTYPES.get(tensor.dtype, tensor.dtype)
            width = int(heads) * (size if isinstance(size, int) else layout.head_size)
            per_token[dtype] += width * np.dtype(dtype).itemsize
    windowed = [layer for layer in facts.metadata.get("pinfill.windowed_layers", "").split(",") if layer]
    kind = "appends in place" if layout.appends_in_place else "grows by concatenation"
    states = [past % layer for past, _ in names.states for layer in layers_of(past, facts.inputs)]
    return KvFacts(
        kind=kind if layout.fixed_kv_length is None else "fixed length",
        fixed_length=layout.fixed_kv_length,
        layers=len(layout.kv_layers),
        bytes_per_token=dict(per_token),
        window=int(facts.metadata["pinfill.window"]) if windowed else None,
        windowed_layers=len(windowed),
        states=tuple(states),
        state_bytes=sum(_state_bytes(facts, state) for state in states),
    )


def shows_tools(folder: Path) -> bool:
    """Whether the chat template has a form of its own for tools, calls and results."""
    try:
        return tool_format(load_template(folder)).native
    except TemplateError:
        return False


def _state_bytes(facts: GraphFacts, name: str) -> int:
    tensor = facts.inputs[name]
    sizes = [size for size in tensor.shape[1:] if isinstance(size, int)]
    return math.prod(sizes) * np.dtype(_DTYPES.get(tensor.dtype, tensor.dtype)).itemsize


def _files(folder: Path) -> dict[str, int]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SIDECAR)
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}


def _architecture(folder: Path) -> str | None:
    """As the folder's own configuration names it."""
    model = read_json(folder / "genai_config.json").get("model")
    named = [model.get("type")] if isinstance(model, dict) else []
    named.append(read_json(folder / "config.json").get("model_type"))
    return next((value for value in named if isinstance(value, str)), None)


def _has_template(folder: Path) -> bool:
    stored = read_json(folder / "tokenizer_config.json").get("chat_template")
    return (folder / "chat_template.jinja").is_file() or stored is not None


def _provider(settings: Settings, facts: GraphFacts) -> tuple[str | None, str]:
    """(execution provider, why); None with the reason when the model cannot run with these settings."""
    try:
        choice = choose_provider(settings, facts, survey(settings, facts))
    except (ProviderError, RuntimeMissingError) as error:
        return None, str(error)
    return choice.name, choice.reason

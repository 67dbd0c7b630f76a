"""pinfill models show"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import format_bytes, out, print_json

if TYPE_CHECKING:
    from pinfill_service.models.model_facts import KvFacts, ModelFacts


def show_model(
    name: Annotated[str, typer.Argument(help="A model on this machine.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell what a model is, what its KV costs and where it would run."""
    from pinfill_service.models.library import ModelLibrary
    from pinfill_service.models.model_facts import model_facts
    from pinfill_service.settings import Settings, home

    library = ModelLibrary(home())
    facts = model_facts(library.describe(name), library.sidecar(name), Settings.from_flags())
    if json:
        shown = asdict(facts)
        model = shown.pop("model")
        print_json({**model, "path": str(facts.model.path), **shown})
        return
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for title, value in _lines(facts):
        table.add_row(title, value)
    out().print(table)


def _lines(facts: ModelFacts) -> Iterator[tuple[str, str]]:
    model = facts.model
    yield "Model", model.name
    if model.outdated is not None:
        yield "Outdated", model.outdated
    yield "From", model.source or "put there by hand"
    yield "Licence", model.licence or "not known"
    yield "Folder", f"{model.path}, {len(facts.files)} files, {format_bytes(model.bytes_on_disk)}"
    variant = f", {facts.variant} ({facts.variant_reason})" if facts.variant else ""
    yield "Layout", f"{facts.layout}, {facts.graph}{variant}"
    yield "Architecture", ", ".join(word for word in (facts.architecture, facts.quantisation) if word) or "not known"
    for change in facts.changes:
        yield "Changed", change
    yield "KV", kv_line(facts.kv)
    if facts.kv.states:
        yield (
            "State",
            (
                f"{facts.kv.state_bytes:,} bytes that cannot be cut back, in {', '.join(facts.kv.states)}: "
                "reused from checkpoints"
            ),
        )
    switch = "" if facts.rope_switch is None else f"; longer than {facts.rope_switch:,}: other position factors"
    yield "Context", f"{facts.context_length:,} tokens{switch}"
    yield "Vocabulary", f"{facts.vocab_size:,} tokens; an answer ends at {', '.join(map(str, facts.eos_ids)) or 'none'}"
    yield "Chat template", "yes" if facts.chat_template else "none: a plain transcript is used"
    yield "Tools", "yes" if facts.tools else "in plain words: the chat template knows none"
    yield (
        "Reuse",
        (
            "exact"
            if facts.exact_reuse
            else "close: this graph rounds a chunk by its largest value, so that results vary"
        ),
    )
    yield "Runs on", facts.provider_reason


def kv_line(kv: KvFacts) -> str:
    """KV in one line."""
    kind = kv.kind if kv.fixed_length is None else f"{kv.kind} of {kv.fixed_length:,} tokens"
    cost = " + ".join(f"{size:,} bytes of {dtype}" for dtype, size in kv.bytes_per_token.items())
    windows = f"; a window of {kv.window:,} in {kv.windowed_layers} of {kv.layers} layers" if kv.window else ""
    return f"{kind}, {cost} a token{windows}"

"""Reads folders in the layout of onnxruntime-genai, whose genai_config.json names everything."""

from __future__ import annotations

import re

from pinfill_service.engine.layout_claims import Claims, join
from pinfill_service.engine.layout_files import Config, LayoutError, ModelFolder
from pinfill_service.engine.layout_model import ModelLayout, Names
from pinfill_service.engine.layout_names import check_pattern
from pinfill_service.engine.provider_folder import safe_entries

CONFIG = "genai_config.json"
_FOREIGN = {
    "encoder": "an encoder-decoder model",
    "vision": "a vision model",
    "speech": "an audio model",
    "embedding": "a model of several parts (vision or audio)",
}


def read_genai(folder: ModelFolder, config: Config) -> ModelLayout:
    """Raises LayoutError for anything that is missing, malformed or not supported."""
    model = config.section("model")
    for key, kind in _FOREIGN.items():
        if key in model:
            raise LayoutError(f"this is {kind}, as {CONFIG} says; only text decoders can be run")
    decoder = model.section("decoder")
    if "pipeline" in decoder:
        raise LayoutError("this model is cut into several graphs (a pipeline), which this version does not run")
    if "filename" not in decoder:
        raise LayoutError(f"{CONFIG} is malformed: it does not name the decoder's file")
    heads, hidden = decoder.positive("num_attention_heads"), decoder.positive("hidden_size")
    bos = model.ids("bos_token_id")
    claims = Claims(
        context_length=model.positive("context_length"),
        vocab_size=model.positive("vocab_size"),
        head_size=decoder.positive("head_size") or (hidden // heads if hidden and heads else None),
        kv_heads=decoder.positive("num_key_value_heads"),
        eos_ids=model.ids("eos_token_id"),
        bos_id=bos[0] if bos else None,
        names=_names(decoder.section("inputs"), decoder.section("outputs")),
        session_options=_session_options(decoder.section("session_options")),
    )
    return join(folder, folder.require(decoder.text("filename"), CONFIG), claims, "onnxruntime-genai")


def _names(inputs: Config, outputs: Config) -> Names:
    default = Names()
    if "past_names" in inputs or "cross_past_key_names" in inputs:
        raise LayoutError("this model keeps keys and values in one tensor, or has cross attention: not supported")

    def pattern(config: Config, key: str, otherwise: str) -> str:
        return check_pattern(config.text(key, otherwise), f"{CONFIG}: {key}")

    states = []
    for key in inputs:
        found = re.fullmatch(r"past_(\w+)_names", key)
        if found and found[1] not in ("key", "value"):
            states.append((pattern(inputs, key, ""), pattern(outputs, f"present_{found[1]}_names", "")))
    return Names(
        input_ids=inputs.text("input_ids", default.input_ids),
        attention_mask=inputs.text("attention_mask", default.attention_mask),
        position_ids=inputs.text("position_ids", default.position_ids),
        logits=outputs.text("logits", default.logits),
        past_key=pattern(inputs, "past_key_names", default.past_key),
        past_value=pattern(inputs, "past_value_names", default.past_value),
        present_key=pattern(outputs, "present_key_names", default.present_key),
        present_value=pattern(outputs, "present_value_names", default.present_value),
        states=tuple(states),
    )


def _session_options(options: Config) -> dict[str, str]:
    """The harmless session configuration entries among onnxruntime-genai's options.

    The rest is this program's own business (threads, logging), the user's (execution providers and their options),
    or would let a folder load a library or write files.
    """
    dotted = {key: options.raw(key) for key in options if "." in key}
    return safe_entries({key: str(int(value) if isinstance(value, bool) else value) for key, value in dotted.items()})

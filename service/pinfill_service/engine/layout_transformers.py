"""Reads folders with transformers' config.json: optimum's exports, and transformers.js' with a graph a precision."""

from __future__ import annotations

from pinfill_service.engine.layout_claims import Claims, join, with_variant
from pinfill_service.engine.layout_files import Config, LayoutError, ModelFolder
from pinfill_service.engine.layout_model import ModelLayout
from pinfill_service.engine.layout_variants import choose, variants

CONFIG = "config.json"
_CONTEXT = ("max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_seq_len", "max_sequence_length")
_FOREIGN = {
    "vision_config": "a vision model",
    "audio_config": "an audio model",
    "speech_config": "an audio model",
    "encoder": "an encoder-decoder model",
}


def read_transformers(folder: ModelFolder, config: Config, *, dtype: str | None, memory: int) -> ModelLayout:
    """Raises LayoutError for anything that is missing, malformed or not supported."""
    _check_kind(config)
    found = variants(folder)
    if not found:
        raise LayoutError(f"{folder.path} has a {CONFIG}, but no model.onnx and no onnx/model*.onnx")
    variant, reason = choose(found, dtype, memory)
    source = "transformers.js" if variant.graph.parent.name == "onnx" else "optimum"
    claims = _claims(config, folder.config("generation_config.json"))
    return with_variant(join(folder, variant.graph, claims, source), variant.dtype, reason)


def _check_kind(config: Config) -> None:
    kind = next((kind for key, kind in _FOREIGN.items() if key in config), None)
    if kind is None and config.flag("is_encoder_decoder"):
        kind = "an encoder-decoder model"
    if kind is not None:
        raise LayoutError(f"this is {kind}, as {CONFIG} says; only text decoders can be run")


def _claims(config: Config, generation: Config | None) -> Claims:
    text = config.section("text_config") if "text_config" in config else config
    heads = text.positive("num_attention_heads") or text.positive("n_head")
    hidden = text.positive("hidden_size") or text.positive("n_embd")
    places = [place for place in (generation, text, config) if place is not None]
    eos = next((place.ids("eos_token_id") for place in places if "eos_token_id" in place), ())
    bos = next((place.ids("bos_token_id") for place in places if "bos_token_id" in place), ())
    return Claims(
        context_length=next((value for key in _CONTEXT for value in (text.positive(key),) if value), None),
        vocab_size=text.positive("vocab_size"),
        head_size=text.positive("head_dim") or (hidden // heads if hidden and heads else None),
        kv_heads=text.positive("num_key_value_heads") if isinstance(text.raw("num_key_value_heads"), int) else None,
        eos_ids=eos,
        bos_id=bos[0] if bos else None,
    )

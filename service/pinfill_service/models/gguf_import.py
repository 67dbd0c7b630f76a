"""Turns a GGUF file into a folder in the onnxruntime-genai layout, once, without rounding a weight again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx

from pinfill_service.models.architectures import Architecture, architecture_of
from pinfill_service.models.architectures.config import DecoderConfig
from pinfill_service.models.architectures.decoder import Decoder
from pinfill_service.models.external_data import ExternalData
from pinfill_service.models.gguf_file import GgufError, GgufFile
from pinfill_service.models.gguf_tokenizer import special_ids, write_tokenizer
from pinfill_service.models.weights import ACCURACY_LEVEL, UnsupportedTensorError

Progress = Callable[[str, int, int], None]


def convert_gguf(
    gguf: Path, folder: Path, progress: Progress | None = None, accuracy_level: int = ACCURACY_LEVEL
) -> None:
    """Writes model.onnx, its data, genai_config.json and the tokenizer's files into the existing `folder`.

    `progress("layers", done, total)` is called as layers are written. `accuracy_level` is MatMulNBits': 4 rounds
    activations to int8, 0 leaves them float. Raises GgufError, in one sentence, for a file that is broken or needs
    something this version cannot do exactly. After this or any other exception, also one out of `progress`, the folder
    is as it was.
    """
    file = GgufFile(gguf)
    architecture = architecture_of(file)
    config = architecture.read(file)
    with TemporaryDirectory(prefix=".converting-", dir=folder) as name:
        unfinished = Path(name)
        write_tokenizer(file, unfinished)
        _write_graph(file, config, unfinished, progress, accuracy_level)
        text = json.dumps(genai_config(file, config, architecture), indent=2)
        (unfinished / "genai_config.json").write_text(text, encoding="utf-8")
        for path in unfinished.iterdir():
            path.replace(folder / path.name)


def _write_graph(
    file: GgufFile, config: DecoderConfig, folder: Path, progress: Progress | None, accuracy_level: int
) -> None:
    def layers(done: int, total: int) -> None:
        if progress is not None:
            progress("layers", done, total)

    try:
        with ExternalData(folder) as data:
            model = Decoder(file, config, data, accuracy_level).build(layers)
    except UnsupportedTensorError as error:
        raise GgufError(f"{file.path.name} cannot be converted exactly: {error}") from error
    onnx.save(model, folder / "model.onnx")


def genai_config(file: GgufFile, config: DecoderConfig, architecture: Architecture) -> dict[str, Any]:
    """genai_config.json as onnxruntime-genai reads it."""
    ids = special_ids(file)
    eos = sorted({ids[role] for role in ("eos", "eot", "eom") if role in ids})
    return {
        "model": {
            "type": architecture.GENAI_TYPE,
            "context_length": config.context_length,
            "vocab_size": config.vocabulary,
            **({"bos_token_id": ids["bos"]} if "bos" in ids else {}),
            "eos_token_id": eos[0] if len(eos) == 1 else eos,
            "pad_token_id": ids.get("pad", eos[0] if eos else 0),
            "decoder": {
                "session_options": {"log_id": "onnxruntime-genai", "provider_options": []},
                "filename": "model.onnx",
                "hidden_size": config.hidden,
                "head_size": config.head_size,
                "num_attention_heads": config.heads,
                "num_key_value_heads": config.kv_heads,
                "num_hidden_layers": config.layers,
                "inputs": {
                    "input_ids": "input_ids",
                    "attention_mask": "attention_mask",
                    "past_key_names": "past_key_values.%d.key",
                    "past_value_names": "past_key_values.%d.value",
                },
                "outputs": {
                    "logits": "logits",
                    "present_key_names": "present.%d.key",
                    "present_value_names": "present.%d.value",
                },
            },
        },
        "search": {
            "do_sample": False,
            "max_length": config.context_length,
            "past_present_share_buffer": True,
            "temperature": 1.0,
            "top_k": 50,
            "top_p": 1.0,
        },
    }

"""A Hugging Face tokenizer from GGUF metadata.

Only vocabularies whose pre-tokenizer is known are accepted: a wrong split gives other ids and a quietly worse model.
Regular expressions: llama-vocab.cpp of llama.cpp, names by `tokenizer.ggml.pre`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from pinfill_service.models.gguf_file import GgufError, GgufFile

NORMAL, CONTROL, USER_DEFINED = 1, 3, 4  # llama.cpp's token types

# llama.cpp splits "smollm" digits one by one first, then like GPT-2.
_PRE_TOKENIZERS: dict[str, Any] = {
    "smollm": lambda: pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    ),
    "gpt-2": lambda: pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
}


def build_tokenizer(file: GgufFile) -> Tokenizer:
    """The tokenizer as a `tokenizers` object. Raises GgufError for a kind that is not known."""
    model, pre = file.require("tokenizer.ggml.model"), file.get("tokenizer.ggml.pre", "")
    if model != "gpt2" or pre not in _PRE_TOKENIZERS:
        raise GgufError(f"its tokenizer ({model}, pre-tokenizer {pre or 'unnamed'}) is not supported yet")
    tokens: list[str] = file.require("tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ", 1)) for merge in file.require("tokenizer.ggml.merges")]
    try:
        bpe = models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges)
    except Exception as error:  # tokenizers raises plain Exception for merges that name unknown tokens
        raise GgufError(f"its tokenizer's merges do not fit its vocabulary ({error})") from error
    tokenizer = Tokenizer(bpe)
    tokenizer.pre_tokenizer = _PRE_TOKENIZERS[pre]()
    tokenizer.decoder = decoders.ByteLevel()
    types: list[int] = file.get("tokenizer.ggml.token_type", [NORMAL] * len(tokens))
    for kind, add in ((CONTROL, tokenizer.add_special_tokens), (USER_DEFINED, tokenizer.add_tokens)):
        added = [token for token, type_ in zip(tokens, types, strict=True) if type_ == kind]
        add([AddedToken(token, special=kind == CONTROL, normalized=False) for token in added])
    return tokenizer


def special_ids(file: GgufFile) -> dict[str, int]:
    """Ids by role: bos, eos, eot, pad, unknown; only those the file names."""
    roles = {"bos": "bos", "eos": "eos", "eot": "eot", "pad": "padding", "unk": "unknown"}
    ids = {role: file.get(f"tokenizer.ggml.{key}_token_id") for role, key in roles.items()}
    return {role: int(value) for role, value in ids.items() if value is not None}


def write_tokenizer(file: GgufFile, folder: Path) -> None:
    """Writes tokenizer.json, tokenizer_config.json and chat_template.jinja."""
    tokenizer = build_tokenizer(file)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    tokens: list[str] = file.require("tokenizer.ggml.tokens")
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "add_bos_token": bool(file.get("tokenizer.ggml.add_bos_token", False)),
        "add_eos_token": bool(file.get("tokenizer.ggml.add_eos_token", False)),
        "clean_up_tokenization_spaces": False,
        "model_max_length": int(file.require(f"{file.architecture}.context_length")),
    }
    for role, token_id in special_ids(file).items():
        if role in ("bos", "eos", "pad", "unk") and 0 <= token_id < len(tokens):
            config[f"{role}_token"] = tokens[token_id]
    template = file.get("tokenizer.chat_template")
    if template is not None:
        config["chat_template"] = template
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(config, ensure_ascii=False, indent=2), encoding="utf-8")

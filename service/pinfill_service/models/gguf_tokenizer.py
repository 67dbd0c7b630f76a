"""A Hugging Face tokenizer from GGUF metadata, with the ids llama.cpp gives.

Only vocabularies whose rules are known are accepted: a wrong split gives other ids and a quietly worse model.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from pinfill_service.models.gguf_bpe import byte_level_bpe, family_of
from pinfill_service.models.gguf_file import GgufError, GgufFile
from pinfill_service.models.gguf_sentencepiece import sentencepiece_bpe
from pinfill_service.models.gguf_vocabulary import END_OF_MESSAGE, END_OF_TURN, GgufVocabulary

BYTE_LEVEL, SENTENCEPIECE = "gpt2", "llama"  # values of tokenizer.ggml.model
_BUILDERS = {BYTE_LEVEL: byte_level_bpe, SENTENCEPIECE: sentencepiece_bpe}
_ROLES = {"bos": "bos", "eos": "eos", "eot": "eot", "eom": "eom", "pad": "padding", "unk": "unknown"}
_SENTENCEPIECE_IDS = {"bos": 1, "eos": 2, "unk": 0}  # where a file does not say
_NOT_WRITTEN = ("pad", "unk")  # no prompt needs these, and some files give numbers for them that are no token


def build_tokenizer(file: GgufFile) -> Tokenizer:
    """The tokenizer as a `tokenizers` object. Raises GgufError for a kind that is not known or a broken vocabulary."""
    build = _BUILDERS[_kind(file)]
    vocabulary = GgufVocabulary.read(file)
    tokenizer = build(vocabulary)
    added = vocabulary.added()
    tokenizer.add_special_tokens([token for token in added if token.special])
    tokenizer.add_tokens([token for token in added if not token.special])
    return tokenizer


def special_ids(file: GgufFile) -> dict[str, int]:
    """Ids by role: bos, eos, eot (end of turn), eom (end of message), pad, unk; only those there are.

    Ends that the file does not name are found by how such tokens are called. Raises GgufError for ids out of range.
    """
    tokens: list[str] = file.require("tokenizer.ggml.tokens")
    found: dict[str, int] = {}
    for role, key in _ROLES.items():
        token_id: int | None = file.get(f"tokenizer.ggml.{key}_token_id")
        if token_id is not None and 0 <= token_id < len(tokens):
            found[role] = token_id
        elif token_id is not None and role not in _NOT_WRITTEN:
            raise GgufError(f"{file.path.name} names token {token_id:,} as its {role}, but has {len(tokens):,} tokens.")
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    for role, names in (("eot", _ends_of_turn(ids)), ("eom", END_OF_MESSAGE)):
        for name in names:
            if name in ids:
                found.setdefault(role, ids[name])
    if _kind(file) == SENTENCEPIECE:
        found = {role: token_id for role, token_id in _SENTENCEPIECE_IDS.items() if token_id < len(tokens)} | found
    return found


def write_tokenizer(file: GgufFile, folder: Path) -> None:
    """Writes tokenizer.json, tokenizer_config.json and chat_template.jinja into the existing `folder`.

    Raises GgufError before anything is written.
    """
    tokenizer, ids = build_tokenizer(file), special_ids(file)
    tokens: list[str] = file.require("tokenizer.ggml.tokens")
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "add_bos_token": _adds_bos(file) and "bos" in ids,
        "add_eos_token": bool(file.get("tokenizer.ggml.add_eos_token", False)),
        "clean_up_tokenization_spaces": False,
        "model_max_length": int(file.require(f"{file.architecture}.context_length")),
        **{f"{role}_token": tokens[ids[role]] for role in ("bos", "eos", "pad", "unk") if role in ids},
    }
    template: str | None = file.get("tokenizer.chat_template")
    if template is not None:
        config["chat_template"] = template
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "tokenizer_config.json").write_text(json.dumps(config, ensure_ascii=False, indent=2), encoding="utf-8")


def _kind(file: GgufFile) -> str:
    kind: str = file.require("tokenizer.ggml.model")
    if kind not in _BUILDERS:
        raise GgufError(f"{file.path.name} has a tokenizer of a kind that this version does not know ({kind!r}).")
    return kind


def _adds_bos(file: GgufFile) -> bool:
    """What the file says, else what its kind of tokenizer does."""
    stated: bool | None = file.get("tokenizer.ggml.add_bos_token")
    if stated is not None:
        return stated
    return _kind(file) == SENTENCEPIECE or family_of(file).add_bos


def _ends_of_turn(ids: Container[str]) -> Iterator[str]:
    """In OpenAI's harmony format `<|end|>` ends a message only; `<|return|>` ends the turn."""
    harmony = "<|return|>" in ids and "<|call|>" in ids
    return (name for name in END_OF_TURN if not (harmony and name == "<|end|>"))

"""Byte-level BPE (`tokenizer.ggml.model` = gpt2) as a `tokenizers` object."""

from __future__ import annotations

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from pinfill_service.models.gguf_file import GgufError, GgufFile
from pinfill_service.models.gguf_splits import FAMILIES, Family
from pinfill_service.models.gguf_vocabulary import GgufVocabulary


def family_of(file: GgufFile) -> Family:
    """The family the file names. Raises GgufError for an unknown one."""
    name: str | None = file.get("tokenizer.ggml.pre")
    if not name:
        raise GgufError(
            f"{file.path.name} does not say how its tokenizer splits words, as files of old converters: "
            "get a newer conversion of the model."
        )
    if name not in FAMILIES:
        raise GgufError(
            f"{file.path.name} has a tokenizer that splits words in a way this version does not know ({name!r})."
        )
    return FAMILIES[name]


def byte_level_bpe(vocabulary: GgufVocabulary) -> Tokenizer:
    """The tokenizer without its added tokens. Raises GgufError."""
    family = family_of(vocabulary.file)
    ids = {token: token_id for token_id, token in enumerate(vocabulary.tokens)}
    merges = _merges(vocabulary, ids)
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges, ignore_merges=family.ignore_merges))
    steps = [pre_tokenizers.Split(Regex(expression), "isolated") for expression in family.expressions]
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*steps, to_bytes])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _merges(vocabulary: GgufVocabulary, ids: dict[str, int]) -> list[tuple[str, str]]:
    """Pairs in their order, each once: of two equal ones the first counts. Raises GgufError."""
    pairs: dict[tuple[str, str], None] = {}
    merges: list[str] = vocabulary.file.require("tokenizer.ggml.merges")
    vocabulary.check_merges(len(merges))
    for merge in merges:
        at = merge.find(" ", 1)
        left, right = merge[:at], merge[at + 1 :]
        if at < 0 or left not in ids or right not in ids or left + right not in ids:
            raise vocabulary.error(f"has a merge, {merge[:80]!r}, that does not fit its vocabulary: it is damaged.")
        pairs.setdefault((left, right))
    return list(pairs)

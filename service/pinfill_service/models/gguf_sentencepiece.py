"""SentencePiece's BPE (`tokenizer.ggml.model` = llama) as a `tokenizers` object: Llama 2, Mistral, Gemma, Phi-3.

Its rule: of all neighbours whose concatenation is a token, join those that make the token with the best score, the
leftmost first; what is no token in the end becomes bytes (Kudo and Richardson 2018; llama.cpp's src/llama-vocab.cpp).
BPE with merges ranked by the score of what they make is the same where scores differ. Where they are equal, the place
decides, which ranks cannot say; but runs of one character grow from the left either way if longer ones come first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tokenizers import Tokenizer, decoders, models, normalizers

from pinfill_service.models.gguf_vocabulary import GgufVocabulary, TokenType

SPACE = "\u2581"  # stands for a space in tokens


def sentencepiece_bpe(vocabulary: GgufVocabulary) -> Tokenizer:
    """The tokenizer without its added tokens. Raises GgufError."""
    ids = {token: token_id for token_id, token in enumerate(vocabulary.tokens)}
    missing = [byte for byte in range(256) if f"<0x{byte:02X}>" not in ids]
    if missing:
        raise vocabulary.error(f"has a tokenizer without a token for the byte {missing[0]}: it is damaged.")
    merges = _merges(vocabulary, ids)
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges, byte_fallback=True))
    prefixed = bool(vocabulary.file.get("tokenizer.ggml.add_space_prefix", True))
    # Both work on what lies between two added tokens: the space comes at the start of a text and after each of them.
    prefix = [normalizers.Prepend(SPACE)] if prefixed else []
    tokenizer.normalizer = normalizers.Sequence([*prefix, normalizers.Replace(" ", SPACE)])
    strip = [decoders.Strip(" ", 1, 0)] if prefixed else []
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), *strip]
    )
    return tokenizer


def _merges(vocabulary: GgufVocabulary, ids: dict[str, int]) -> list[tuple[str, str]]:
    """All ways to join two tokens into a third, best score of the third first. Raises GgufError."""
    scores = vocabulary.scores
    if scores is None:
        raise vocabulary.error("has a SentencePiece tokenizer without scores: it is damaged.")
    merges: list[tuple[str, str]] = []
    tied: defaultdict[float, list[str]] = defaultdict(list)
    best_first = sorted(range(len(scores)), key=lambda token_id: (-scores[token_id], -len(vocabulary.tokens[token_id])))
    for token_id in best_first:
        token = vocabulary.tokens[token_id]
        before = len(merges)
        merges += [(token[:at], token[at:]) for at in range(1, len(token)) if token[:at] in ids and token[at:] in ids]
        vocabulary.check_merges(len(merges))
        if len(merges) > before and vocabulary.types[token_id] == TokenType.NORMAL and len(set(token)) > 1:
            tied[scores[token_id]].append(token)
    if any(len(group) > 1 and _overlap(group) for group in tied.values()):
        raise vocabulary.error("has tokens with equal scores, which do not say what to join first: it is damaged.")
    return merges


def _overlap(tokens: Iterable[str]) -> bool:
    """Whether one of the tokens ends as another begins: then the scores alone decide which of them a text has."""
    beginnings: defaultdict[str, set[str]] = defaultdict(set)
    for token in tokens:
        for length in range(1, len(token)):
            beginnings[token[:length]].add(token)
    return any(beginnings.get(token[at:], {token}) != {token} for token in tokens for at in range(1, len(token)))

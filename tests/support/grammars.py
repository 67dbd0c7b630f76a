"""A tokenizer small enough to compile grammars in no time, and walks through a grammar without a model."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from pinfill_service.engine.interface import Grammar
from pinfill_service.prompt.decoding import Vocabulary
from pinfill_service.prompt.grammar import CallWrapper, Grammars
from pinfill_service.prompt.tokenizer import TextTokenizer

HERMES = CallWrapper('<tool_call>\n{"name": "', '", "arguments": ', "}\n</tool_call>")
END, CALL = "<|end|>", "<|call|>"
_MERGES = [('"', "}"), ("Ġ", '"'), ("{", '"'), ("}", "}"), ("t", "r"), ("1", "2"), (",", "Ġ"), ("]", "}"), ('"', ":")]


@cache
def tiny_tokenizer() -> TextTokenizer:
    """A byte-level tokenizer of all bytes, a few merges across JSON's syntax, and the special tokens END and CALL."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [*letters, *(left + right for left, right in _MERGES)]
    tokenizer = Tokenizer(models.BPE({token: at for at, token in enumerate(tokens)}, _MERGES))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(END, special=True), AddedToken(CALL, special=True)])
    return TextTokenizer(tokenizer, {"add_bos_token": False}, None)


def end_id() -> int:
    found = tiny_tokenizer().token_id(END)
    assert found is not None
    return found


@cache
def tiny_grammars() -> Grammars:
    return Grammars(tiny_tokenizer(), frozenset({end_id()}))


def allowed_ids(mask: bytes) -> NDArray[np.int64]:
    return np.flatnonzero(np.unpackbits(np.frombuffer(mask, np.uint8), bitorder="little"))


def walk(grammar: Grammar, vocabulary: Vocabulary, seed: int, limit: int = 400) -> tuple[list[int], bool]:
    """Random tokens of a grammar, and whether they came to an end. What closes something is preferred, or strings would
    never end.
    """
    rng, matcher = np.random.default_rng(seed), grammar.matcher()
    ids: list[int] = []
    while len(ids) < limit and not matcher.finished:
        if matcher.may_end and rng.random() < 0.5:
            break
        allowed = allowed_ids(matcher.mask())
        closing = [i for i in allowed if set(vocabulary.token(int(i)).text) <= set('"]}')]
        ids.append(int(rng.choice(closing if closing and rng.random() < 0.4 else allowed)))
        matcher.accept(ids[-1])
    return ids, matcher.may_end


def text_of(vocabulary: Vocabulary, ids: list[int]) -> str:
    """The text of ids, special tokens included. Raises UnicodeDecodeError for bytes that are no text."""
    return b"".join(vocabulary.token(i).data for i in ids).decode()

"""The vocabulary in a GGUF file's metadata, checked: what both kinds of tokenizers are made from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from tokenizers import AddedToken

from pinfill_service.models.gguf_file import GgufError, GgufFile

# Sum of the squared lengths of all tokens, in characters: what finding merges costs. Gemma's 262,144 need 15 million.
MAX_WORK = 1 << 28
MAX_MERGES = 1 << 21  # Gemma has 514,847


class TokenType(IntEnum):
    """As llama.cpp numbers them (`llama_token_type`)."""

    UNDEFINED, NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(7)


# Tokens that are control tokens even where a conversion left them normal (names: llama.cpp's src/llama-vocab.cpp).
END_OF_TURN = (
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>", "<EOT>", "_<EOT>",
    "[EOT]", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<end_of_utterance>",
)  # fmt: skip
END_OF_MESSAGE = ("<|eom_id|>",)
_OTHER_ENDS = ("<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "</s>", "[EOS]", "<eos>", "[e~[")
_FILLING = (  # around the gap of code that is to be filled in
    *(f"{left}{part}{right}" for part in ("prefix", "suffix", "middle", "pad", "repo")
      for left, right in (("<|fim_", "|>"), ("<fim-", ">"), ("<fim_", ">"), ("<|code_", "|>"), ("<|", "|>"))),
    *(f"{space}<{part}>" for part in ("PRE", "SUF", "MID") for space in ("", "\u2581")),
    *(f"<\uff5cfim\u2581{part}\uff5c>" for part in ("begin", "hole", "end")),
    "<PAD>", "[PAD]", "<REPO>", "<reponame>", "<|repo_name|>", "<|file_sep|>",
)  # fmt: skip
_CONTROLS = frozenset((*END_OF_TURN, *END_OF_MESSAGE, *_OTHER_ENDS, *_FILLING))
# The frame of OpenAI's harmony format: what it says has to be seen to be understood.
_SHOWN = frozenset({"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"})


@dataclass(frozen=True, slots=True)
class GgufVocabulary:
    """Tokens by id with their types, and their scores where the file has some; all of one length, no token twice."""

    file: GgufFile
    tokens: list[str]
    types: list[int]
    scores: list[float] | None

    @classmethod
    def read(cls, file: GgufFile) -> GgufVocabulary:
        """Raises GgufError."""
        name = file.path.name
        tokens: list[str] = [token or f"[EMPTY_{i}]" for i, token in enumerate(file.require("tokenizer.ggml.tokens"))]
        types: list[int] = file.get("tokenizer.ggml.token_type", [TokenType.NORMAL] * len(tokens))
        scores: list[float] | None = file.get("tokenizer.ggml.scores")
        if not tokens:
            raise GgufError(f"{name} has a vocabulary without a token.")
        for what, values in (("types", types), ("scores", scores)):
            if values is not None and len(values) != len(tokens):
                raise GgufError(f"{name} has {len(tokens):,} tokens but {len(values):,} token {what}: it is damaged.")
        if len(set(tokens)) < len(tokens):
            raise GgufError(f"{name} has the token {_first_double(tokens)!r} twice in its vocabulary: it is damaged.")
        if sum(len(token) ** 2 for token in tokens) > MAX_WORK:
            raise GgufError(f"{name} has tokens of up to {max(map(len, tokens)):,} characters, which no model has.")
        return cls(file, tokens, [_corrected(*each) for each in zip(tokens, types, strict=True)], scores)

    def error(self, sentence: str) -> GgufError:
        """An error that begins with the file's name."""
        return GgufError(f"{self.file.path.name} {sentence}")

    def check_merges(self, count: int) -> None:
        """Raises GgufError for so many merges that they would fill the memory."""
        if count > MAX_MERGES:
            raise self.error(f"has a tokenizer with more than {MAX_MERGES:,} merges, which no model has.")

    def added(self) -> list[AddedToken]:
        """The tokens that are found in a text before anything else happens to it.

        Control tokens and the unknown one are special: they are no text. Phi-3's swallow white space that follows.
        """
        strips = any(name in str(self.file.get("general.name", "")).lower() for name in ("phi-3", "phi3"))
        return [
            AddedToken(
                token,
                special=kind != TokenType.USER_DEFINED,
                normalized=False,
                rstrip=strips and token not in ("<unk>", "<s>", "<|endoftext|>"),
            )
            for token, kind in zip(self.tokens, self.types, strict=True)
            if kind in (TokenType.CONTROL, TokenType.UNKNOWN, TokenType.USER_DEFINED)
        ]


def _corrected(token: str, kind: int) -> int:
    if token in _SHOWN:
        return TokenType.USER_DEFINED
    return TokenType.CONTROL if kind == TokenType.NORMAL and token in _CONTROLS else kind


def _first_double(tokens: list[str]) -> str:
    seen: set[str] = set()
    return next(token for token in tokens if token in seen or seen.add(token))  # type: ignore[func-returns-value]

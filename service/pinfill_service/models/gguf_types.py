"""Which kind of value a GGUF metadata key holds.

A hostile or broken file may put a text where a number belongs. The keys that graphs and tokenizers are made from are
known (docs/gguf.md of the ggml project), so this is found out in one place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gguf import GGUFValueType as Kind

from pinfill_service.models.gguf_header import ValueInfo

_WHOLE = frozenset({Kind.UINT8, Kind.INT8, Kind.UINT16, Kind.INT16, Kind.UINT32, Kind.INT32, Kind.UINT64, Kind.INT64})
_FRACTIONAL = frozenset({Kind.FLOAT32, Kind.FLOAT64})


@dataclass(frozen=True, slots=True)
class Wanted:
    """A kind of value that somebody needs, and its name in a message."""

    phrase: str
    kinds: frozenset[Kind]
    is_array: bool = False

    def fits(self, info: ValueInfo) -> bool:
        return info.kind in self.kinds and info.is_array == self.is_array


INTEGER = Wanted("a whole number", _WHOLE)
NUMBER = Wanted("a number", _WHOLE | _FRACTIONAL)
TEXT = Wanted("a text", frozenset({Kind.STRING}))
FLAG = Wanted("true or false", frozenset({Kind.BOOL}))
INTEGERS = Wanted("a list of whole numbers", _WHOLE, is_array=True)
NUMBERS = Wanted("a list of numbers", _WHOLE | _FRACTIONAL, is_array=True)
TEXTS = Wanted("a list of texts", frozenset({Kind.STRING}), is_array=True)

# A key is looked up without the architecture in front of it: "block_count" for "llama.block_count".
_BY_KEY = {
    **dict.fromkeys(("general.architecture", "general.type", "general.name", "general.license"), TEXT),
    "general.file_type": INTEGER,
    "tokenizer.ggml.model": TEXT,
    "tokenizer.ggml.pre": TEXT,
    "tokenizer.ggml.tokens": TEXTS,
    "tokenizer.ggml.merges": TEXTS,
    "tokenizer.ggml.scores": NUMBERS,
    "tokenizer.ggml.token_type": INTEGERS,
    "tokenizer.chat_template": TEXT,
}
_BY_PATTERN = (
    (re.compile(r"tokenizer\.ggml\.\w+_token_id"), INTEGER),
    (re.compile(r"tokenizer\.ggml\.(add_\w+|remove_extra_whitespaces)"), FLAG),
    (re.compile(r"split\.(no|count|tensors\.count)"), INTEGER),
    (
        re.compile(r"[^.]+\.(block_count|context_length|embedding_length|vocab_size|expert(_used|_shared)?_count)"),
        INTEGER,
    ),
    (re.compile(r"[^.]+\.attention\.(key_length|value_length|sliding_window)(_swa)?"), INTEGER),
    (re.compile(r"[^.]+\.rope\.(dimension_count|scaling\.original_context_length)(_swa)?"), INTEGER),
    (re.compile(r"[^.]+\.attention\.(layer_norm(_rms)?_epsilon|scale)"), NUMBER),
    (re.compile(r"[^.]+\.rope\.(freq_base(_swa)?|scale_linear)"), NUMBER),
    (re.compile(r"[^.]+\.rope\.scaling\.(factor|attn_factor|yarn_\w+)"), NUMBER),
    (re.compile(r"[^.]+\.(attn|final|router)_logit_softcapping"), NUMBER),
    (re.compile(r"[^.]+\.rope\.scaling\.type"), TEXT),
    (re.compile(r"[^.]+\.rope\.scaling\.finetuned"), FLAG),
)


def wanted(key: str) -> Wanted | None:
    """The kind of value the format prescribes for a key; None for a key that nothing depends on, or of several kinds.

    (Head counts and feed-forward widths are one number or one a layer: read them with `GgufFile.integers`.)
    """
    known = _BY_KEY.get(key)
    return known or next((want for pattern, want in _BY_PATTERN if pattern.fullmatch(key)), None)


def described(info: ValueInfo) -> str:
    """What a value is, in words."""
    if info.kind is Kind.STRING:
        one, many = "a text", "texts"
    elif info.kind is Kind.BOOL:
        one, many = "true or false", "flags"
    else:
        one, many = "a number" if info.kind in _FRACTIONAL else "a whole number", "numbers"
    return f"a list of {info.count:,} {many}" if info.is_array else one

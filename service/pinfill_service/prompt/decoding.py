"""Token ids to text while they are generated: only text that can no longer change comes out."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tokenizers import Tokenizer as FastTokenizer

from pinfill_service.prompt.tokenizer_state import tokenizer_state

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_REPLACEMENT = "\ufffd"
_LONGEST_RUN = 32  # tokens that make no character; no real one has as many


@dataclass(frozen=True, slots=True)
class TokenBytes:
    """One token: its text (U+FFFD where the bytes are no text by themselves) and its bytes."""

    text: str
    data: bytes


class Vocabulary:
    """What single tokens are made of. `exact` says that a text is the concatenation of its tokens' bytes."""

    def __init__(self, tokenizer: FastTokenizer) -> None:
        state = tokenizer_state(tokenizer)
        self._tokenizer = tokenizer
        self.special_tokens = {token["content"]: token["id"] for token in state["added_tokens"] if token["special"]}
        self._special = frozenset(self.special_tokens.values())
        self._to_bytes = _byte_rule(state.get("decoder"))
        self._strips = _strips_first_space(state.get("decoder"))
        self._cache: dict[int, TokenBytes] = {}

    @property
    def exact(self) -> bool:
        return self._to_bytes is not None

    @property
    def size(self) -> int:
        """One more than the largest id. The model's own vocabulary may be wider, or have gaps."""
        return 1 + max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)

    def is_special(self, token_id: int) -> bool:
        return token_id in self._special

    def known(self, ids: Sequence[int]) -> list[int]:
        """`ids` without those the vocabulary does not have: models pad theirs, and the binding refuses negatives."""
        return [token_id for token_id in ids if 0 <= token_id < 1 << 32]

    def token(self, token_id: int) -> TokenBytes:
        """The token's text and bytes; empty for an id the vocabulary does not have."""
        found = self._cache.get(token_id)
        if found is None:
            found = self._cache[token_id] = self._build(token_id)
        return found

    def decode(self, ids: Sequence[int], *, skip_special: bool = False) -> str:
        """The text of a run of tokens; ids the vocabulary does not have are left out.

        Of an `exact` vocabulary it is the text that streaming makes of them, less the space that some put in front of a
        text when they encode it.
        """
        if not self.exact:
            text: str = self._tokenizer.decode(self.known(ids), skip_special_tokens=skip_special)
            return text
        shown = (token_id for token_id in ids if not (skip_special and token_id in self._special))
        text = b"".join(self.token(token_id).data for token_id in shown).decode("utf-8", "replace")
        return text.removeprefix(" ") if self._strips else text

    def _build(self, token_id: int) -> TokenBytes:
        content = self._tokenizer.id_to_token(token_id) if 0 <= token_id < 1 << 32 else None
        if content is None:
            return TokenBytes("", b"")
        if self._to_bytes is not None:
            data = self._to_bytes(content)
            return TokenBytes(data.decode("utf-8", "replace"), data)
        text: str = self._tokenizer.decode([token_id], skip_special_tokens=False)
        return TokenBytes(text, text.encode())


class StreamDecoder:
    """Turns generated tokens into text piece by piece; the pieces and the flush join to the text of all tokens.

    A character whose bytes are spread over several tokens comes out with the last of them. The text is taken as the
    continuation of another, so a leading space is kept.
    """

    def __init__(self, vocabulary: Vocabulary, hidden: Collection[int]) -> None:
        """`hidden` tokens are not text."""
        self._vocabulary = vocabulary
        self._hidden = hidden
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ids: list[int] = []  # a window of tokens, for those that have no bytes of their own
        self._context = 0  # how many of them have come out as text
        self._shown = ""  # the text of those

    def push(self, token_id: int) -> str:
        """The text that is complete with this token; empty while a character is not."""
        if token_id in self._hidden:
            return ""
        if self._vocabulary.exact:
            return self._decoder.decode(self._vocabulary.token(token_id).data)
        return self._push_window(token_id)

    def flush(self) -> str:
        """What is left when no more tokens come: U+FFFD for a character that was never completed."""
        if self._vocabulary.exact:
            return self._decoder.decode(b"", final=True)
        return self._decode_window()[len(self._shown) :]

    def _push_window(self, token_id: int) -> str:
        """Decodes the new tokens after those of the last text that came out, which give them their context."""
        self._ids.append(token_id)
        text = self._decode_window()
        broken = text.endswith(_REPLACEMENT)
        if broken and len(self._ids) - self._context < _LONGEST_RUN:
            return ""
        new = text[len(self._shown) :]
        self._ids = [] if broken else self._ids[self._context :]
        self._context = len(self._ids)
        self._shown = self._decode_window()
        return new

    def _decode_window(self) -> str:
        return self._vocabulary.decode(self._ids)


def _byte_rule(decoder: dict[str, Any] | None) -> Callable[[str], bytes] | None:
    """How a token's content becomes bytes under this decoder, for the two kinds nearly all language models have."""
    if decoder is None:
        return None
    if decoder["type"] == "ByteLevel":
        return _byte_level
    steps = [step["type"] for step in decoder.get("decoders", ())]
    if steps[:3] == ["Replace", "ByteFallback", "Fuse"] and steps[3:] in ([], ["Strip"]):
        return _sentencepiece
    return None


def _strips_first_space(decoder: dict[str, Any] | None) -> bool:
    steps = [] if decoder is None else decoder.get("decoders", [])
    return any(step["type"] == "Strip" and step["start"] == 1 for step in steps)


def _byte_level(content: str) -> bytes:
    table = _byte_level_table()
    try:
        return bytes(table[character] for character in content)
    except KeyError:
        return content.encode()


def _sentencepiece(content: str) -> bytes:
    byte = _BYTE_TOKEN.fullmatch(content)
    return bytes([int(byte[1], 16)]) if byte else content.replace("\u2581", " ").encode()


@lru_cache(maxsize=1)
def _byte_level_table() -> dict[str, int]:
    """GPT-2's printable stand-ins for bytes (`bytes_to_unicode` in its encoder.py), the other way round."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in printable)
    return table | {chr(256 + position): byte for position, byte in enumerate(others)}

"""Text to token ids and back, for the tokenizer.json of a model folder.

Text is cut where that changes nothing, and every part is encoded once and remembered: a conversation that grows by a
message costs the tokenisation of that message.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any

from tokenizers import Tokenizer as FastTokenizer

from pinfill_service.prompt.boundaries import Boundaries
from pinfill_service.prompt.decoding import StreamDecoder, TokenBytes, Vocabulary
from pinfill_service.prompt.template import read_json, special_tokens

MEMO_BYTES = 32 << 20
_SURROGATES = re.compile("[\ud800-\udfff]")


class TokenizerError(Exception):
    """The folder has no tokenizer that can be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Where a piece of the text begins, in characters, and where its tokens begin."""

    character: int
    token: int


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token ids of a text, with the boundaries at which it may be cut without changing them."""

    ids: list[int]
    pieces: tuple[Piece, ...]


class TextTokenizer:
    """Encodes and decodes. Ids always equal those of encoding the whole text at once. Thread-safe."""

    def __init__(
        self, tokenizer: FastTokenizer, config: dict[str, Any], bos: str | None, memo: int = MEMO_BYTES
    ) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._memo = _Memo(memo)
        self._boundaries = Boundaries(tokenizer)
        self.vocabulary = Vocabulary(tokenizer)
        self.bos_id = tokenizer.token_to_id(bos) if bos else None
        self.add_bos = self._adds_bos(config)

    @classmethod
    def load(cls, folder: Path) -> TextTokenizer:
        """The tokenizer of a model folder. Raises TokenizerError."""
        path = folder / "tokenizer.json"
        try:
            tokenizer = FastTokenizer.from_file(str(path))
        except Exception as error:  # the binding raises plain Exception
            raise TokenizerError(f"{path.name} in {folder.name} cannot be read: {error}") from error
        return cls(tokenizer, read_json(folder / "tokenizer_config.json"), special_tokens(folder).get("bos_token"))

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`; nothing is put in front."""
        return self.encode_pieces(text).ids

    def encode_prompt(self, text: str) -> list[int]:
        """Token ids of a prompt: with exactly one BOS in front when the model wants one."""
        return self.encode_prompt_pieces(text).ids

    def encode_prompt_pieces(self, text: str) -> Encoded:
        """Like `encode_pieces`, with exactly one BOS in front when the model wants one: a part of the first piece."""
        encoded = self.encode_pieces(text)
        if not self.add_bos or self.bos_id is None or encoded.ids[:1] == [self.bos_id]:
            return encoded
        later = (Piece(piece.character, piece.token + 1) for piece in encoded.pieces[1:])
        return Encoded([self.bos_id, *encoded.ids], (*encoded.pieces[:1], *later))

    def encode_pieces(self, text: str) -> Encoded:
        """Token ids of `text` with the piece boundaries. Lone surrogates, which are no text, become U+FFFD."""
        text = _SURROGATES.sub("\ufffd", text)
        spans = self._boundaries.spans(text)
        parts = [list(self._boundaries.chunks(text[start:end])) for start, end in spans]
        known = self._encode_parts({part for stretch in parts for part in stretch})
        ids: list[int] = []
        pieces: list[Piece] = []
        for (start, _), stretch in zip(spans, parts, strict=True):
            pieces.append(Piece(start, len(ids)))
            for part in stretch:
                ids.extend(known[part])
        return Encoded(ids, tuple(pieces))

    def token_at(self, text: str, encoded: Encoded, character: int) -> int:
        """The first token of an encoded text that begins at or behind a character; exact where tokens are bytes."""
        piece = max((piece for piece in encoded.pieces if piece.character <= character), key=lambda piece: piece.token)
        wanted = len(text[piece.character : character].encode("utf-8", "replace"))
        lengths = (len(self.vocabulary.token(token_id).data) for token_id in encoded.ids[piece.token :])
        begins = accumulate(lengths, initial=0)
        return piece.token + next((at for at, begin in enumerate(begins) if begin >= wanted), 0)

    def decode(self, ids: Sequence[int], *, skip_special: bool = False) -> str:
        """The text of token ids; ids the vocabulary does not have are left out."""
        return self.vocabulary.decode(ids, skip_special=skip_special)

    def stream_decoder(self, *, skip_special: bool = True, shown: Collection[str] = ()) -> StreamDecoder:
        """A decoder for tokens that continue a text. Special tokens are not text, except those whose content is among
        `shown`, or all of them when `skip_special` is False.
        """
        if not skip_special:
            return StreamDecoder(self.vocabulary, ())
        special = self.vocabulary.special_tokens.items()
        return StreamDecoder(self.vocabulary, {token_id for content, token_id in special if content not in shown})

    def token_text(self, token_id: int) -> TokenBytes:
        """The text and the bytes of one token, as log probabilities show it."""
        return self.vocabulary.token(token_id)

    def token_id(self, token: str) -> int | None:
        """The id of a token by its exact content."""
        found: int | None = self._tokenizer.token_to_id(token)
        return found

    def _encode_parts(self, parts: Iterable[str]) -> dict[str, array[int]]:
        found = {part: self._memo.get(part) for part in parts}
        missing = [part for part, ids in found.items() if ids is None]
        known = {part: ids for part, ids in found.items() if ids is not None}
        if missing:
            encodings = self._tokenizer.encode_batch_fast(missing, add_special_tokens=False)
            for part, encoding in zip(missing, encodings, strict=True):
                known[part] = array("I", encoding.ids)
                self._memo.put(part, known[part])
        return known

    def _adds_bos(self, config: dict[str, Any]) -> bool:
        stated = config.get("add_bos_token")
        if isinstance(stated, bool):
            return stated
        probe = self._tokenizer.encode("a", add_special_tokens=True).ids
        return self.bos_id is not None and probe[:1] == [self.bos_id]


class _Memo:
    """Encoded pieces, least recently used out first, limited by bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._entries: OrderedDict[str, array[int]] = OrderedDict()
        self._lock = Lock()

    def get(self, piece: str) -> array[int] | None:
        with self._lock:
            found = self._entries.get(piece)
            if found is not None:
                self._entries.move_to_end(piece)
            return found

    def put(self, piece: str, ids: array[int]) -> None:
        with self._lock:
            if piece in self._entries:
                return
            self._entries[piece] = ids
            self._size += _cost(piece, ids)
            while self._size > self._limit:
                self._size -= _cost(*self._entries.popitem(last=False))


def _cost(piece: str, ids: array[int]) -> int:
    return sys.getsizeof(piece) + sys.getsizeof(ids)

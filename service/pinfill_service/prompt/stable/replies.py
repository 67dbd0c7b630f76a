"""The tokens of generated replies, used again when a client sends their text back.

What a model writes token by token is often not how its text is encoded: "therefore" may have come as "there" and
"fore". Encoded anew, the prompt of the next turn would leave the cached prefix at the first such place. So the tokens
of prompts and of the replies behind them are remembered, and a new prompt that begins with the same text begins with
the same tokens, as far as the last token of a reply whose end is the end of a token in the new prompt as well. Where
the echo differs (white space at its end, arguments written another way, reasoning left out), the new prompt's own
tokens go on from there.

Nothing of this asks what is cached, so the answer to a prompt does not depend on the cache's state: with the same ids a
warm and a cold engine give the same. It depends on what this process has generated: without it (after a restart, or
once it is forgotten) the same text has its canonical ids, which stand for the same text. A model reads either; what it
wrote itself, it has read that way before.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from threading import Lock

from pinfill_service.prompt.decoding import Vocabulary
from pinfill_service.prompt.tokenizer import Encoded, Piece

MAX_BYTES = 16 << 20  # about a hundred conversations of 15,000 tokens
MAX_CONVERSATIONS = 128


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Token ids, the bytes they stand for, and where in these each token ends."""

    ids: array[int]
    data: bytes
    ends: array[int]

    @classmethod
    def of(cls, ids: Sequence[int], vocabulary: Vocabulary) -> _Tokens:
        parts = [vocabulary.token(token_id).data for token_id in ids]
        return cls(array("I", ids), b"".join(parts), array("I", accumulate(map(len, parts))))

    def bytes_before(self, token: int) -> int:
        return self.ends[token - 1] if token else 0

    @property
    def size(self) -> int:
        return len(self.data) + self.ids.itemsize * len(self.ids) + self.ends.itemsize * len(self.ends)


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A prompt and its reply; `replies` are the token ranges that were generated, the ones in the prompt included."""

    salt: str
    tokens: _Tokens
    replies: tuple[tuple[int, int], ...]


class ReplyMemory:
    """Conversations that were answered, least recently used out first, limited by bytes and count. Thread-safe.

    Invariants: what `spliced` returns stands for the same bytes as what it was given, and for the same text; nothing is
    taken from a conversation with another salt. It lives in memory only.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, max_conversations: int = MAX_CONVERSATIONS) -> None:
        self._max_bytes, self._max_conversations = max_bytes, max_conversations
        self._conversations: OrderedDict[int, _Conversation] = OrderedDict()
        self._size = self._added = 0
        self._lock = Lock()

    @property
    def size(self) -> int:
        """Bytes of everything remembered."""
        return self._size

    def add(self, vocabulary: Vocabulary, salt: str, prompt: Sequence[int], reply: Sequence[int]) -> None:
        """Remembers a reply. The conversation that the prompt continues token for token is a part of the new one."""
        if not reply or not vocabulary.exact:
            return
        tokens = _Tokens.of([*prompt, *reply], vocabulary)
        if tokens.size > self._max_bytes:
            return
        with self._lock:
            earlier = self._continued(salt, tokens.ids, len(prompt))
            inherited = () if earlier is None else self._conversations[earlier].replies
            if earlier is not None:
                self._forget(earlier)
            self._added += 1
            own = (len(prompt), len(tokens.ids))
            self._conversations[self._added] = _Conversation(salt, tokens, (*inherited, own))
            self._size += tokens.size
            while self._size > self._max_bytes or len(self._conversations) > self._max_conversations:
                self._forget(next(iter(self._conversations)))

    def spliced(self, vocabulary: Vocabulary, salt: str, encoded: Encoded) -> Encoded:
        """The prompt with the tokens that the replies in it were generated as; as it is where none is known."""
        with self._lock:
            known = [(number, each) for number, each in self._conversations.items() if each.salt == salt]
        if not known:
            return encoded
        canonical = _Tokens.of(encoded.ids, vocabulary)
        cuts = [(_cut(each, canonical), number, each) for number, each in known]
        cut, number, conversation = max(cuts, key=lambda found: found[:2])
        if not cut:
            return encoded
        with self._lock:
            if number in self._conversations:
                self._conversations.move_to_end(number)
        return _joined(conversation.tokens, cut, canonical, encoded.pieces)

    def _continued(self, salt: str, ids: array[int], length: int) -> int | None:
        """The longest conversation that the first `length` ids begin with."""
        best, longest = None, 0
        for number, each in self._conversations.items():
            end = len(each.tokens.ids)
            if each.salt == salt and longest < end <= length and ids[:end] == each.tokens.ids:
                best, longest = number, end
        return best

    def _forget(self, number: int) -> None:
        self._size -= self._conversations.pop(number).tokens.size


def _cut(conversation: _Conversation, prompt: _Tokens) -> int:
    """Bytes up to which the prompt can take the conversation's tokens: the end of a token in both, in or behind a
    reply; 0 where it does not even reach the first reply.
    """
    tokens = conversation.tokens
    first = tokens.bytes_before(conversation.replies[0][0])
    if tokens.data[: first + 1] != prompt.data[: first + 1]:
        return 0
    shared = _shared(tokens.data, prompt.data)
    for start, end in reversed(conversation.replies):
        for token in range(min(end, bisect_right(tokens.ends, shared)), start, -1):
            at = tokens.ends[token - 1]
            if at > tokens.bytes_before(start) and _is_end(prompt.ends, at):
                return at
    return 0


def _joined(known: _Tokens, cut: int, prompt: _Tokens, pieces: Sequence[Piece]) -> Encoded:
    """The first `cut` bytes in the known tokens, the others in the prompt's own."""
    taken, left_out = bisect_right(known.ends, cut), bisect_right(prompt.ends, cut)
    moved: list[Piece] = []
    for piece in pieces:
        at = prompt.bytes_before(piece.token)
        if piece.token >= left_out:
            moved.append(Piece(piece.character, piece.token - left_out + taken))
        elif at == 0:
            moved.append(piece)
        elif _is_end(known.ends, at):  # the model may have spelled an added token in several
            moved.append(Piece(piece.character, bisect_left(known.ends, at) + 1))
    return Encoded([*known.ids[:taken], *prompt.ids[left_out:]], tuple(moved))


def _is_end(ends: array[int], at: int) -> bool:
    """Whether a token ends there."""
    token = bisect_left(ends, at)
    return token < len(ends) and ends[token] == at


def _shared(a: bytes, b: bytes) -> int:
    """How many bytes two texts share from the start."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low

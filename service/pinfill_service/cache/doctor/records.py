"""What the doctor looks at, and what it answers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pinfill_service.prompt.segments import Segment
from pinfill_service.prompt.tokenizer import Piece

Kind = Literal[
    # nothing to explain
    "served", "same", "continues", "new_message",
    # the cache was not asked, or could not answer
    "cache_off", "scoring", "not_reusable", "unreadable", "not_truncatable", "evicted", "not_kept",
    # nothing to compare with
    "never_seen", "not_remembered", "namespace", "template",
    # the texts differ
    "volatile_header", "volatile_id", "clock", "tools_reordered", "tools_changed", "json_key_order", "json_format",
    "whitespace", "thinking_dropped", "reply_retokenised", "message_removed", "message_inserted", "message_edited",
]  # fmt: skip

REPLY = "reply"


@dataclass(frozen=True, slots=True)
class Finding:
    """Where and why a prompt left the cached prefix, for people.

    `before` and `after` are the texts around that place in the earlier prompt and in this one; empty when they are not
    remembered. `path` says where in a request body, when bodies were compared; `compared_with` is the `id` of the
    earlier prompt. All strings can be written as UTF-8.
    """

    kind: Kind
    position_tokens: int | None
    segment: str | None
    before: str
    after: str
    explanation: str
    suggestion: str
    compared_with: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """What is remembered of a request. How many of them, and for how long, is the caller's business.

    `pieces` lead from tokens to characters of `text` (`prompt.tokenizer.Encoded.pieces`); without them the doctor
    compares whole prompts instead of segments. `reply_ids` and `reply_text` are what the model generated. `namespace`
    is anything that must be equal for prompts to share what is cached; `model`, `adapter`, `salt` and
    `template_fingerprint` only serve to say what is different about it. `at` is a Unix time in seconds.
    """

    token_ids: Sequence[int]
    id: str = ""
    at: float = 0.0
    model: str = ""
    namespace: str = ""
    template_fingerprint: str = ""
    adapter: str = ""
    salt: str = ""
    segments: tuple[Segment, ...] = ()
    text: str | None = None
    pieces: tuple[Piece, ...] = ()
    reply_ids: Sequence[int] = ()
    reply_text: str | None = None

    @property
    def total(self) -> int:
        """Tokens of prompt and reply."""
        return len(self.token_ids) + len(self.reply_ids)

    @property
    def all_text(self) -> str | None:
        """Prompt and reply; None when the prompt's text is not remembered."""
        return None if self.text is None else self.text + (self.reply_text or "")

    def segment_at(self, token: int) -> int | None:
        """Index of the segment that holds a token; the last one for tokens beyond the prompt, None without segments."""
        if not self.segments:
            return None
        return max(0, bisect_right(self.segments, token, key=lambda segment: segment.start_token) - 1)

    def label_at(self, token: int) -> str | None:
        """Label of the segment that holds a token."""
        if token >= len(self.token_ids) and len(self.reply_ids):
            return REPLY
        index = self.segment_at(token)
        return None if index is None else self.segments[index].label

    def scope(self, token: int) -> tuple[int, int]:
        """First character and end of the segment that holds a token, in `all_text`; all of the text when unknown."""
        text = self.all_text or ""
        index = self.segment_at(token)
        if index is None or not self.pieces:
            return 0, len(text)
        start = self._character(self.segments[index].start_token)
        last = index == len(self.segments) - 1
        return start, len(text) if last else self._character(self.segments[index].end_token)

    def piece_end(self, token: int) -> int | None:
        """Where the piece of text that holds a token ends, in characters; None when that is unknown."""
        if self.text is None or not self.pieces or token >= len(self.token_ids):
            return None
        index = bisect_right(self.pieces, token, key=lambda piece: piece.token)
        return self.pieces[index].character if index < len(self.pieces) else len(self.text)

    def _character(self, token: int) -> int:
        """Where the piece that holds a token begins; segments begin with a piece."""
        if token >= len(self.token_ids):
            return len(self.text or "")
        index = bisect_right(self.pieces, token, key=lambda piece: piece.token) - 1
        return self.pieces[index].character if index >= 0 else 0


@dataclass(frozen=True, slots=True)
class Eviction:
    """Something cached was given up at a Unix time. `token_ids` None: it is not known what it was."""

    at: float
    namespace: str
    token_ids: Sequence[int] | None = None

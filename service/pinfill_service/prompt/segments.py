"""Labels for the stretches of a rendered chat prompt, so that people can see what is cached and where a miss began."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinfill_service.prompt.tokenizer import Encoded

GENERATION_PROMPT = "generation prompt"
TOOLS = "tools"


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens `start_token` up to, not including, `end_token` of a prompt."""

    label: str
    start_token: int
    end_token: int


@dataclass(frozen=True, slots=True)
class ToolsPlace:
    """How tool definitions are found in a prompt: by a text that stands in them, and `token_at`, which says what token
    begins at or behind a character.
    """

    words: str
    token_at: Callable[[int], int]


def label_segments(
    text: str,
    encoded: Encoded,
    messages: Sequence[Mapping[str, Any]],
    stop_ids: Collection[int],
    tools: ToolsPlace | None = None,
) -> tuple[Segment, ...]:
    """Segments that cover all tokens in order: `system`, `tools` (where they stand behind the system prompt, or in its
    place), `message N (role)` (N counts from 1), `generation prompt`.

    Best effort, in one pass over the text: messages are found by their content, their beginnings by the added tokens
    around them. A message that cannot be found (rewritten by the template, or empty) belongs to its neighbour; a prompt
    in which nothing can be found is one segment, `prompt`.
    """
    starts = _message_starts(text, encoded, messages, stop_ids, tools)
    if tools is not None and starts and starts[0][1] == "system":
        starts[:1] = _with_tools(text, encoded, messages, tools, starts)
    if not starts:
        return (Segment("prompt", 0, len(encoded.ids)),) if encoded.ids else ()
    ends = [token for token, _ in starts[1:]] + [len(encoded.ids)]
    return tuple(Segment(label, start, end) for (start, label), end in zip(starts, ends, strict=True) if end > start)


def _message_starts(
    text: str,
    encoded: Encoded,
    messages: Sequence[Mapping[str, Any]],
    stop_ids: Collection[int],
    tools: ToolsPlace | None,
) -> list[tuple[int, str]]:
    """(first token, label) of every segment, in order; the first begins at token 0."""
    pieces = encoded.pieces
    starts: list[tuple[int, str]] = []
    at = piece = 0
    if messages and messages[0].get("role") != "system":
        at = _behind_tools(text, encoded, 0, 0, tools)
    for number, message in enumerate(messages, 1):
        content = str(message.get("content") or "").strip()
        found = text.find(content, at) if content else -1
        if found < 0:
            continue
        last = piece
        while last + 1 < len(pieces) and pieces[last + 1].character <= found:
            last += 1
        first = _opening(encoded, piece, last, stop_ids)
        if not starts and first > 0:
            starts.append((0, "system"))  # the template's own words in front of the first message
        if not starts or pieces[first].token > starts[-1][0]:
            starts.append((pieces[first].token, _label(number, message)))
        at, piece = found + len(content), last
        if number == 1 and message.get("role") == "system":
            at = _behind_tools(text, encoded, at, piece, tools)
    if starts:
        closing = _piece_at(encoded, at, piece)
        opening = _opening(encoded, closing, len(pieces) - 1, stop_ids)
        if opening > closing:
            starts.append((pieces[opening].token, GENERATION_PROMPT))
    return starts


def _behind_tools(text: str, encoded: Encoded, at: int, piece: int, tools: ToolsPlace | None) -> int:
    """Where to look for the next message: behind tool definitions in this piece, in which short messages may occur."""
    end = encoded.pieces[piece + 1].character if piece + 1 < len(encoded.pieces) else 0
    return end if tools is not None and text.find(tools.words, at, end) >= 0 else at


def _with_tools(
    text: str,
    encoded: Encoded,
    messages: Sequence[Mapping[str, Any]],
    tools: ToolsPlace,
    starts: Sequence[tuple[int, str]],
) -> Sequence[tuple[int, str]]:
    """The first segment, `system`, divided where the client's own words end if tool definitions follow them."""
    after = starts[1][0] if len(starts) > 1 else len(encoded.ids)
    end = next((piece.character for piece in encoded.pieces if piece.token == after), len(text))
    own = str(messages[0].get("content") or "").strip() if messages[0].get("role") == "system" else ""
    begin = text.index(own) + len(own) if own and own in text else 0
    if text.find(tools.words, begin, end) < 0:
        return starts[:1]
    token = tools.token_at(begin) if begin else 0
    return [*starts[: token > 0], (token, TOOLS)] if token < after else starts[:1]


def _piece_at(encoded: Encoded, character: int, piece: int) -> int:
    """The piece that holds the character before `character`, looking from `piece` on."""
    while piece + 1 < len(encoded.pieces) and encoded.pieces[piece + 1].character < character:
        piece += 1
    return piece


def _opening(encoded: Encoded, after: int, last: int, stop_ids: Collection[int]) -> int:
    """The piece that opens a message whose content begins in piece `last`, when the message before ended in `after`.

    A piece that begins with an end-of-turn token closes the message before it; what follows the last of those belongs
    to the new message.
    """
    for piece in range(last, after, -1):
        if encoded.ids[encoded.pieces[piece].token] in stop_ids:
            return min(piece + 1, last)
    return min(after + 1, last) if after else 0


def _label(number: int, message: Mapping[str, Any]) -> str:
    role = str(message.get("role", ""))
    return "system" if role == "system" and number == 1 else f"message {number} ({role})"

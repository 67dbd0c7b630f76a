"""Where a text may be cut so that the token ids of the parts, joined, are those of the whole.

Two kinds of cuts. In front of an added token (`<|im_start|>`): the tokenizer treats what lies between added tokens
separately. And, for byte-level BPE whose pre-tokenizer starts a new word there, in front of a single space between two
ASCII letters: long stretches are cut there every CHUNK_CHARACTERS, so that a prompt which shares its first part with
an earlier one, but not a whole message, is not tokenised from the start again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tokenizers import Tokenizer

from pinfill_service.prompt.tokenizer_state import tokenizer_state

CHUNK_CHARACTERS = 1024

_WORD_START = re.compile(r"(?<=[A-Za-z]) (?=[A-Za-z])")
_LOOKS_BACK = re.compile(r"\(\?<[=!]|\\[bBAGKzZ]|(?<![\[\\])\^|\$")
_PROBE = "It's a test of WORDS and wordS, isn't it? A b C d 12 e f3 g\n h i  j k\tl m's n o'LL p.q r! s"


class Boundaries:
    """Cuts texts for one tokenizer. Without knowledge of a safe cut a text stays whole."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        state = tokenizer_state(tokenizer)
        self._tokens = _token_pattern(state["added_tokens"])
        self._words = _WORD_START if _cuts_at_words(tokenizer, state) else None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of the stretches that begin with an added token; together they are the text."""
        if not text:
            return []
        cuts = [0]
        if self._tokens is not None:
            cuts += [match.start() for match in self._tokens.finditer(text) if match.start() > 0]
        return list(zip(cuts, [*cuts[1:], len(text)], strict=True))

    def chunks(self, stretch: str) -> Iterator[str]:
        """The parts of one stretch. Equal beginnings give equal parts, up to the one in which texts differ."""
        start = 0
        while self._words is not None:
            found = self._words.search(stretch, start + CHUNK_CHARACTERS)
            if found is None:
                break
            yield stretch[start : found.start()]
            start = found.start()
        yield stretch[start:]


def _token_pattern(tokens: list[dict[str, Any]]) -> re.Pattern[str] | None:
    """Matches the added tokens before which text may be cut; None where no cut is safe.

    The tokenizer finds added tokens that are not "normalized" in the raw text, leftmost and longest first, before
    anything else happens. A cut in front of a match therefore changes nothing, unless a token also takes white space or
    looks at letters on its left (lstrip, single_word), or takes white space on its right (rstrip) that another added
    token could begin with. Tokens that may begin inside another one are left out: runs of line breaks, for example.
    """
    raw = [token for token in tokens if not token["normalized"] and token["content"]]
    if not raw or any(token["lstrip"] or token["single_word"] for token in tokens):
        return None
    if any(token["rstrip"] for token in raw) and any(token["content"][0].isspace() for token in raw):
        return None
    by_beginning: defaultdict[str, list[str]] = defaultdict(list)  # Gemma has 6,414: too many to try one by one
    for content in _never_inside([token["content"] for token in raw]):
        by_beginning[content[:2]].append(re.escape(content[2:]))
    if not by_beginning:
        return None
    return re.compile("|".join(f"{re.escape(start)}(?:{'|'.join(ends)})" for start, ends in by_beginning.items()))


def _never_inside(contents: list[str]) -> list[str]:
    """Those whose first two characters (or the only one) occur in no content but at its beginning."""
    inside = {content[at : at + 2] for content in contents for at in range(1, len(content))}
    firsts = {pair[0] for pair in inside}
    lasts = {pair for pair in inside if len(pair) == 1}
    return [
        content
        for content in contents
        if content[:2] not in inside and content[0] not in (lasts if len(content) > 1 else firsts)
    ]


def _cuts_at_words(tokenizer: Tokenizer, state: dict[str, Any]) -> bool:
    """Whether a space between letters always begins a new word, whatever stands before and after.

    Known for GPT-2's pattern, with or without split digits. Other patterns (Llama 3, Qwen, o200k, ...) are
    alternatives of character classes, matched from left to right: when they do not look back and split a probe at
    every such space, no alternative spans one.
    """
    if (state["normalizer"] or {"type": "NFC"})["type"] != "NFC":
        return False
    if any(token["lstrip"] or token["rstrip"] or token["single_word"] for token in state["added_tokens"]):
        return False
    if any(_WORD_START.search(token["content"]) for token in state["added_tokens"]):
        return False
    if state["model"]["type"] != "BPE" or state["model"].get("dropout"):
        return False
    return _splits_words(state["pre_tokenizer"]) and _probe_splits(tokenizer)


def _splits_words(pre_tokenizer: dict[str, Any] | None) -> bool:
    steps = [] if pre_tokenizer is None else pre_tokenizer.get("pretokenizers", [pre_tokenizer])
    if not steps or steps[-1]["type"] != "ByteLevel" or steps[-1]["add_prefix_space"]:
        return False
    patterns = []
    for step in steps[:-1]:
        if step["type"] == "Split":
            patterns.append(step["pattern"].get("Regex", "^"))
        elif step["type"] != "Digits":
            return False
    return all(not _LOOKS_BACK.search(pattern) for pattern in patterns)


def _probe_splits(tokenizer: Tokenizer) -> bool:
    """Every space between letters in the probe is the start of a pre-token."""
    pre_tokenizer = tokenizer.pre_tokenizer
    assert pre_tokenizer is not None
    starts = {start for _, (start, _) in pre_tokenizer.pre_tokenize_str(_PROBE)}
    return all(match.start() in starts for match in _WORD_START.finditer(_PROBE))

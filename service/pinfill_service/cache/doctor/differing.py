"""The first difference between a prompt and the earlier one that it shares most with."""

from __future__ import annotations

from pinfill_service.cache.doctor.candidates import Comparison, Words
from pinfill_service.cache.doctor.excerpts import around, writable
from pinfill_service.cache.doctor.records import REPLY, Finding, Kind, PromptRecord
from pinfill_service.cache.doctor.text_cause import Cause, text_cause, writer_of
from pinfill_service.cache.doctor.volatile import Place
from pinfill_service.cache.doctor.wording import SUGGESTIONS, messages_were, place, text_sentence
from pinfill_service.prompt.segments import GENERATION_PROMPT

# Prompts that share fewer first tokens, and not their words, have nothing to do with each other.
_TEMPLATE_TOKENS = 16
# Messages of fewer tokens ("ok", "go on") are sent more than once.
_LONG_MESSAGE = 12


def never_seen() -> Finding:
    """The prompt has no beginning in common with any other, so there is no place where it left one."""
    words = "Nothing that is remembered begins like this prompt."
    return Finding("never_seen", None, None, "", "", words, SUGGESTIONS["never_seen"])


def explain_difference(current: PromptRecord, comparison: Comparison, position: int) -> Finding:
    """A finding about where a prompt and an earlier one part; reported for the token at `position`."""
    earlier, tokens = comparison.earlier, comparison.tokens
    label = current.label_at(min(tokens, max(0, len(current.token_ids) - 1)))
    cause = _cause(current, comparison, label)
    if cause.kind == "never_seen":
        return never_seen()
    at = comparison.characters
    if cause.kind == "reply_retokenised":  # the texts go on alike: show where the tokens part, as far as is known
        at = min(at or 0, current.scope(tokens)[0])
    return Finding(
        kind=cause.kind,
        position_tokens=position,
        segment=None if label is None else writable(label),
        before="" if at is None else around(earlier.all_text, at),
        after="" if at is None else around(current.text, at),
        explanation=writable(_explanation(cause, label, position)),
        suggestion=SUGGESTIONS[cause.kind],
        compared_with=writable(earlier.id) or None,
    )


def _explanation(cause: Cause, label: str | None, tokens: int) -> str:
    if cause.kind == "continues":
        return f"The prompt goes on where an earlier one ended, at token {tokens:,}; only what is new is evaluated."
    return text_sentence(cause.kind, place(label), cause.detail)


def _cause(current: PromptRecord, comparison: Comparison, label: str | None) -> Cause:
    if _is_retokenised(current, comparison):
        return Cause("reply_retokenised")
    if _continues(comparison):
        return Cause("continues")
    where = _place(current, comparison, label)
    earlier_label = comparison.earlier.label_at(comparison.tokens)
    cause = None if where is None else text_cause(where, earlier_label)
    if cause is not None:
        return cause
    if earlier_label == GENERATION_PROMPT:
        return Cause("continues")  # all messages are the same, and another one follows instead of the reply
    return _moved_message(current, comparison) or _vague_cause(current, comparison, where)


def _continues(comparison: Comparison) -> bool:
    """Whether the earlier prompt, with its reply, ends where the difference is."""
    text = comparison.earlier.all_text
    at_end = text is not None and comparison.characters == len(text) and len(text) > 0
    return comparison.tokens == comparison.earlier.total or at_end


def _is_retokenised(current: PromptRecord, comparison: Comparison) -> bool:
    """Whether the text around the first other token is the same."""
    earlier, tokens, at = comparison.earlier, comparison.tokens, comparison.characters
    text, total = earlier.all_text, earlier.total
    if at is None or text is None or tokens >= min(total, len(current.token_ids)):
        return False
    ours, theirs = current.piece_end(tokens), earlier.piece_end(tokens)
    # Of a reply no pieces are known, and its last token may have been another one because the text ended there.
    reply_end = len(text) if tokens < total - 1 else None
    ends = [end if end is not None else reply_end for end in (ours, theirs)]
    return all(end is not None and end <= at for end in ends)


def _place(current: PromptRecord, comparison: Comparison, label: str | None) -> Place | None:
    at, before, after = comparison.characters, comparison.earlier.all_text, current.text
    if at is None or before is None or after is None:
        return None
    (start, after_end), (_, before_end) = current.scope(comparison.tokens), comparison.earlier.scope(comparison.tokens)
    return Place(
        before, after, at, min(start, at), max(before_end, at), max(after_end, at), writer_of(label),
        open_ended=comparison.earlier.label_at(comparison.tokens) == REPLY,
    )  # fmt: skip


def _moved_message(current: PromptRecord, comparison: Comparison) -> Cause | None:
    """Messages that were left out or put in: what follows them is the same."""
    earlier, tokens = comparison.earlier, comparison.tokens
    old, new = earlier.segment_at(tokens), current.segment_at(tokens)
    if old is None or new is None:
        return None
    skipped = _find(earlier, old + 1, _tokens_of(current, new))
    if skipped is not None:
        return Cause("message_removed", messages_were(skipped - old))
    skipped = _find(current, new + 1, _tokens_of(earlier, old))
    return None if skipped is None else Cause("message_inserted", messages_were(skipped - new))


def _find(record: PromptRecord, first: int, message: tuple[int, ...]) -> int | None:
    """Index of the segment that holds exactly these tokens, from `first` on."""
    if len(message) < _LONG_MESSAGE:
        return None
    return next(
        (
            index
            for index in range(first, len(record.segments))
            if record.segments[index].end_token - record.segments[index].start_token == len(message)
            and _tokens_of(record, index) == message
        ),
        None,
    )


def _tokens_of(record: PromptRecord, index: int) -> tuple[int, ...]:
    segment = record.segments[index]
    return tuple(record.token_ids[segment.start_token : segment.end_token])


def _vague_cause(current: PromptRecord, comparison: Comparison, where: Place | None) -> Cause:
    """The texts differ, and nothing certain can be said about why."""
    index = current.segment_at(comparison.tokens)
    if not index and _is_another_prompt(comparison.tokens, len(current.token_ids), where):
        return Cause("never_seen")
    return Cause(_edited(current, index))


def _edited(current: PromptRecord, index: int | None) -> Kind:
    """The last message of a prompt is there to be another one each time; any other was edited."""
    if not index:
        return "message_edited"
    last = len(current.segments) - 1
    if current.segments[last].label == GENERATION_PROMPT:
        last -= 1
    return "new_message" if index == last and current.segments[index].label.startswith("message") else "message_edited"


def _is_another_prompt(tokens: int, total: int, where: Place | None) -> bool:
    """Whether prompts that part in their first segment have nothing else in common."""
    if tokens >= _TEMPLATE_TOKENS and tokens >= total // 4:
        return False
    if where is None:
        return tokens < _TEMPLATE_TOKENS
    old, new = where.before[where.start : where.before_end], where.after[where.start : where.after_end]
    return not Words(old).are_alike(Words(new))

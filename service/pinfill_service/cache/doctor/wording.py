"""What the doctor says: a few words for tables, one sentence that explains, one that says what to do."""

from __future__ import annotations

from pinfill_service.cache.doctor.records import Kind
from pinfill_service.prompt.stable.rules import BILLING_HEADER, DATES, TOOL_ORDER

_NOTHING = "There is nothing to do."

# The few words of a table.
TITLES: dict[Kind, str] = {
    "served": "all from the cache",
    "same": "the same",
    "continues": "goes on where an earlier one ended",
    "new_message": "another last message",
    "cache_off": "cache turned off",
    "scoring": "the prompt is scored",
    "not_reusable": "cannot be reused",
    "unreadable": "could not be read",
    "not_truncatable": "between two checkpoints",
    "evicted": "evicted",
    "not_kept": "no longer cached",
    "never_seen": "never seen",
    "not_remembered": "nothing to compare with",
    "namespace": "cached for other settings",
    "template": "another chat template",
    "volatile_header": "a header changed",
    "volatile_id": "an identifier changed",
    "clock": "a clock changed",
    "tools_reordered": "tools in another order",
    "tools_changed": "tools changed",
    "json_key_order": "JSON keys in another order",
    "json_format": "JSON written differently",
    "whitespace": "only white space differs",
    "thinking_dropped": "reasoning was left out",
    "reply_retokenised": "reply in other tokens",
    "message_removed": "a message was left out",
    "message_inserted": "a message was put in",
    "message_edited": "the text differs",
}

SUGGESTIONS: dict[Kind, str] = {
    "served": _NOTHING,
    "same": _NOTHING,
    "continues": _NOTHING,
    "new_message": _NOTHING,
    "cache_off": "Leave out `cache_prompt: false`, or set it to true, to let the request use the cache.",
    "scoring": "Ask for log probabilities of the prompt, or echo it, only where they are needed.",
    "not_reusable": "Another model, or a longer prompt, may be reusable.",
    "unreadable": "The prompt was evaluated again; look into the service's log if it happens more than once.",
    "not_truncatable": "Add to the end of a conversation instead of changing it, or use a model without such state.",
    "evicted": "Pin this prefix to keep it, or raise the memory budget.",
    "not_kept": "Pin this prefix to keep it, also while other prompts need room.",
    "never_seen": "Pin what many prompts begin with, so that even the first of them finds it.",
    "not_remembered": "Send the prompt once more: from now on it can be compared.",
    "namespace": "Use the same model, adapter and cache salt for prompts that should share what is cached.",
    "template": "Use the same chat template, with the same options, for prompts that should share what is cached.",
    "volatile_header": "Claude Code's header is left out where that rule is on (pinfill rules on "
    f"{BILLING_HEADER}); turn another one off in the client, or move it to the end of the prompt.",
    "volatile_id": "Leave the identifier out of the prompt, or move it to the last message.",
    "clock": "Move the date or time to the last message, or leave it out; the dates of Claude Code and opencode are "
    f"moved by a rule (pinfill rules on {DATES}).",
    "tools_reordered": "Let the client send its tools in a fixed order, or let a rule sort them by name (pinfill rules "
    f"on {TOOL_ORDER}).",
    "tools_changed": "Keep the same tools for a whole conversation; those added later belong at its end.",
    "json_key_order": "Let the client write JSON with sorted keys.",
    "json_format": "Let the client always write JSON with the same spacing and escapes.",
    "whitespace": "Let the client send the text back exactly as it was, with its spaces and line breaks.",
    "thinking_dropped": "Let the client send reasoning back, or turn it off; many templates leave out that of earlier "
    "answers, and only the answers behind it are evaluated again.",
    "reply_retokenised": _NOTHING[:-1] + ": the text is the same, and only the reply is evaluated again.",
    "message_removed": "Remove messages rarely and many at once: everything behind them is evaluated again.",
    "message_inserted": "Add messages at the end: everything behind one that is put in is evaluated again.",
    "message_edited": "Keep what changes at the end of the prompt: everything behind a change is evaluated again.",
}


def place(label: str | None) -> str:
    """A segment as a part of a sentence."""
    return "the prompt" if label is None or label == "prompt" else f'"{label}"'


def text_sentence(kind: Kind, where: str, detail: str = "") -> str:
    """One sentence about two texts that differ in `where`."""
    sentences = {
        "volatile_header": f"A header or version string in {where} differs.",
        "volatile_id": f"An identifier in {where} differs.",
        "clock": f"A date or time in {where} differs.",
        "tools_reordered": "The tools are the same, but in another order.",
        "tools_changed": f"The tools differ: {detail}.",
        "json_key_order": f"JSON in {where} has its keys in another order and is otherwise the same.",
        "json_format": f"JSON in {where} is written differently (spacing, escapes) and is otherwise the same.",
        "whitespace": f"Only white space differs in {where}.",
        "thinking_dropped": f"Reasoning that the earlier prompt had in {where} is left out now.",
        "reply_retokenised": f"The text of {where} is the same, but it was made of other tokens.",
        "message_removed": f"{_capital(detail)} left out in front of {where}.",
        "message_inserted": f"{_capital(detail)} put in with {where}.",
        "new_message": f"Everything in front of {where} is the same; that message is another one.",
        "message_edited": f"The text of {where} differs.",
    }
    return sentences[kind]


def messages_were(count: int) -> str:
    """`one message was`, `3 messages were`."""
    return "one message was" if count == 1 else f"{count:,} messages were"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

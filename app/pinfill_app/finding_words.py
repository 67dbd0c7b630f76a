"""What the doctor of the service finds, in the window's language, by the kind of the finding."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from pinfill_app.failure_words import told
from pinfill_app.translations import spoken
from pinfill_service.api.schemas.manage import Finding

# Where the window itself says all that the service's sentence does: the place, and the texts.
_SAID_BY_THE_WINDOW = (
    *("served", "same", "continues", "new_message", "cache_off", "scoring", "never_seen"),
    *("volatile_header", "volatile_id", "clock", "tools_reordered", "json_key_order", "json_format", "whitespace"),
    *("thinking_dropped", "reply_retokenised", "message_edited"),
)


def explanation(finding: Finding, *, short: bool = False) -> str:
    """Why a prompt left what is cached. `short`: without the service's own words, where there are ours."""
    if spoken() is None or not finding.explanation:  # asked for every line of a table: look nothing up in vain
        return finding.explanation
    words = explanations().get(finding.kind)
    if words is not None and (short or finding.kind in _SAID_BY_THE_WINDOW):
        return words
    return told(words, finding.explanation)


def suggestion(finding: Finding) -> str:
    """What to do about it; empty where the service suggests nothing."""
    if spoken() is None or not finding.suggestion:
        return finding.suggestion
    return suggestions().get(finding.kind, finding.suggestion)


def explanations() -> dict[str, str]:
    return {**_without_difference(), **_with_difference()}


def _without_difference() -> dict[str, str]:
    return {
        "served": _tr("All of the prompt that can be reused came from the cache."),
        "same": _tr("The prompt is the same as an earlier one."),
        "continues": _tr("The prompt goes on where an earlier one ended; only what is new is evaluated."),
        "new_message": _tr("Everything before is the same; the last message is another one."),
        "cache_off": _tr("The request turned the cache off."),
        "scoring": _tr("The request asks for log probabilities of the prompt, for which all of it is evaluated."),
        "not_reusable": _tr("What is cached cannot be reused for this prompt."),
        "unreadable": _tr("What was cached could not be read."),
        "not_truncatable": _tr("This model can go on at some places only, and the prompt left between two of them."),
        "evicted": _tr("It had been cached and was evicted, because room was needed."),
        "not_kept": _tr("It had been evaluated before, and is not cached any more."),
        "never_seen": _tr("Nothing that is cached begins like this prompt."),
        "not_remembered": _tr("What followed there in the cache is not remembered, so nothing can be compared."),
        "namespace": _tr("It is cached for another model or for other settings."),
        "template": _tr("It is cached for another chat template."),
    }


def _with_difference() -> dict[str, str]:
    return {
        "volatile_header": _tr("A header or version string differs."),
        "volatile_id": _tr("An identifier differs."),
        "clock": _tr("A date or time differs."),
        "tools_reordered": _tr("The tools are the same, but in another order."),
        "tools_changed": _tr("The tools differ."),
        "json_key_order": _tr("JSON has its keys in another order and is otherwise the same."),
        "json_format": _tr("JSON is written differently (spacing, escapes) and is otherwise the same."),
        "whitespace": _tr("Only white space differs."),
        "thinking_dropped": _tr("Reasoning that the earlier prompt had is left out now."),
        "reply_retokenised": _tr("The text is the same, but it was made of other tokens."),
        "message_removed": _tr("Messages were left out."),
        "message_inserted": _tr("Messages were put in."),
        "message_edited": _tr("The text differs."),
    }


def suggestions() -> dict[str, str]:
    nothing = _tr("There is nothing to do.")
    return {
        **dict.fromkeys(("served", "same", "continues", "new_message"), nothing),
        **_about_the_cache(),
        **_about_the_client(),
    }


def _about_the_cache() -> dict[str, str]:
    return {
        "cache_off": _tr("Leave out `cache_prompt: false`, or set it to true, to let the request use the cache."),
        "scoring": _tr("Ask for log probabilities of the prompt, or echo it, only where they are needed."),
        "not_reusable": _tr("Another model, or a longer prompt, may be reusable."),
        "unreadable": _tr("The prompt was evaluated again; look into the service's log if it happens more than once."),
        "not_truncatable": _tr(
            "Add to the end of a conversation instead of changing it, or use a model without such state."
        ),
        "evicted": _tr("Pin this prefix to keep it, or raise the memory budget."),
        "not_kept": _tr("Pin this prefix to keep it, also while other prompts need room."),
        "never_seen": _tr("Pin what many prompts begin with, so that even the first of them finds it."),
        "not_remembered": _tr("Send the prompt once more: from now on it can be compared."),
        "namespace": _tr("Use the same model, adapter and cache salt for prompts that should share what is cached."),
        "template": _tr(
            "Use the same chat template, with the same options, for prompts that should share what is cached."
        ),
    }


def _about_the_client() -> dict[str, str]:
    return {
        "volatile_header": _tr(
            "Claude Code's header is left out where that rule is on (pinfill rules on claude-billing-header); turn "
            "another one off in the client, or move it to the end of the prompt."
        ),
        "volatile_id": _tr("Leave the identifier out of the prompt, or move it to the last message."),
        "clock": _tr(
            "Move the date or time to the last message, or leave it out; the dates of Claude Code and opencode are "
            "moved by a rule (pinfill rules on dates-behind-tools)."
        ),
        "tools_reordered": _tr(
            "Let the client send its tools in a fixed order, or let a rule sort them by name (pinfill rules on "
            "tools-by-name)."
        ),
        "tools_changed": _tr("Keep the same tools for a whole conversation; those added later belong at its end."),
        "json_key_order": _tr("Let the client write JSON with sorted keys."),
        "json_format": _tr("Let the client always write JSON with the same spacing and escapes."),
        "whitespace": _tr("Let the client send the text back exactly as it was, with its spaces and line breaks."),
        "thinking_dropped": _tr(
            "Let the client send reasoning back, or turn it off; many templates leave out that of earlier answers, and "
            "only the answers behind it are evaluated again."
        ),
        "reply_retokenised": _tr(
            "There is nothing to do: the text is the same, and only the reply is evaluated again."
        ),
        "message_removed": _tr("Remove messages rarely and many at once: everything behind them is evaluated again."),
        "message_inserted": _tr("Add messages at the end: everything behind one that is put in is evaluated again."),
        "message_edited": _tr(
            "Keep what changes at the end of the prompt: everything behind a change is evaluated again."
        ),
    }


def _tr(text: str) -> str:
    return QCoreApplication.translate("findings", text)

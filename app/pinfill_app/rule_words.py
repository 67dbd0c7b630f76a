"""The rules for stable prompts, in the window's language: the service describes them in English, by name."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from pinfill_app.translations import spoken
from pinfill_service.api.schemas.manage import PromptRule


def title(rule: PromptRule) -> str:
    """What it does, in a few words."""
    return rule.title if spoken() is None else titles().get(rule.name, rule.title)


def description(rule: PromptRule) -> str:
    """What exactly it touches."""
    return rule.description if spoken() is None else descriptions().get(rule.name, rule.description)


def titles() -> dict[str, str]:
    return {
        "claude-billing-header": _tr("Claude Code's billing header is left out"),
        "dates-behind-tools": _tr("Dates of known clients stand behind the tools"),
        "tools-by-name": _tr("Tools are sorted by name"),
    }


def descriptions() -> dict[str, str]:
    return {
        "claude-billing-header": _tr(
            "Claude Code begins its system prompt with 'x-anthropic-billing-header: cc_version=...; ...', which is "
            "another one in every conversation. It is left out of the first system message, where it must be the first "
            "line."
        ),
        "dates-behind-tools": _tr(
            "The line with today's date that Claude Code and opencode put into their system prompts is moved to the "
            "front of the first user message, so that a new day changes nothing before it. Off by default: it adds a "
            "line to a message of the user's. Other dates and clocks stay where they are."
        ),
        "tools-by-name": _tr(
            "Tool definitions are put in the order of their names, for clients that send the same tools in changing "
            "order. Off by default: a model may prefer the first tools it reads."
        ),
    }


def _tr(text: str) -> str:
    return QCoreApplication.translate("rules", text)

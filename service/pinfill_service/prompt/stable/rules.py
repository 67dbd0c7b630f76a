"""The rules that make requests stable, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.stable.billing_header import without_billing_header
from pinfill_service.prompt.stable.dates import dates_in_first_message
from pinfill_service.prompt.stable.tool_order import tools_by_name

BILLING_HEADER, DATES, TOOL_ORDER = "claude-billing-header", "dates-behind-tools", "tools-by-name"


@dataclass(frozen=True, slots=True)
class Rule:
    """One change to requests, made before they are rendered.

    `description` tells people exactly what is touched; `default` is whether the rule is on where nobody chose. Rules
    that could change an answer for another reason than a shorter prompt are off. `prevents` are kinds of the doctor's
    findings.
    """

    name: str
    title: str
    description: str
    default: bool
    prevents: tuple[str, ...]
    apply: Callable[[ChatRequest], ChatRequest]


RULES = (
    Rule(
        BILLING_HEADER,
        "Claude Code's billing header is left out",
        "Claude Code begins its system prompt with 'x-anthropic-billing-header: cc_version=...; ...', which is another "
        "one in every conversation. It is left out of the first system message, where it must be the first line.",
        True,
        ("volatile_header",),
        without_billing_header,
    ),
    Rule(
        DATES,
        "Dates of known clients stand behind the tools",
        "The line with today's date that Claude Code and opencode put into their system prompts is moved to the front "
        "of the first user message, so that a new day changes nothing before it. Off by default: it adds a line to a "
        "message of the user's. Other dates and clocks stay where they are.",
        False,
        ("clock",),
        dates_in_first_message,
    ),
    Rule(
        TOOL_ORDER,
        "Tools are sorted by name",
        "Tool definitions are put in the order of their names, for clients that send the same tools in changing order. "
        "Off by default: a model may prefer the first tools it reads.",
        False,
        ("tools_reordered",),
        tools_by_name,
    ),
)


def is_on(rule: Rule, chosen: Mapping[str, bool]) -> bool:
    """Whether a rule is applied, `chosen` being what the user switched."""
    return chosen.get(rule.name, rule.default)


def stabilise(chat: ChatRequest, chosen: Mapping[str, bool]) -> ChatRequest:
    """The request, which `normalise` has seen, after all rules that are on."""
    for rule in RULES:
        if is_on(rule, chosen):
            chat = rule.apply(chat)
    return chat

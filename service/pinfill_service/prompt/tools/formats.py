"""What a chat template does with tools, found out by rendering a few messages with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

from pinfill_service.prompt.grammar.spec import CallWrapper
from pinfill_service.prompt.reply import Reply
from pinfill_service.prompt.sandbox import RenderLimits
from pinfill_service.prompt.template import ChatTemplate, TemplateError
from pinfill_service.prompt.tools.call_style import PLAIN_STYLE, call_style, tags
from pinfill_service.prompt.tools.going_on import SEAM
from pinfill_service.prompt.tools.offered import offered_tools
from pinfill_service.prompt.tools.probe import ANSWER, KEY, NAME, QUESTION, RESULT, TOOL, VALUES, calling, result
from pinfill_service.prompt.tools.reader import AnswerReader

_LIMITS = RenderLimits(steps=200_000, characters=1 << 20, seconds=1.0)


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """`native`: the template shows tools, results, and calls in a form that is read; else `plain` takes its place.

    The rest is how the template wants to be told: whether it takes a system message, and one behind the first, and two
    messages of one role in a row; arguments as JSON text instead of an object, the content of a message
    that only calls, one call a message, ids of nine letters and digits (Mistral's templates refuse others); and what it
    writes `between` a call and an answer right behind it, None where that is refused.
    """

    native: bool = False
    style: CallWrapper = PLAIN_STYLE
    system_messages: bool = True
    late_system: bool = True
    repeats: bool = True
    arguments_as_text: bool = False
    no_content: str | None = None
    one_call: bool = False
    short_ids: bool = False
    between: str | None = None


@lru_cache(maxsize=16)
def tool_format(template: ChatTemplate) -> ToolFormat:
    """What the template does with tools. Takes a few renderings the first time; never raises."""
    template = replace(template, limits=_LIMITS)
    plain = _turns(template)
    offer = _render(template, QUESTION)
    if offer is None or NAME not in offer or KEY not in offer:
        return plain
    for short_ids, as_text, no_content in product((False, True), (False, True), (None, "")):
        found = replace(plain, short_ids=short_ids, arguments_as_text=as_text, no_content=no_content)
        native = _native(template, found)
        if native is not None:
            return native
    return plain


def _turns(template: ChatTemplate) -> ToolFormat:
    """Which turns the template takes, and shows."""
    system, answer = {"role": "system", "content": RESULT}, {"role": "assistant", "content": ANSWER}
    first = _render(template, system, QUESTION)
    late = _render(template, QUESTION, answer, system, QUESTION)
    repeats = _render(template, QUESTION, QUESTION, answer, answer, QUESTION)
    return ToolFormat(
        system_messages=first is not None and RESULT in first,
        late_system=late is not None and RESULT in late,
        repeats=repeats is not None,
    )


def _native(template: ChatTemplate, told: ToolFormat) -> ToolFormat | None:
    """The format, if the template shows a call and its result when it is told like this."""
    call = calling(VALUES[:1], told)
    with_result = _render(template, QUESTION, call, result(VALUES[0], told))
    if with_result is None or RESULT not in with_result:
        return None
    words = _render(template, QUESTION, {"role": "assistant", "content": ANSWER})
    one, two = _render(template, QUESTION, call), _render(template, QUESTION, calling(VALUES, told))
    if words is None or one is None or one.count("None") > words.count("None"):
        return None
    if two is not None and not all(value in two for value in VALUES):
        two = None
    found = call_style(words, one, two)
    if found is None or not _is_read(*found):
        return None
    return replace(told, native=True, style=found[0], one_call=two is None, between=_between(template, told, found[1]))


def _between(template: ChatTemplate, told: ToolFormat, call: str) -> str | None:
    """What the template writes between a `call`, its own text, and an answer behind it."""
    answer = {"role": "assistant", "content": SEAM + ANSWER}
    turns = [QUESTION, calling(VALUES[:1], told), answer, result(VALUES[0], told), answer, QUESTION]
    begin, seam, end = (_render(template, *turns) or "").partition(SEAM + ANSWER)
    between = begin.rpartition(call)[2] if call in begin else ""
    return between if seam and between and RESULT in end else None


def _is_read(style: CallWrapper, text: str) -> bool:
    """Whether the reader finds in the template's own words the call that was put in."""
    reader, reply = AnswerReader(offered_tools([TOOL]), wrappers=tags(style)), Reply()
    reply.add([*reader.push(text), *reader.flush()])
    return [call.name for call in reply.calls] == [NAME] and VALUES[0] in reply.calls[0].arguments and not reply.words


def _render(template: ChatTemplate, *messages: Mapping[str, Any]) -> str | None:
    """The prompt with the probe's tool; None where the template refuses the messages."""
    tools: Sequence[Mapping[str, Any]] = (TOOL,)
    try:
        return template.render(messages, tools=tools)
    except TemplateError:
        return None

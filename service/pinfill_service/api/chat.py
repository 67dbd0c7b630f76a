"""The one way from a conversation, whatever API it came by, to a plan for the engine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from pinfill_service.api.context import Service
from pinfill_service.api.recording import Origin
from pinfill_service.api.running import Plan
from pinfill_service.api.session_hint import lasting_session
from pinfill_service.api.tool_checks import check_choice, check_tools
from pinfill_service.pins.content import PinnedPrefix
from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.stable import stabilise
from pinfill_service.prompt.text_model import ChatPrompt, TextModel

OFF_LOOP_CHARACTERS = 32_768  # longer prompts are rendered on another thread, so that other streams go on


@dataclass(frozen=True, slots=True)
class PreparedChat:
    """A conversation as the model reads it. Its prompt is checked against the context when the plan is submitted."""

    chat: ChatRequest
    prompt: ChatPrompt
    plan: Plan


async def prepare_chat(service: Service, chat: ChatRequest, model: str | None) -> PreparedChat:
    """The conversation, stable, behind the pin that `model` names, rendered. The pin's content stays as it was pinned.

    Raises ApiError, PinContentError, TemplateError, and SchemaError or GrammarError for a form that cannot be held to.
    """
    pin = service.virtual_model(model)
    check_tools(chat)
    chat = pin.chat(stabilise(chat, service.settings.rules))
    check_choice(chat)
    form = service.text.reply_form(chat)
    grammar = None if form is None else await asyncio.to_thread(service.text.grammars.compile, form)
    prompt = await render(service, chat, pin.prefix)
    plan = Plan(
        [prompt.ids],
        chat.options,
        origin=Origin(prompt.text, prompt.segments, prompt.pieces, chat),
        reader=partial(service.text.reply_reader, chat, prompt),
        grammar=grammar,
        remember=partial(service.text.remember_reply, chat, prompt) if chat.options.use_cache else None,
        session=lasting_session(chat),
    )
    return PreparedChat(chat, prompt, plan)


def thinking(effort: str | bool | None) -> dict[str, object]:
    """Template options for how much the model is to think: not at all, as the template has it, or with that effort."""
    if effort is None:
        return {}
    if effort is False or effort == "none":
        return {"enable_thinking": False}
    return {"enable_thinking": True} | ({"reasoning_effort": effort} if isinstance(effort, str) else {})


async def render(service: Service, chat: ChatRequest, pinned: PinnedPrefix | None = None) -> ChatPrompt:
    """The prompt of a conversation, behind a pin's prefix where one is given. Raises TemplateError."""
    if _size(chat) > OFF_LOOP_CHARACTERS:
        return await asyncio.to_thread(_render, service.text, chat, pinned)
    return _render(service.text, chat, pinned)


def _size(chat: ChatRequest) -> int:
    """About how many characters the prompt has. Agents' tools and calls are as long as what they say."""
    said = (message.get(name) for message in chat.messages for name in ("content", "reasoning_content", "tool_calls"))
    return sum(len(str(part)) for part in (*said, *chat.tools) if part)


def _render(text: TextModel, chat: ChatRequest, pinned: PinnedPrefix | None) -> ChatPrompt:
    prompt = text.chat_prompt(chat, echoes=True)
    if pinned is not None and prompt.ids[: len(pinned.token_ids)] != pinned.token_ids:
        return text.chat_prompt(chat)  # a pinned conversation has its own tokens
    return prompt

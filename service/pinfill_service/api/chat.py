"""The one way from a conversation, whatever API it came by, to a plan for the engine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from pinfill_service.api.context import Service
from pinfill_service.api.recording import Origin
from pinfill_service.api.running import Plan
from pinfill_service.api.tool_checks import check_tools
from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.text_model import ChatPrompt

OFF_LOOP_CHARACTERS = 32_768  # longer prompts are rendered on another thread, so that other streams go on


@dataclass(frozen=True, slots=True)
class PreparedChat:
    """A conversation as the model reads it. Its prompt is checked against the context when the plan is submitted."""

    chat: ChatRequest
    prompt: ChatPrompt
    plan: Plan


async def prepare_chat(service: Service, chat: ChatRequest, model: str | None) -> PreparedChat:
    """The conversation behind the pin that `model` names, rendered.

    Raises ApiError, PinContentError, TemplateError, and SchemaError or GrammarError for a form that cannot be held to.
    """
    chat = service.virtual_model(model).chat(chat)
    check_tools(chat)
    form = service.text.reply_form(chat)
    grammar = None if form is None else await asyncio.to_thread(service.text.grammars.compile, form)
    prompt = await render(service, chat)
    origin = Origin(prompt.text, prompt.segments, prompt.pieces, chat)
    reader = partial(service.text.reply_reader, chat, prompt)
    return PreparedChat(chat, prompt, Plan([prompt.ids], chat.options, origin=origin, reader=reader, grammar=grammar))


def thinking(effort: str | bool | None) -> dict[str, object]:
    """Template options for how much the model is to think: not at all, as the template has it, or with that effort."""
    if effort is None:
        return {}
    if effort is False or effort == "none":
        return {"enable_thinking": False}
    return {"enable_thinking": True} | ({"reasoning_effort": effort} if isinstance(effort, str) else {})


async def render(service: Service, chat: ChatRequest) -> ChatPrompt:
    """The prompt of a conversation. Raises TemplateError."""
    size = sum(len(str(message.get("content") or "")) for message in chat.messages)
    if size > OFF_LOOP_CHARACTERS:
        return await asyncio.to_thread(service.text.chat_prompt, chat)
    return service.text.chat_prompt(chat)

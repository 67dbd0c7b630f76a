"""The one way from a conversation, whatever API it came by, to a plan for the engine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pinfill_service.api.context import Service
from pinfill_service.api.recording import Origin
from pinfill_service.api.running import Plan
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
    """The conversation behind the pin that `model` names, rendered. Raises ApiError, PinContentError, TemplateError."""
    chat = service.virtual_model(model).chat(chat)
    prompt = await render(service, chat)
    origin = Origin(prompt.text, prompt.segments, prompt.pieces, chat)
    return PreparedChat(chat, prompt, Plan([prompt.ids], chat.options, origin=origin))


async def render(service: Service, chat: ChatRequest) -> ChatPrompt:
    """The prompt of a conversation. Raises TemplateError."""
    size = sum(len(str(message.get("content") or "")) for message in chat.messages)
    if size > OFF_LOOP_CHARACTERS:
        return await asyncio.to_thread(service.text.chat_prompt, chat)
    return service.text.chat_prompt(chat)

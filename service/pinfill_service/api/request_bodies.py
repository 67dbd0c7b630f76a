"""A request body of any API that takes conversations, read as the route it was meant for reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from pinfill_service.api import anthropic_request, openai_chat, responses
from pinfill_service.api.errors import invalid_value
from pinfill_service.api.responses_store import ResponseStore
from pinfill_service.api.schemas.anthropic import CountTokensRequest
from pinfill_service.api.schemas.openai import ChatCompletionRequest
from pinfill_service.api.schemas.responses import ResponsesRequest
from pinfill_service.api.tool_checks import check_tools
from pinfill_service.prompt.chat import ChatRequest, Hints
from pinfill_service.prompt.tools.definitions import DefinitionError, in_one_form

Body = Mapping[str, Any]

# What decides how a prompt begins. Other fields are not looked at: a body with a wrong temperature can be pinned.
_FIELDS = ("messages", "tools", "system", "instructions", "input", "previous_response_id")
_ANTHROPIC_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "document", "search_result")

Parsed = TypeVar("Parsed", bound=BaseModel)


def chat_of(body: Body, store: ResponseStore) -> ChatRequest:
    """The conversation that a body of chat completions, of the Responses API or of Anthropic's begins.

    `store` has the answers that one of the Responses API may go on from. Raises ApiError and RequestValidationError,
    which name the field at fault.
    """
    fields = {name: body[name] for name in _FIELDS if body.get(name) is not None}
    if "messages" not in fields and "input" not in fields and "instructions" not in fields:
        raise invalid_value("body", "it has neither messages nor input, so it is no request to pin")
    if "messages" not in fields:
        chat = responses.read(_parsed(ResponsesRequest, fields), store, Hints()).chat
    elif _is_anthropic(fields):
        chat = anthropic_request.chat_request(_parsed(CountTokensRequest, fields), {})
    else:
        chat = openai_chat.chat_request(_parsed(ChatCompletionRequest, _chat_fields(fields)), Hints())
    check_tools(chat)
    return chat


def _is_anthropic(fields: Body) -> bool:
    """Whether only Anthropic's API takes such a body; where both do, they mean the same."""
    if "system" in fields or any("input_schema" in tool for tool in _objects(fields.get("tools"))):
        return True
    blocks = (block for message in _objects(fields["messages"]) for block in _objects(message.get("content")))
    return any(block.get("type") in _ANTHROPIC_BLOCKS for block in blocks)


def _chat_fields(fields: Body) -> dict[str, Any]:
    """With the tools in the form of chat completions: people put others beside such messages, too."""
    tools = fields.get("tools")
    if not isinstance(tools, list) or len(_objects(tools)) != len(tools):
        return dict(fields)
    try:
        return {**fields, "tools": list(in_one_form(tools))}
    except DefinitionError as error:
        raise invalid_value(error.where, error.words) from None


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _parsed(schema: type[Parsed], fields: Body) -> Parsed:
    try:
        return schema.model_validate(fields)
    except ValidationError as error:
        found = [{**each, "loc": ("body", *each["loc"])} for each in error.errors(include_context=False)]
        raise RequestValidationError(found) from None

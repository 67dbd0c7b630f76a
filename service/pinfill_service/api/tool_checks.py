"""What is nonsense about the tools of a request, whichever API it came by."""

from __future__ import annotations

from pinfill_service.api.errors import ApiError, invalid_value
from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.tools.definitions import DefinitionError, check_definitions


def check_tools(chat: ChatRequest) -> None:
    """Raises ApiError for tools without a proper name, and two of one name."""
    try:
        check_definitions((f"tools.{number}.function", tool) for number, tool in enumerate(chat.tools))
    except DefinitionError as error:
        raise invalid_value(error.where, error.words) from None


def check_choice(chat: ChatRequest) -> None:
    """Raises ApiError for a choice that none of the tools fits, a pin's included."""
    names = {tool["function"]["name"] for tool in chat.tools}
    choice = chat.tool_choice
    for name in [choice.name] if choice.name is not None else sorted(choice.allowed or ()):
        if name not in names:
            raise _error(f"The tool {name!r} is not among the tools of this request.", "tool_choice")
    if chat.must_call and not chat.callable_tools:
        raise _error("The answer cannot call a tool: this request offers none.", "tool_choice")


def _error(message: str, param: str) -> ApiError:
    return ApiError(400, message, code="invalid_value", param=param)

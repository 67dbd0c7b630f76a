"""What is nonsense about the tools of a request, whichever API it came by."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pinfill_service.api.errors import ApiError
from pinfill_service.prompt.chat import ChatRequest

# Names stand in JSON and in tags, so they hold nothing that could end one; OpenAI allows less, MCP servers use more.
_NAME = re.compile(r"[\w.:/-]{1,256}")


def check_tools(chat: ChatRequest) -> None:
    """Raises ApiError for tools without a proper name, two of one name, and a choice that no tool fits."""
    names: set[str] = set()
    for number, tool in enumerate(chat.tools):
        where = f"tools.{number}.function"
        function = tool.get("function")
        if not isinstance(function, Mapping):
            raise _error("A tool needs a function with a name.", where)
        name = function.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise _error("A tool's name is made of 1 to 256 letters, digits and any of _ - . : /", f"{where}.name")
        if name in names:
            raise _error(f"There are two tools of the name {name!r}.", f"{where}.name")
        if not isinstance(function.get("parameters"), Mapping | None):
            raise _error("A tool's parameters are a JSON schema, which is an object.", f"{where}.parameters")
        names.add(name)
    choice = chat.tool_choice
    if choice.name is not None and choice.name not in names:
        raise _error(f"The tool {choice.name!r} is not among the tools of this request.", "tool_choice")
    if chat.must_call and not names:
        raise _error("The answer cannot call a tool: this request offers none.", "tool_choice")


def _error(message: str, param: str) -> ApiError:
    return ApiError(400, message, code="invalid_value", param=param)

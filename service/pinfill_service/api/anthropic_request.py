"""Anthropic's conversations in the internal form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from pinfill_service.api.anthropic_thinking import signed
from pinfill_service.api.errors import invalid_value
from pinfill_service.api.schemas.anthropic import (
    Block,
    ContentSource,
    CountTokensRequest,
    DocumentBlock,
    RedactedThinkingBlock,
    SearchResultBlock,
    TextBlock,
    ThinkingBlock,
    Tool,
    ToolChangeBlock,
    ToolReferenceBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from pinfill_service.api.schemas.anthropic import Message as Turn
from pinfill_service.api.session_hint import session_hint
from pinfill_service.prompt.chat import BEHIND, ChatRequest, Hints, JsonFormat, Message, ToolChoice, normalise

_MODES: dict[str, Literal["auto", "none", "required"]] = {"any": "required", "tool": "required", "none": "none"}
_THINKING = {"enabled": {"enable_thinking": True}, "disabled": {"enable_thinking": False}}


def chat_request(body: CountTokensRequest, headers: Mapping[str, str]) -> ChatRequest:
    """The request in the internal form. Raises ApiError.

    An answer that the client began, as the last message, is continued. `thinking` that is neither on nor off is left to
    the template: its default is what pinned prefixes were made with.
    """
    conversation = _Conversation()
    for number, block in enumerate(body.system):
        conversation.add(Turn(role="system", content=[block]), f"system.{number}")
    for number, turn in enumerate(body.messages):
        conversation.add(turn, f"messages.{number}")
    continued = conversation.begins_answer()
    messages, tools = normalise(conversation.messages), _tools(body)
    if not messages:
        raise invalid_value("messages", "there is nothing to answer")
    return ChatRequest(
        messages=messages,
        tools=tools,
        tool_choice=_tool_choice(body, tools),
        format=_format(body),
        hints=Hints(session_of(body, headers), _marks(body, messages, conversation.marked)),
        template_options=_THINKING.get(body.thinking.type, {}) if body.thinking else {},
        continue_final_message=continued,
        options=body.generation_options(),
    )


def session_of(body: CountTokensRequest, headers: Mapping[str, str]) -> str:
    """The conversation a request belongs to, as the client names it: in a header, or in `metadata.user_id`, which is
    JSON with a `session_id` in it, or any text.
    """
    named = session_hint(headers) or (body.metadata.user_id if body.metadata else None) or ""
    try:
        parts = json.loads(named)
    except (ValueError, RecursionError):
        parts = None
    inner = parts.get("session_id") if isinstance(parts, dict) else None
    return session_hint({}, inner if isinstance(inner, str) else named)


class _Conversation:
    """Takes a request's messages one after the other. `marked` are those whose ends the client marked."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.marked: list[dict[str, Any]] = []
        self._calls: dict[str, str] = {}  # names of tools by the ids of their calls

    def add(self, turn: Turn, path: str) -> None:
        if turn.role == "assistant":
            self._append(self._answer(turn.content, path), turn.content)
            return
        if not turn.content:
            self._append({"role": turn.role, "content": ""}, ())
        for is_result, group in groupby(turn.content, lambda block: isinstance(block, ToolResultBlock)):
            blocks = list(group)
            if is_result and turn.role == "user":
                for block in blocks:
                    assert isinstance(block, ToolResultBlock)
                    self._append(self._result(block, path), (block,))
            elif texts := list(_texts(blocks, turn.role, path)):
                self._append({"role": turn.role, "content": "\n".join(texts)}, blocks)

    def begins_answer(self) -> bool:
        """Whether the last message is the beginning of the answer; an empty one is taken away."""
        last = self.messages[-1] if self.messages else {}
        if last.get("role") != "assistant":
            return False
        if last.get("tool_calls"):
            raise invalid_value("messages", "the last message calls tools. Send their results after it")
        if last["content"]:
            return True
        self.messages.pop()
        self.marked = [message for message in self.marked if message is not last]
        return False

    def _append(self, message: dict[str, Any], blocks: Iterable[Block]) -> None:
        self.messages.append(message)
        if any(block.cache_control is not None for block in blocks):
            self.marked.append(message)

    def _answer(self, blocks: Sequence[Block], path: str) -> dict[str, Any]:
        calls: list[dict[str, Any]] = []
        thoughts = [block.thinking or signed(block.signature) for block in blocks if isinstance(block, ThinkingBlock)]
        text = ""
        for is_call, group in groupby(blocks, lambda block: isinstance(block, ToolUseBlock)):
            if is_call:
                calls += [self._call(block) for block in group if isinstance(block, ToolUseBlock)]
            elif words := "".join(_texts(group, "assistant", path)):
                if calls:
                    calls[-1][BEHIND] = words
                else:
                    text = words
        message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None}
        if any(thoughts):
            message["reasoning_content"] = "".join(thoughts)
        if calls:
            message["tool_calls"] = calls
        return message

    def _call(self, block: ToolUseBlock) -> dict[str, Any]:
        self._calls[block.id] = block.name
        return {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": block.input}}

    def _result(self, block: ToolResultBlock, path: str) -> dict[str, Any]:
        if block.tool_use_id not in self._calls:
            raise invalid_value(path, "a tool_result needs a tool_use block with its tool_use_id before it")
        references = [each.tool_name for each in block.content if isinstance(each, ToolReferenceBlock)]
        content = "\n".join(_text(each) for each in block.content if not isinstance(each, ToolReferenceBlock))
        message: dict[str, Any] = {
            "role": "tool",
            "tool_call_id": block.tool_use_id,
            "name": self._calls[block.tool_use_id],
            "content": f"Error: {content}" if block.is_error else content,
        }
        return message | ({"tool_references": references} if references else {})


def _texts(blocks: Iterable[Block], role: str, path: str) -> Iterator[str]:
    """The texts of blocks; those of other roles are refused, those that hold none left out."""
    for block in blocks:
        if isinstance(block, TextBlock) or (role == "user" and isinstance(block, DocumentBlock | SearchResultBlock)):
            yield _text(block)
        elif isinstance(block, ToolChangeBlock) or (
            role == "assistant" and isinstance(block, ThinkingBlock | RedactedThinkingBlock)
        ):
            continue
        else:
            kind = getattr(block, "type", "")
            raise invalid_value(path, f"a message of the role {role} cannot hold a block of type {kind}")


def _text(block: TextBlock | DocumentBlock | SearchResultBlock) -> str:
    match block:
        case TextBlock():
            return block.text
        case SearchResultBlock():
            return "\n".join([block.title, block.source, *(each.text for each in block.content)])
        case DocumentBlock():
            source = block.source
            texts = [each.text for each in source.content] if isinstance(source, ContentSource) else [source.data]
            return "\n".join([*(each for each in (block.title, block.context) if each), *texts])


def _tools(body: CountTokensRequest) -> tuple[dict[str, Any], ...]:
    """The tools the client runs, in the client's order. A deferred one is marked, unless a message brings it in."""
    added = {
        block.tool.get("name")
        for message in body.messages
        for block in message.content
        if isinstance(block, ToolChangeBlock) and block.type == "tool_addition"
    }
    tools: dict[str, dict[str, Any]] = {}
    for number, tool in enumerate(body.tools):
        if tool.type not in (None, "custom"):
            continue  # it would run at Anthropic, or only their models know it
        if not tool.name:
            raise invalid_value(f"tools.{number}", "a tool needs a name")
        if tool.name in tools:
            raise invalid_value(f"tools.{number}", f"there is another tool of the name {tool.name!r}")
        deferred = {"defer_loading": True} if tool.defer_loading and tool.name not in added else {}
        tools[tool.name] = {"type": "function", "function": _function(tool), **deferred}
    return tuple(tools.values())


def _function(tool: Tool) -> dict[str, Any]:
    description = {} if tool.description is None else {"description": tool.description}
    parameters = {"type": "object", "properties": {}} if tool.input_schema is None else tool.input_schema
    return {"name": tool.name, **description, "parameters": parameters}


def _tool_choice(body: CountTokensRequest, tools: Sequence[Mapping[str, Any]]) -> ToolChoice:
    choice = body.tool_choice
    if choice is None:
        return ToolChoice()
    names = [tool["function"]["name"] for tool in tools]
    if choice.type == "tool" and choice.name not in names:
        raise invalid_value("tool_choice.name", f"there is no tool of the name {choice.name!r} among the tools")
    if choice.type == "any" and not names:
        raise invalid_value("tool_choice", "there are no tools to choose from")
    name = choice.name if choice.type == "tool" else None
    return ToolChoice(_MODES.get(choice.type, "auto"), name, not choice.disable_parallel_tool_use)


def _format(body: CountTokensRequest) -> JsonFormat | None:
    wanted = body.output_config.format if body.output_config else None
    return JsonFormat(wanted.json_schema) if wanted else None


def _marks(body: CountTokensRequest, messages: Sequence[Message], marked: Sequence[Message]) -> tuple[int, ...]:
    """The numbers of the marked messages in their final order; the early system messages are number 0 by then."""
    numbers = {id(message): number for number, message in enumerate(messages)}
    marks = {numbers.get(id(message), 0) for message in marked}
    if body.cache_control is not None:
        marks.add(len(messages) - 1)
    if any(tool.cache_control is not None for tool in body.tools):
        marks.add(-1)
    return tuple(sorted(marks))

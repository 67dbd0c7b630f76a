"""What a pin holds, and which tokens of it stay the same whatever follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pinfill_service.pins.errors import PinContentError
from pinfill_service.prompt.chat import ChatRequest, Message, normalise, tool_name
from pinfill_service.prompt.template import TemplateError
from pinfill_service.prompt.text_model import TextModel

Kind = Literal["text", "messages", "raw"]

# Roles whose message is answered by the assistant as well as followed by the user.
_ANSWERED = ("user", "tool")


@dataclass(frozen=True, slots=True)
class PinContent:
    """The beginning of conversations (`messages`, `tools`), or of texts (`text`) that /v1/completions continues.

    `token_ids` are the exact ids of a text that came from the cache; they belong to the model it was cached for.
    """

    kind: Kind
    messages: tuple[Message, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    text: str = ""
    token_ids: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        content: dict[str, Any] = {"kind": self.kind}
        for name, value in (("messages", self.messages), ("tools", self.tools), ("token_ids", self.token_ids)):
            if value:
                content[name] = list(value)
        if self.text:
            content["text"] = self.text
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> PinContent:
        """Raises KeyError for what `as_json` did not write."""
        return cls(
            content["kind"],
            tuple(content.get("messages", ())),
            tuple(content.get("tools", ())),
            content.get("text", ""),
            tuple(content.get("token_ids", ())),
        )


@dataclass(frozen=True, slots=True)
class PinnedPrefix:
    """A content as one model reads it: the tokens that are pinned, their text, and a prompt that goes on from them."""

    token_ids: list[int]
    text: str
    example: list[int]


def system_text(text: str) -> PinContent:
    """A text as the system prompt of conversations."""
    return PinContent("text", ({"role": "system", "content": text},))


def conversation(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()) -> PinContent:
    """Messages, in the form of `ChatRequest`, and tools."""
    return PinContent("messages", normalise(messages), tuple(tools))


def raw_text(text: str, token_ids: Sequence[int] = ()) -> PinContent:
    """A text that is continued as it is."""
    return PinContent("raw", text=text, token_ids=tuple(token_ids))


def pinned_prefix(content: PinContent, model: TextModel) -> PinnedPrefix:
    """The tokens that every prompt beginning with `content` has in common.

    Raises PinContentError when there are none, and TemplateError.
    """
    if content.kind == "raw":
        ids = list(content.token_ids) or model.tokenizer.encode_prompt(content.text)
        prefix = PinnedPrefix(ids, content.text, ids)
    else:
        prompts = list(_continued(content, model))
        length = min(common_length(prompts[0], other) for other in prompts[1:])
        ids = prompts[0][:length]
        prefix = PinnedPrefix(ids, model.tokenizer.decode(ids), prompts[0])
    if not prefix.token_ids:
        raise PinContentError("Nothing of this stays the same in front of different messages, so it cannot be pinned.")
    return prefix


def _continued(content: PinContent, model: TextModel) -> Iterator[list[int]]:
    """The ids of prompts that go on from the content differently, at least two. Raises TemplateError."""
    last = content.messages[-1].get("role") if content.messages else None
    found, failure = 0, None
    for role in ("assistant", "user") if last in _ANSWERED else ("user",):
        try:
            for word in ("a", "b"):
                messages = (*content.messages, {"role": role, "content": word})
                yield model.chat_prompt(ChatRequest(messages, content.tools)).ids
                found += 1
        except TemplateError as error:  # a template may insist on turns taking turns
            failure = error
    if found < 2:
        assert failure is not None
        raise failure


def put_in_front(content: PinContent, chat: ChatRequest) -> ChatRequest:
    """The conversation with the pin's messages and tools in front of its own.

    A pin that is a system prompt and the request's own leading one become one message, joined by a blank line, as if
    the client had sent both. Behind a longer pin the request's stays where it is: moving it would change the cached
    prefix. Tools of a name the pin has already are left out; marks move with their messages. Raises PinContentError for
    a raw text.
    """
    if content.kind == "raw":
        raise PinContentError("This pin is a text that /v1/completions continues; chat cannot begin with it.")
    pinned, own = content.messages, chat.messages
    both = [*pinned[-1:], *own[:1]]
    if len(pinned) == 1 and [message.get("role") for message in both] == ["system", "system"]:
        own = (*normalise(both), *own[1:])
        pinned = ()
    messages = (*pinned, *own)
    names = {tool_name(tool) for tool in content.tools}
    tools = (*content.tools, *(tool for tool in chat.tools if tool_name(tool) not in names))
    moved = len(messages) - len(chat.messages)
    marks = tuple(mark + moved if mark >= 0 else mark for mark in chat.hints.marks)
    return replace(chat, messages=messages, tools=tools, hints=replace(chat.hints, marks=marks))


def split_model(model: str | None) -> tuple[str | None, str | None]:
    """("smollm2-135m", "rubric") of "smollm2-135m@rubric"; the pin is None when none is named."""
    name, at, pin = (model or "").partition("@")
    return (name, pin) if at else (model, None)


def common_length(a: Sequence[int], b: Sequence[int]) -> int:
    """How many ids two prompts share from the start. Both lists or both arrays: their slices are compared."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:  # a[:low] is common, a[:high] is not; comparing halves is a hundred times a Python loop
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low

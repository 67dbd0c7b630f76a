"""One internal form of a request, whatever dialect it came in, and its way to token ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pinfill_service.engine.interface import Sampling

Message = Mapping[str, Any]

BEHIND = "words_behind"


@dataclass(frozen=True, slots=True)
class GenerationOptions:
    """How to continue a prompt. `max_tokens` None: as far as the context reaches."""

    max_tokens: int | None = None
    sampling: Sampling = field(default_factory=Sampling)
    stop: tuple[str, ...] = ()
    n: int = 1
    ignore_eos: bool = False
    salt: str = ""
    use_cache: bool = True


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether the answer may, must or must not call tools. `name`: only this one; `allowed`: only these; not
    `parallel`: one call. All tools stay in the prompt, so that it is the same whatever is chosen.
    """

    mode: Literal["auto", "none", "required"] = "auto"
    name: str | None = None
    parallel: bool = True
    allowed: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """The answer is a JSON value that fits the schema; None: any JSON object."""

    schema: Mapping[str, Any] | bool | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client tells about how its requests belong together. They guide the cache and never change an answer.

    `session` names the conversation, empty when the client names none. `marks` are the numbers of messages (from 0)
    whose ends the client expects to see again; -1 stands for the tools.
    """

    session: str = ""
    marks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A conversation to continue. Messages have the keys chat templates know: role, content (text), name, tool_calls,
    tool_call_id, reasoning_content; build them with `normalise`. Tools have OpenAI's form: {"type": "function",
    "function": {"name", "description", "parameters"}}, and so have calls; their arguments are an object or JSON text.
    A call may have BEHIND beside "function": the words with which its answer goes on behind it.

    A tool with `"defer_loading": true` beside "function" can be called, but stands only in the messages whose
    `tool_references`, a list, name it.
    """

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: ToolChoice = ToolChoice()
    format: JsonFormat | None = None
    hints: Hints = Hints()
    template_options: Mapping[str, Any] = field(default_factory=dict)
    continue_final_message: bool = False
    options: GenerationOptions = field(default_factory=GenerationOptions)

    @property
    def must_call(self) -> bool:
        """Whether the answer is nothing but tool calls."""
        return self.tool_choice.mode == "required" or self.tool_choice.name is not None

    @property
    def constrained(self) -> bool:
        """Whether the answer has to be of a certain form from its first character on."""
        return self.must_call or self.format is not None

    @property
    def callable_tools(self) -> tuple[Mapping[str, Any], ...]:
        """The tools that the answer may call: none when it has to be JSON instead."""
        if self.tool_choice.mode == "none" or (self.format is not None and not self.must_call):
            return ()
        choice = self.tool_choice
        wanted = choice.allowed if choice.name is None else {choice.name}
        return tuple(tool for tool in self.tools if wanted is None or tool["function"]["name"] in wanted)


def normalise(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages as templates expect them: `developer` means `system`, and the system messages before the first answer
    are one system message at the front. Later ones stay where they are: moving them would change the cached prefix.
    """
    renamed = [{**message, "role": "system"} if message.get("role") == "developer" else message for message in messages]
    answer = next((at for at, message in enumerate(renamed) if message.get("role") == "assistant"), len(renamed))
    system = [message for message in renamed[:answer] if message.get("role") == "system"]
    if not system:
        return tuple(renamed)
    others = [message for message in renamed[:answer] if message.get("role") != "system"]
    content = "\n\n".join(str(message.get("content") or "") for message in system)
    return ({**system[0], "content": content}, *others, *renamed[answer:])


def tool_name(tool: Mapping[str, Any]) -> str:
    """The name of a tool definition, in OpenAI's form or a flat one."""
    function = tool.get("function")
    return str((function if isinstance(function, Mapping) else tool).get("name", ""))

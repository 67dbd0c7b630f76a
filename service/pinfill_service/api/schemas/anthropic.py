"""Anthropic's requests as far as they are understood. Fields that are not are ignored; null means absent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from pinfill_service.api.schemas.openai import Stops
from pinfill_service.engine.interface import Sampling
from pinfill_service.prompt.chat import GenerationOptions

_MAX_KIND = 60  # characters of a type that is quoted
_UNSUPPORTED = "content of type {kind} is not supported, only text, documents of text, thinking and tool calls"


def _as_blocks(content: Any) -> Any:
    """A text means the same as one block of text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _as_list(value: Any) -> Any:
    return [] if value is None else value


def _quoted(kind: str) -> str:
    return repr(kind[:_MAX_KIND])


def _supported(*kinds: str) -> BeforeValidator:
    """Refuses blocks of other types by their name; blocks without one are left to the validation that follows."""

    def check(block: Any) -> Any:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(kind, str) and kind not in kinds:
            raise PydanticCustomError("unsupported_content", _UNSUPPORTED, {"kind": _quoted(kind)})
        return block

    return BeforeValidator(check)


class _OrText:
    """Describes a list of blocks as what is accepted in its place: a text."""

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(core_schema)]}


class Block(BaseModel):
    """A piece of content. `cache_control`, when there is one, marks an end that the client expects to see again."""

    model_config = ConfigDict(extra="ignore")

    cache_control: dict[str, Any] | None = None


class TextBlock(Block):
    type: Literal["text"]
    text: str


TextBlocks = Annotated[
    list[Annotated[TextBlock, _supported("text")]], BeforeValidator(_as_blocks), BeforeValidator(_as_list), _OrText()
]


class TextSource(BaseModel):
    """A document given as a text."""

    type: Literal["text"]
    data: str


class ContentSource(BaseModel):
    """A document given as blocks of text."""

    type: Literal["content"]
    content: TextBlocks


def _text_source(source: Any) -> Any:
    kind = source.get("type") if isinstance(source, dict) else None
    if isinstance(kind, str) and kind not in ("text", "content"):
        raise PydanticCustomError(
            "unsupported_content",
            "documents of type {kind} (PDF and other files) are not supported, only documents of text",
            {"kind": _quoted(kind)},
        )
    return source


class DocumentBlock(Block):
    type: Literal["document"]
    source: Annotated[TextSource | ContentSource, Field(discriminator="type"), BeforeValidator(_text_source)]
    title: str | None = None
    context: str | None = None


class SearchResultBlock(Block):
    type: Literal["search_result"]
    source: str
    title: str
    content: TextBlocks


class ThinkingBlock(Block):
    type: Literal["thinking"]
    thinking: str = ""
    signature: str = ""


class RedactedThinkingBlock(Block):
    """Thinking that only its author can read."""

    type: Literal["redacted_thinking"]


class ToolUseBlock(Block):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any] = Field(default_factory=dict)


class ToolReferenceBlock(Block):
    """A tool that was found by a search, by its name."""

    type: Literal["tool_reference"]
    tool_name: str


ResultBlock = Annotated[
    TextBlock | DocumentBlock | SearchResultBlock | ToolReferenceBlock,
    Field(discriminator="type"),
    _supported("text", "document", "search_result", "tool_reference"),
]


class ToolResultBlock(Block):
    type: Literal["tool_result"]
    tool_use_id: str
    content: Annotated[list[ResultBlock], BeforeValidator(_as_blocks), BeforeValidator(_as_list), _OrText()] = Field(
        default_factory=list
    )
    is_error: bool | None = None


class ToolChangeBlock(Block):
    """From here on a tool is offered, or is not any more."""

    type: Literal["tool_addition", "tool_removal"]
    tool: dict[str, Any]


ContentBlock = Annotated[
    TextBlock
    | DocumentBlock
    | SearchResultBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolUseBlock
    | ToolResultBlock
    | ToolChangeBlock,
    Field(discriminator="type"),
    _supported(
        "text",
        "document",
        "search_result",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "tool_addition",
        "tool_removal",
    ),
]


class Message(BaseModel):
    """One turn of a conversation."""

    role: Literal["user", "assistant", "system"]
    content: Annotated[list[ContentBlock], BeforeValidator(_as_blocks), _OrText()]


class Tool(BaseModel):
    """A tool. Those with a `type` other than "custom" run at Anthropic or are known to its models only."""

    model_config = ConfigDict(extra="ignore")

    type: str | None = None
    name: str | None = None
    description: str | None = None
    input_schema: dict[str, Any] | None = None
    defer_loading: bool | None = None
    cache_control: dict[str, Any] | None = None


class ToolChoice(BaseModel):
    """Whether the answer may, must or must not call tools; `name` belongs to "tool"."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class Thinking(BaseModel):
    """Whether the model may think before it answers ("enabled", "disabled", or as it likes), and is shown doing it."""

    type: str
    display: str | None = None


class JsonSchemaFormat(BaseModel):
    type: Literal["json_schema"]
    json_schema: dict[str, Any] = Field(alias="schema")


class OutputConfig(BaseModel):
    """The form of the answer."""

    format: JsonSchemaFormat | None = None


class Metadata(BaseModel):
    user_id: str | None = None


class CountTokensRequest(BaseModel):
    """POST /v1/messages/count_tokens"""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    model: str | None = None
    messages: list[Message] = Field(min_length=1)
    system: TextBlocks = Field(default_factory=list)
    tools: Annotated[list[Tool], BeforeValidator(_as_list)] = Field(default_factory=list)
    tool_choice: ToolChoice | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    cache_control: dict[str, Any] | None = None
    metadata: Metadata | None = None

    def generation_options(self) -> GenerationOptions:
        return GenerationOptions()


class MessagesRequest(CountTokensRequest):
    """POST /v1/messages"""

    max_tokens: int | None = Field(None, ge=0)
    stream: bool | None = None
    stop_sequences: Stops = ()
    temperature: float | None = Field(None, ge=0, le=100)
    top_p: float | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=-1, le=1 << 31)

    def generation_options(self) -> GenerationOptions:
        chosen = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": None if self.top_k is None else max(self.top_k, 0),
        }
        sampling = Sampling(**{name: value for name, value in chosen.items() if value is not None})  # type: ignore[arg-type]
        return GenerationOptions(self.max_tokens, sampling, self.stop_sequences)


class ErrorDetail(BaseModel):
    """What went wrong."""

    type: str
    message: str


class AnthropicErrorEnvelope(BaseModel):
    """Every error on Anthropic's routes. `request_id` is that of the header `request-id`."""

    type: Literal["error"]
    error: ErrorDetail
    request_id: str

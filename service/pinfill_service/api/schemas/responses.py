"""OpenAI's Responses API as far as it is understood. Fields that are not are ignored; null means absent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from pinfill_service.api.schemas.openai import SamplingFields
from pinfill_service.prompt.chat import GenerationOptions

MAX_METADATA = 16


def _as_items(value: Any) -> Any:
    """`input` as items: a text is a user's message."""
    return [{"type": "message", "role": "user", "content": value}] if isinstance(value, str) else value


_INPUT = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}, {"type": "null"}]}
_TOOL_CHOICE = {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "null"}]}


class TextFormat(BaseModel):
    """What the answer's text must be."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    description: str | None = None
    json_schema: dict[str, Any] | bool | None = Field(None, alias="schema")
    strict: bool | None = None


class TextOptions(BaseModel):
    """Options of the answer's text."""

    model_config = ConfigDict(extra="ignore")

    format: TextFormat | None = None
    verbosity: str | None = None


class ReasoningOptions(BaseModel):
    """Whether and how long the model thinks first, and whether the client asks for a summary of it."""

    model_config = ConfigDict(extra="ignore")

    effort: str | None = Field(None, max_length=64)
    summary: str | None = Field(None, max_length=64)
    generate_summary: str | None = Field(None, max_length=64)  # the older name of `summary`


class ResponsesRequest(SamplingFields):
    """POST /v1/responses"""

    model: str | None = None
    input: Annotated[list[dict[str, Any]] | None, BeforeValidator(_as_items), WithJsonSchema(_INPUT)] = None
    instructions: str | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    stream: bool | None = None
    max_output_tokens: int | None = Field(None, ge=1)
    tools: list[dict[str, Any]] | None = None
    tool_choice: Annotated[Any, WithJsonSchema(_TOOL_CHOICE)] = None
    parallel_tool_calls: bool | None = None
    text: TextOptions | None = None
    reasoning: ReasoningOptions | None = None
    prompt_cache_key: str | None = Field(None, max_length=512)
    metadata: (
        Annotated[
            dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]],
            Field(max_length=MAX_METADATA),
        ]
        | None
    ) = None
    background: bool | None = None
    conversation: Any = None
    prompt: Any = None

    def generation_options(self) -> GenerationOptions:
        return self.options(self.max_output_tokens)

    @property
    def wants_summary(self) -> bool:
        return self.reasoning is not None and bool(self.reasoning.summary or self.reasoning.generate_summary)

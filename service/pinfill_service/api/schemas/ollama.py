"""Ollama's requests as far as they are understood. Fields that are not are ignored; null means absent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from pinfill_service.api.schemas.openai import SamplingFields
from pinfill_service.prompt.chat import GenerationOptions

_FORMAT = {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "null"}]}


class OllamaOptions(SamplingFields):
    """`options`. What belongs to loading a model (num_ctx, num_gpu, ...) was decided when the service started: nothing
    a request says makes the context smaller.
    """

    num_predict: int | None = None  # negative: as far as the context reaches

    def generation_options(self) -> GenerationOptions:
        return self.options(self.num_predict)


class OllamaFunctionCall(BaseModel):
    """What a call calls."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(min_length=1)
    arguments: dict[str, Any] = Field(default_factory=dict)


class OllamaToolCall(BaseModel):
    """A call the model made earlier."""

    model_config = ConfigDict(extra="ignore")

    id: str | None = None
    function: OllamaFunctionCall


class OllamaMessage(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    thinking: str | None = None
    images: list[Any] | None = None
    tool_calls: list[OllamaToolCall] | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None


class OllamaFunction(BaseModel):
    """A function that may be called."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(min_length=1, max_length=128)
    description: str | None = None
    parameters: dict[str, Any] | None = None


class OllamaTool(BaseModel):
    """A tool the model is offered."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["function"] = "function"
    function: OllamaFunction


class OllamaRequest(BaseModel):
    """What chat and generate have in common. `keep_alive` is accepted: the model stays loaded in any case."""

    model_config = ConfigDict(extra="ignore")

    model: str | None = None
    stream: bool | None = None
    format: Annotated[Any, WithJsonSchema(_FORMAT)] = None
    options: OllamaOptions | None = None
    think: bool | str | None = None

    @property
    def streams(self) -> bool:
        """Unlike in other APIs a stream is what there is when nothing is said."""
        return self.stream is not False

    def generation_options(self) -> GenerationOptions:
        return (self.options or OllamaOptions.model_validate({})).generation_options()


class OllamaChatRequest(OllamaRequest):
    """POST /api/chat"""

    messages: list[OllamaMessage] | None = None
    tools: list[OllamaTool] | None = None


class OllamaGenerateRequest(OllamaRequest):
    """POST /api/generate. `context`, token ids of an earlier answer, is not read: the cache has what it was for."""

    prompt: str | None = None
    suffix: str | None = None
    system: str | None = None
    template: str | None = None
    raw: bool | None = None
    images: list[Any] | None = None


class OllamaShowRequest(BaseModel):
    """POST /api/show. `name` is what the field was called before."""

    model_config = ConfigDict(extra="ignore")

    model: str | None = None
    name: str | None = None


class OllamaError(BaseModel):
    """Every error of these routes."""

    error: str

"""OpenAI's requests as far as they are understood. Fields that are not are ignored; null means absent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from pinfill_service.engine.interface import Sampling
from pinfill_service.prompt.chat import GenerationOptions, JsonFormat, ToolChoice

MAX_STOPS = 16
MAX_CHOICES = 16
MAX_PROMPTS = 128
COMPLETION_MAX_TOKENS = 16  # OpenAI's default for /v1/completions
_SEED_MASK = (1 << 63) - 1


def _as_text(content: Any) -> Any:
    """Message content as one string; a list of text parts means the same as their texts, one a line."""
    if not isinstance(content, list):
        return content
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else type(part).__name__
        text = part.get("text") if isinstance(part, dict) else None
        if kind not in ("text", "input_text", "refusal"):
            raise PydanticCustomError(
                "unsupported_content", "content of type {kind} is not supported, only text", {"kind": repr(kind)}
            )
        if kind == "refusal":
            text = part.get("refusal")
        if not isinstance(text, str):
            raise PydanticCustomError("text_missing", "a part of type {kind} needs a text", {"kind": repr(kind)})
        texts.append(text)
    return "\n".join(texts)


def _as_tool_choice(value: Any) -> ToolChoice:
    if value in (None, "auto", "none", "required"):
        return ToolChoice(value or "auto")
    if isinstance(value, dict) and value.get("type") == "allowed_tools":
        return _as_allowed(value.get("allowed_tools"))
    name = _named(value)
    if name is None:
        raise PydanticCustomError(
            "tool_choice", 'it is "auto", "none", "required" or {{"type": "function", "function": {{"name": ...}}}}'
        )
    return ToolChoice("required", name)


def _as_allowed(allowed: Any) -> ToolChoice:
    mode, tools = (allowed.get("mode"), allowed.get("tools")) if isinstance(allowed, dict) else (None, None)
    names = [_named(tool) for tool in tools] if isinstance(tools, list) else [None]
    known = frozenset(name for name in names if name is not None)
    if mode not in ("auto", "required") or None in names:
        raise PydanticCustomError(
            "tool_choice", "allowed_tools needs a mode, auto or required, and a list of functions"
        )
    return ToolChoice(mode, allowed=known)


def _named(tool: Any) -> str | None:
    """The name in {"type": "function", "function": {"name": ...}}."""
    function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def _as_format(value: Any) -> JsonFormat | None:
    kind = value.get("type") if isinstance(value, dict) else None
    if value is None or kind == "text":
        return None
    holder = value.get("json_schema") if kind == "json_schema" else value
    schema = holder.get("schema") if isinstance(holder, dict) else None
    if kind == "json_object" and (schema is None or isinstance(schema, dict)):
        return JsonFormat(schema)
    if kind == "json_schema" and isinstance(schema, dict | bool):
        return JsonFormat(schema)
    raise PydanticCustomError(
        "response_format",
        'it has the type "text", "json_object" or "json_schema", this one with {{"json_schema": {{"schema": ...}}}}',
    )


def _as_stops(value: Any) -> Any:
    return () if value is None else (value,) if isinstance(value, str) else value


def _as_prompts(value: Any) -> Any:
    """A prompt, or several, as a list of texts and lists of token ids."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value:
        if all(type(item) is int for item in value):
            return [value]
        if all(isinstance(item, str) or _is_ids(item) for item in value):
            return value
    raise PydanticCustomError("prompt_type", "a prompt is a text, a list of texts, or one or more lists of token ids")


def _is_ids(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int for item in value)


_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"}]}
_CONTENT = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}, {"type": "null"}]}
_PROMPT = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"type": "integer"}},
        {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    ]
}
_TOOL_CHOICE = {"anyOf": [{"enum": ["none", "auto", "required"]}, {"type": "object"}, {"type": "null"}]}
_OBJECT = {"anyOf": [{"type": "object"}, {"type": "null"}]}
Stops = Annotated[
    tuple[Annotated[str, Field(max_length=1000)], ...],
    BeforeValidator(_as_stops),
    Field(max_length=MAX_STOPS),
    WithJsonSchema(_TEXTS),
]


class CalledFunction(BaseModel):
    """What a tool call calls. `arguments` are JSON text or, from some clients, the object itself."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(min_length=1)
    arguments: str | dict[str, Any] | None = None


class CallFields(BaseModel):
    """A tool call of an earlier answer."""

    model_config = ConfigDict(extra="ignore")

    id: str = ""
    type: Literal["function"] = "function"
    function: CalledFunction


class Message(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str | None, BeforeValidator(_as_text), WithJsonSchema(_CONTENT)] = None
    name: str | None = None
    tool_calls: list[CallFields] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None

    def for_template(self) -> dict[str, Any]:
        """The message as `ChatRequest` has it, without absent fields."""
        message = {name: value for name, value in self if value is not None}
        message.setdefault("content", "")
        if self.tool_calls:
            message["tool_calls"] = [call.model_dump() for call in self.tool_calls]
        return message


class StreamOptions(BaseModel):
    """`include_usage`: a last chunk without choices carries the usage."""

    include_usage: bool | None = None


class SamplingFields(BaseModel):
    """How to choose tokens and when to end, in the words that most APIs share."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    temperature: float | None = Field(None, ge=0, le=100)
    top_p: float | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=-1, le=1 << 31)
    min_p: float | None = Field(None, ge=0, le=1)
    repetition_penalty: float | None = Field(None, gt=0, le=100)
    repeat_penalty: float | None = Field(None, gt=0, le=100)  # llama-server's name for it
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    seed: int | None = Field(None, ge=-(1 << 63), lt=1 << 64)  # -1: a random one
    logit_bias: dict[Annotated[int, Field(ge=0)], Annotated[float, Field(ge=-100, le=100)]] | None = None
    stop: Stops = ()
    cache_prompt: bool | None = None
    cache_salt: str | None = Field(None, max_length=512)
    ignore_eos: bool | None = None

    def options(self, max_tokens: int | None, *, logprobs: int | None = None, n: int = 1) -> GenerationOptions:
        """The fields as generation options; a negative `max_tokens` is none."""
        return GenerationOptions(
            max_tokens=max_tokens if max_tokens is not None and max_tokens >= 0 else None,
            sampling=self._sampling(logprobs),
            stop=self.stop,
            n=n,
            ignore_eos=bool(self.ignore_eos),
            salt=self.cache_salt or "",
            use_cache=self.cache_prompt is not False,
        )

    def _sampling(self, logprobs: int | None) -> Sampling:
        chosen = {
            "temperature": self.temperature,
            "top_k": None if self.top_k is None else max(self.top_k, 0),
            "top_p": self.top_p,
            "min_p": self.min_p,
            "repetition_penalty": self.repetition_penalty
            if self.repetition_penalty is not None
            else self.repeat_penalty,
            "presence_penalty": self.presence_penalty,
            "frequency_penalty": self.frequency_penalty,
            "seed": None if self.seed is None or self.seed == -1 else self.seed & _SEED_MASK,
            "logit_bias": self.logit_bias,
            "logprobs": logprobs,
        }
        return Sampling(**{name: value for name, value in chosen.items() if value is not None})  # type: ignore[arg-type]


class GenerationFields(SamplingFields):
    """What chat and text completions have in common."""

    model: str | None = None
    max_tokens: int | None = Field(None, ge=-1)  # -1: as absent
    n: int | None = Field(None, ge=1, le=MAX_CHOICES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None

    @property
    def include_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


class ChatCompletionRequest(GenerationFields):
    """POST /v1/chat/completions"""

    messages: list[Message] = Field(min_length=1)
    max_completion_tokens: int | None = Field(None, ge=-1)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(None, ge=0, le=20)
    tools: list[dict[str, Any]] | None = None
    prompt_cache_key: str | None = None  # names the conversation
    tool_choice: Annotated[ToolChoice, PlainValidator(_as_tool_choice), WithJsonSchema(_TOOL_CHOICE)] = ToolChoice()
    parallel_tool_calls: bool | None = None
    response_format: Annotated[JsonFormat | None, PlainValidator(_as_format), WithJsonSchema(_OBJECT)] = None
    chat_template_kwargs: dict[str, Any] | None = None
    continue_final_message: bool | None = None

    def generation_options(self) -> GenerationOptions:
        limit = self.max_completion_tokens if self.max_completion_tokens is not None else self.max_tokens
        return self.options(limit, logprobs=(self.top_logprobs or 0) if self.logprobs else None, n=self.n or 1)


class CompletionRequest(GenerationFields):
    """POST /v1/completions"""

    prompt: Annotated[
        list[str | list[int]],
        BeforeValidator(_as_prompts),
        Field(min_length=1, max_length=MAX_PROMPTS),
        WithJsonSchema(_PROMPT),
    ]
    suffix: str | None = None
    echo: bool | None = None
    logprobs: int | None = Field(None, ge=0, le=20)
    best_of: int | None = Field(None, ge=1)

    def generation_options(self) -> GenerationOptions:
        limit = self.max_tokens if self.max_tokens is not None else COMPLETION_MAX_TOKENS
        return self.options(limit, logprobs=self.logprobs, n=self.n or 1)


class TokenizeRequest(BaseModel):
    """POST /tokenize"""

    content: str
    add_special: bool = False
    with_pieces: bool = False


class DetokenizeRequest(BaseModel):
    """POST /detokenize"""

    tokens: list[int]


class ErrorDetail(BaseModel):
    """What went wrong. `param` is the path of the field at fault."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorEnvelope(BaseModel):
    """Every error, on every route."""

    error: ErrorDetail

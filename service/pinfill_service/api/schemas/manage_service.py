"""The service, its models and its settings, as the management API takes and shows them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from pinfill_service.api.schemas.manage_base import ModelState, PinState, Schema


class LoadedModel(Schema):
    """The model that answers. `provider_note` says why it runs there."""

    name: str
    fingerprint: str
    context_length: int
    vocab_size: int
    kv_bytes_per_token: int
    provider: str
    provider_note: str


class MemoryUse(Schema):
    """Memory for KV: `pinned` or in use, `cached` by entries that may be evicted; `free` is what the budget leaves.

    `used` is all the memory that KV takes. That is more than pinned + cached until what nothing holds any more, which
    counts as free, has gone back to the system: after a minute in which nobody asked for anything.
    """

    pinned_bytes: int
    cached_bytes: int
    used_bytes: int
    free_bytes: int
    budget_bytes: int


class DiskUse(Schema):
    """KV files. `budget_bytes` 0: nothing is kept on disk."""

    used_bytes: int
    budget_bytes: int


class Activity(Schema):
    """What the engine is doing and has done since the model was loaded."""

    running: int
    waiting: int
    slots: int
    entries: int
    prompt_tokens_cached: int
    prompt_tokens_processed: int
    generated_tokens: int
    prefill_tokens_per_second: float | None
    decode_tokens_per_second: float | None
    saved_seconds: float
    evictions: int


class Problem(Schema):
    """Something a person should know. `message` ends with what to do, where there is something. `missing_model` names
    the model that was to be loaded and is not on this machine.
    """

    kind: Literal["disk", "history", "file_set_aside", "model", "memory"]
    message: str
    missing_model: str | None = None


class Status(Schema):
    """The service as a whole. `model` null: none is loaded."""

    version: str
    api_version: int
    pid: int
    started: float
    uptime_seconds: float
    model: LoadedModel | None
    model_state: ModelState
    activity: Activity | None
    memory: MemoryUse | None
    disk: DiskUse | None
    pins: dict[PinState, int]
    saved_seconds_today: float
    problems: list[Problem]


class ModelEntry(Schema):
    """A model of the catalogue, on this machine, or both. `bytes` are on disk when installed, else of the download.
    `kv_bytes_per_token` is null where it is not known before the model is here.
    """

    name: str
    title: str | None
    licence: str | None
    context_length: int | None
    kv_bytes_per_token: int | None = None
    bytes: int
    installed: bool
    in_catalogue: bool
    loaded: bool
    pulling: bool
    source: str | None
    outdated: str | None


class Models(Schema):
    """Models that are here or can be fetched."""

    models: list[ModelEntry]


class ModelTask(Schema):
    """Where a change of models stands."""

    name: str | None
    state: ModelState


class PromptRule(Schema):
    """A change that is made to requests before they become prompts, so that what means the same is the same.
    `default`: whether it is on where nobody chose. `prevents`: kinds of findings.
    """

    name: str
    title: str
    description: str
    default: bool
    on: bool
    prevents: list[str] = Field(default_factory=list)


class SettingsView(Schema):
    """Every setting but the API key, which is never shown: those that can change while the service runs, and those
    that are read when it starts. `rules` say what the setting of that name switches.
    """

    values: dict[str, Any]
    changeable: list[str]
    needs_restart: list[str]
    rules: list[PromptRule]


class SettingsChange(Schema):
    """Settings to change now and to keep in settings.toml. Any other setting is refused: it needs a restart. Rules that
    are not named stay as they are.
    """

    model_config = ConfigDict(extra="allow")

    memory_budget_mib: int | None = Field(default=None, ge=0)
    disk_budget_mib: int | None = Field(default=None, ge=0)
    keep_sessions: bool | None = None
    history: bool | None = None
    rules: dict[str, bool] | None = None

"""What the management API under /pinfill/v1 takes and answers; the tray app and the commands read it with these.

| route | takes | answers |
|---|---|---|
| GET status | | Status |
| GET entries | | Entries |
| DELETE entries/{id} | | Evicted; 404 no such entry, 409 pinned or in use |
| POST entries/evict-unpinned | | Evicted |
| GET pins | | Pins |
| POST pins | PinCreate | 201 Pin; 400 does not fit the context, 409 name taken, 507 does not fit a budget |
| GET pins/{name} | | Pin |
| PATCH pins/{name} | PinChange | Pin |
| DELETE pins/{name} | | Unpinned |
| GET pins/{name}/content | | PinText |
| POST pins/{name}/refresh | PinRefresh | Pin |
| POST pins/{name}/rebuild | | Pin |
| POST pins/{name}/verify | VerifyRequest (may be left out) | VerifyReport |
| GET requests?limit=&before= | | Requests, latest first |
| GET requests/{id} | | RequestDetail |
| GET savings?days= | | Savings |
| GET models | | Models |
| POST models/{name}/pull | | 202 ModelTask; progress comes as events |
| POST models/{name}/load | | ModelTask, when it is loaded |
| POST models/unload | | ModelTask |
| DELETE models/{name} | | ModelTask |
| GET settings | | SettingsView |
| PATCH settings | SettingsChange | SettingsView |
| GET events | Last-Event-ID as a header | an event stream; `data` of each event is one of the *Event models |

Errors have OpenAI's envelope. Sizes are bytes, durations seconds, times Unix times in seconds.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pinfill_service.api.schemas.openai import Message

API_VERSION = 1

PinState = Literal["queued", "prefilling", "warm", "cold", "stale", "failed"]
PinKind = Literal["text", "messages", "raw"]
ModelState = Literal["loading", "draining", "loaded", "unloaded", "failed", "pulling", "pulled", "removed"]


class _Schema(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


# -- pins --------------------------------------------------------------------------------------------------------------


class SourceFile(_Schema):
    """A file as the client read it. The service never opens it: `path` is for people and for whoever watches it."""

    path: str = Field(max_length=4096)
    size: int = Field(ge=0)
    mtime: float
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")  # of the file
    text_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")  # of the text taken from it


class PinContent(_Schema):
    """What a pin holds: exactly one of `text` (a system prompt), `messages` with `tools`, and `raw_text`, which is
    continued as it is by /v1/completions.
    """

    text: str | None = None
    messages: list[Message] | None = None
    tools: list[dict[str, Any]] | None = None
    raw_text: str | None = None

    @property
    def given(self) -> list[str]:
        """The names of the ways in which a content was given."""
        return [name for name in ("text", "messages", "raw_text") if getattr(self, name)]


class PinCreate(PinContent):
    """A new pin: with a content, or with what a recent request or a cached entry began with.

    `up_to` is the label of the last segment of the request to keep ("system", "message 3 (user)"); all but the
    generation prompt when it is left out.
    """

    name: str = Field(min_length=1, max_length=100)
    request_id: str | None = None
    up_to: str | None = None
    entry_id: str | None = None
    sources: list[SourceFile] = Field(default_factory=list, max_length=1000)
    auto_refresh: bool = False

    @model_validator(mode="after")
    def _one_origin(self) -> PinCreate:
        origins = [*self.given, *(name for name in ("request_id", "entry_id") if getattr(self, name))]
        if len(origins) != 1:
            raise ValueError("give one of text, messages, raw_text, request_id and entry_id")
        return self


class PinRefresh(PinContent):
    """What a pin holds from now on; without a content, what it held is prefilled again where it has to be."""

    sources: list[SourceFile] | None = Field(default=None, max_length=1000)

    @model_validator(mode="after")
    def _at_most_one_content(self) -> PinRefresh:
        if len(self.given) > 1:
            raise ValueError("give at most one of text, messages and raw_text")
        return self


class PinChange(_Schema):
    """Changes to a pin; what is left out stays. `position` counts from 0. `stale` says why its source is not what was
    pinned any more.
    """

    name: str | None = Field(default=None, min_length=1, max_length=100)
    position: int | None = Field(default=None, ge=0)
    auto_refresh: bool | None = None
    stale: str | None = Field(default=None, min_length=1, max_length=500)


class Verification(_Schema):
    """The outcome of the last verification of a pin."""

    at: float
    greedy_equal: bool
    largest_difference: float


class Pin(_Schema):
    """A pin as it stands. `done` and `total` are tokens while it is prefilled."""

    name: str
    kind: PinKind
    state: PinState
    reason: str | None  # why it is queued again, stale, failed, or not on disk
    position: int
    model: str  # the model it was made for
    use_as: str | None  # as the model of a request; null while it belongs to a model that is not loaded
    tokens: int
    shared_tokens: int  # of them with other pins
    done: int
    total: int
    seconds_left: float | None
    memory_bytes: int
    disk_bytes: int
    on_disk: bool  # it survives a restart
    auto_refresh: bool
    sources: list[SourceFile]
    created: float
    hits: int
    saved_seconds: float
    saved_seconds_today: float
    last_used: float | None
    prefill_seconds: float | None  # what it would cost to prefill it again
    verified: Verification | None


class Pins(_Schema):
    """All pins, in the user's order."""

    pins: list[Pin]


class PinText(_Schema):
    """What was pinned."""

    kind: PinKind
    text: str | None = None
    messages: list[dict[str, Any]] = Field(default_factory=list)
    tools: list[dict[str, Any]] = Field(default_factory=list)


class Unpinned(_Schema):
    """A pin that is gone, and what it would cost to get it back."""

    name: str
    tokens: int
    prefill_seconds: float | None


class VerifyRequest(_Schema):
    """`tokens`: how many greedy tokens to compare."""

    tokens: int = Field(default=16, ge=1, le=256)


class VerifyReport(_Schema):
    """A pin run cold and from the cache. `largest_difference` is over the best log probabilities of every token that
    both runs chose alike, and of the first that they did not.
    """

    name: str
    tokens_compared: int
    greedy_equal: bool
    largest_difference: float
    prompt_tokens: int
    cached_tokens: int
    cold_seconds: float
    cached_seconds: float


# -- entries -----------------------------------------------------------------------------------------------------------


class Entry(_Schema):
    """One cached prefix. `begins` are its first words."""

    id: str
    begins: str
    tokens: int
    shared_tokens: int
    memory_bytes: int
    disk_bytes: int
    in_memory: bool
    pinned: bool
    pin: str | None  # the pin that ends here
    in_use: bool
    hits: int
    saves_seconds: float  # of prefill for each hit
    idle_seconds: float
    client: str | None  # who last sent it, as far as it is remembered


class Entries(_Schema):
    """All cached prefixes, the most valuable first."""

    entries: list[Entry]


class Evicted(_Schema):
    """How many entries are gone."""

    entries: int


# -- requests and savings ----------------------------------------------------------------------------------------------


class Finding(_Schema):
    """Where and why a prompt left the cached prefix. `before` and `after` are the texts around that place."""

    kind: str
    position_tokens: int | None = None
    segment: str | None = None
    before: str = ""
    after: str = ""
    explanation: str = ""
    suggestion: str = ""
    compared_with: str | None = None  # id of the earlier request
    path: str | None = None  # where in a request body, when two were compared


class RequestSegment(_Schema):
    """A labelled stretch of a prompt, in tokens."""

    label: str
    tokens: int


class RequestSummary(_Schema):
    """One request. `cached_tokens + processed_tokens == prompt_tokens`."""

    id: str
    at: float
    route: str
    client: str
    model: str
    pin: str | None
    prompt_tokens: int
    cached_tokens: int
    processed_tokens: int
    generated_tokens: int
    queue_seconds: float
    prefill_seconds: float
    decode_seconds: float
    ttft_seconds: float
    saved_seconds: float
    finish_reason: str | None
    error: str | None
    miss_reason: str | None
    finding: Finding | None


class Requests(_Schema):
    """A page of the history. `before` for the next page; null on the last one."""

    requests: list[RequestSummary]
    before: str | None


class RequestDetail(RequestSummary):
    """One request with what is still remembered of its prompt."""

    segments: list[RequestSegment]
    text: str | None
    compared_with: str | None  # id of the earlier request that its finding is about
    compared_text: str | None
    can_be_pinned: bool


class SavingsPart(_Schema):
    """Sums over requests."""

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    saved_seconds: float = 0.0
    prefill_seconds: float = 0.0


class SavingsByPin(SavingsPart):
    """`pin` null: requests that no pin served."""

    pin: str | None


class SavingsByDay(SavingsPart):
    """`day` is a local date, YYYY-MM-DD."""

    day: str
    pin: str | None


class Savings(_Schema):
    """What reuse saved: seconds of prefill at this machine's measured speed, minus what restoring cost."""

    days: int
    total: SavingsPart
    by_pin: list[SavingsByPin]
    by_day: list[SavingsByDay]


# -- service -----------------------------------------------------------------------------------------------------------


class LoadedModel(_Schema):
    """The model that answers. `provider_note` says why it runs there."""

    name: str
    fingerprint: str
    context_length: int
    vocab_size: int
    kv_bytes_per_token: int
    provider: str
    provider_note: str


class MemoryUse(_Schema):
    """KV in memory: pinned (or in use) + cached == used; `free` is what the budget leaves."""

    pinned_bytes: int
    cached_bytes: int
    used_bytes: int
    free_bytes: int
    budget_bytes: int


class DiskUse(_Schema):
    """KV files. `budget_bytes` 0: nothing is kept on disk."""

    used_bytes: int
    budget_bytes: int


class Activity(_Schema):
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


class Problem(_Schema):
    """Something a person should know. `message` ends with what to do, where there is something."""

    kind: Literal["disk", "history", "file_set_aside", "model"]
    message: str


class Status(_Schema):
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


class ModelEntry(_Schema):
    """A model of the catalogue, on this machine, or both. `bytes` are on disk when installed, else of the download."""

    name: str
    title: str | None
    licence: str | None
    context_length: int | None
    bytes: int
    installed: bool
    in_catalogue: bool
    loaded: bool
    pulling: bool
    source: str | None
    outdated: str | None


class Models(_Schema):
    """Models that are here or can be fetched."""

    models: list[ModelEntry]


class ModelTask(_Schema):
    """Where a change of models stands."""

    name: str | None
    state: ModelState


class PromptRule(_Schema):
    """A change that is made to requests before they become prompts, so that what means the same is the same.
    `default`: whether it is on where nobody chose.
    """

    name: str
    title: str
    description: str
    default: bool
    on: bool


class SettingsView(_Schema):
    """Every setting but the API key, which is never shown: those that can change while the service runs, and those
    that are read when it starts. `rules` say what the setting of that name switches.
    """

    values: dict[str, Any]
    changeable: list[str]
    needs_restart: list[str]
    rules: list[PromptRule]


class SettingsChange(_Schema):
    """Settings to change now and to keep in settings.toml. Any other setting is refused: it needs a restart. Rules that
    are not named stay as they are.
    """

    model_config = ConfigDict(extra="allow")

    memory_budget_mib: int | None = Field(default=None, ge=0)
    disk_budget_mib: int | None = Field(default=None, ge=0)
    keep_sessions: bool | None = None
    history: bool | None = None
    rules: dict[str, bool] | None = None


# -- events ------------------------------------------------------------------------------------------------------------


class RequestStartedEvent(_Schema):
    """`request.started`: the request left the queue."""

    id: str
    route: str
    client: str
    model: str
    prompt_tokens: int
    cached_tokens: int
    miss_reason: str | None


class RequestProgressEvent(_Schema):
    """`request.progress`: a chunk of the prompt was evaluated."""

    id: str
    done: int
    total: int


class RequestFinishedEvent(RequestSummary):
    """`request.finished`"""


class PinStateEvent(_Schema):
    """`pin.state`: a pin is in another state, has another name, or is gone (`state` null)."""

    name: str
    state: PinState | None
    reason: str | None
    renamed_from: str | None = None


class PinProgressEvent(_Schema):
    """`pin.progress`"""

    name: str
    done: int
    total: int
    seconds_left: float | None


class EntryEvictedEvent(_Schema):
    """`entry.evicted`: `id` is null when room was needed: only how many is known."""

    id: str | None
    entries: int


class ModelStateEvent(_Schema):
    """`model.state`"""

    name: str | None
    state: ModelState
    message: str | None = None


class ModelProgressEvent(_Schema):
    """`model.progress`: of a pull, in bytes or layers by `stage`."""

    name: str
    stage: str
    done: int
    total: int | None


class DiskProblemEvent(_Schema):
    """`disk.problem`"""

    message: str


class ResetEvent(_Schema):
    """`reset`: events between Last-Event-ID and now are not remembered any more; ask for everything again."""

    missed: bool = True

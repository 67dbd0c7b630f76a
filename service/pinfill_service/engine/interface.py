"""What the HTTP side and the engine thread say to each other.

Only token ids cross this seam: text, templates and JSON stay on the HTTP side. No numpy, no onnxruntime in here, so
everything above the engine imports and tests without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.engine.events import Event


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen. The defaults sample from the model's own distribution.

    Penalties look at the generated tokens (presence, frequency: OpenAI's definition) or at prompt and generated tokens
    (repetition: the CTRL paper's, as transformers applies it).
    """

    temperature: float = 1.0  # 0: greedy
    top_k: int = 0  # 0: off
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int | None = None
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    logprobs: int | None = None  # None: off; k: the chosen token and the k best


class TokenMatcher(Protocol):
    """How far one sequence is in its grammar. Owned by that sequence; used by one thread at a time.

    Methods raise GrammarError when the grammar's limits are reached or its state is lost.
    """

    @property
    def may_end(self) -> bool:
        """Whether the tokens accepted so far are a complete text of the grammar."""
        ...

    @property
    def finished(self) -> bool:
        """Whether they are one that nothing can be added to."""
        ...

    def mask(self) -> bytes:
        """The tokens that may come next: one bit for each token id, least significant first. Ids beyond it may not."""
        ...

    def accept(self, token_id: int) -> None:
        """Goes on with a token that the mask allowed."""
        ...


class Grammar(Protocol):
    """What a reply must look like. Immutable; made on the HTTP side, may serve many requests at once."""

    def matcher(self) -> TokenMatcher:
        """A new state at the beginning of the grammar. May be called from any thread; raises GrammarError."""
        ...


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One sequence to generate. `prompt` is not empty and shorter than the context length."""

    prompt: Sequence[int]
    max_tokens: int
    sampling: Sampling = Sampling()
    stop_ids: frozenset[int] = frozenset()  # generation ends when one is sampled; it is not reported as text
    salt: str = ""  # requests with different salts never share KV
    use_cache: bool = True  # False: everything is prefilled and nothing is kept for others
    background: bool = False  # evaluated only while nobody else waits for anything
    pin: bool = False  # the prompt's KV is pinned as soon as it is there
    session: str = ""  # of a request that others will go on from; it is kept longer, and as long as its session is used
    boundaries: Sequence[int] = ()  # prompt lengths at which a segment ends; others are likely to differ there
    prompt_logprobs: int | None = None  # k: log probabilities of the prompt's own tokens; never reads the cache
    grammar: Grammar | None = None  # the reply's tokens make a text of it; it ends with "stop" when that is complete


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The loaded model, as the HTTP side needs it."""

    name: str
    fingerprint: str  # SHA-256 over everything in the folder that can change an answer
    context_length: int
    vocab_size: int
    kv_bytes_per_token: int
    provider: str
    provider_note: str
    runtime: str = ""  # what its speed depends on: onnxruntime's version, provider, processor and threads


@dataclass(frozen=True, slots=True)
class EngineStats:
    """One consistent look at the engine. Bytes are the memory that KV takes: protected + evictable + unused == total.

    Nothing holds what is unused: an idle engine gives it back to the system.
    """

    running: int
    waiting: int
    slots: int
    entries: int
    cached_tokens: int
    total_bytes: int
    protected_bytes: int
    evictable_bytes: int
    unused_bytes: int
    budget_bytes: int
    prompt_tokens_cached_total: int
    prompt_tokens_processed_total: int
    generated_tokens_total: int
    prefill_seconds_total: float
    decode_seconds_total: float
    saved_seconds_total: float
    evictions_total: int
    mismatches_total: int  # recorded and real KV length disagreed; each was turned into a miss
    short_of_memory: bool  # other programs need what would be cached; less than the budget is


@dataclass(frozen=True, slots=True)
class EntryInfo:
    """One cached prefix: a path in the prefix tree. Bytes of what it shares with others count in each of them."""

    id: str  # SHA-256 over namespace and token ids: the same prefix always has the same
    tokens: int
    shared_tokens: int  # of them with other entries
    memory_bytes: int
    disk_bytes: int
    in_memory: bool
    pinned: bool
    in_use: bool
    hits: int
    idle_seconds: float
    saves_seconds: float  # of prefill for each hit
    token_ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class PrefixState:
    """How much of a prefix is there: tokens in memory or on disk, and whether all of it is in files."""

    cached_tokens: int
    in_memory: bool
    on_disk: bool


@dataclass(frozen=True, slots=True)
class DiskState:
    """The files that hold KV: bytes used and allowed, and a sentence about each that could not be used."""

    used_bytes: int
    budget_bytes: int
    set_aside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Eviction:
    """A prefix that was cached in full until then; some of its end is not any more. `id` is that of its entry."""

    id: str
    salt: str
    token_ids: Sequence[int]
    seconds_ago: float


class Prefixes(Protocol):
    """What is cached, for people to see and touch. Futures are resolved on the engine thread, between two chunks."""

    def entries(self) -> Future[list[EntryInfo]]: ...

    def state(self, token_ids: Sequence[int]) -> Future[PrefixState]: ...

    def pin(self, token_ids: Sequence[int]) -> Future[bool]:
        """Keeps a cached prefix until `unpin`. False: it is not cached in full."""
        ...

    def unpin(self, token_ids: Sequence[int]) -> Future[None]:
        """Takes one pin back and deletes the files that only it needed."""
        ...

    def save(self, token_ids: Sequence[int]) -> Future[None]:
        """Writes a cached prefix to the disk. Fails with OSError, or LookupError when it is not cached in full."""
        ...

    def evict(self, entry_id: str) -> Future[bool]:
        """Forgets an entry that nothing protects, as far as no other shares it. False: there is no such one."""
        ...

    def evict_unpinned(self) -> Future[int]: ...

    def take_evictions(self) -> Future[list[Eviction]]:
        """What was evicted since the last call, the oldest first; of many only the latest are remembered."""
        ...

    def disk(self) -> DiskState | None:
        """What is on disk, looked at now; None where nothing is kept there. Raises OSError."""
        ...

    def set_budgets(self, memory_bytes: int, disk_bytes: int) -> Future[None]:
        """New limits. What is in memory beyond them is evicted; files are not deleted, but no more are written.

        The first budget for files opens them, with what is in them from earlier runs.
        """
        ...


class Engine(Protocol):
    """Generates tokens. Every method may be called from any thread."""

    @property
    def model(self) -> ModelInfo: ...

    @property
    def prefixes(self) -> Prefixes: ...

    @property
    def cost(self) -> PrefillCost:
        """What prefill costs with this model, as far as it was measured."""
        ...

    def submit(self, request: GenerationRequest, on_event: Callable[[Event], None]) -> int:
        """Queues a request and returns its id. `on_event` is called on the engine thread and must not block.

        Raises ContextLengthError, EngineBusyError, EngineClosedError or GrammarError at once.
        """
        ...

    def cancel(self, request_id: int, *, keep_reply: bool = False) -> None:
        """Stops a request within one chunk; its last event is Finished("cancelled"). Unknown ids are ignored.

        The prompt's finished chunks stay cached. `keep_reply`: what was generated may be continued (a stop string was
        found in it); otherwise it is forgotten.
        """
        ...

    def stats(self) -> EngineStats: ...

    def close(self) -> None:
        """Stops the engine thread; requests still running get Failed(EngineClosedError)."""
        ...

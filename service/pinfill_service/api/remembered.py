"""The last requests, kept in memory for the doctor, for pinning them, and for looking at them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from pinfill_service.api.schemas.manage import RequestSummary
from pinfill_service.cache.doctor import PromptRecord
from pinfill_service.prompt.chat import ChatRequest

MAX_REQUESTS = 200
MAX_TOKENS = 2_000_000  # of all prompts together: about 16 MB of ids, and their text


@dataclass(frozen=True, slots=True)
class Remembered:
    """One finished request. `chat` is None for a text that was continued."""

    summary: RequestSummary
    prompt: PromptRecord
    chat: ChatRequest | None


class RecentRequests:
    """Bounded by count and by tokens; the oldest go first. Nothing of it is ever written to disk. Thread-safe."""

    def __init__(self, max_requests: int = MAX_REQUESTS, max_tokens: int = MAX_TOKENS) -> None:
        self._max_requests, self._max_tokens = max_requests, max_tokens
        self._lock = threading.Lock()
        self._requests: OrderedDict[str, Remembered] = OrderedDict()
        self._tokens = 0
        self._numbers: dict[int, int] = {}

    def compact(self, token_ids: Sequence[int]) -> list[int]:
        """The same ids, made of the same objects every time: lists then take eight bytes a token and compare fast."""
        numbers = self._numbers
        return [numbers.setdefault(token_id, token_id) for token_id in token_ids]

    def add(self, request: Remembered) -> None:
        with self._lock:
            self._requests[request.summary.id] = request
            self._tokens += _size(request)
            while len(self._requests) > 1 and (
                len(self._requests) > self._max_requests or self._tokens > self._max_tokens
            ):
                self._tokens -= _size(self._requests.popitem(last=False)[1])

    def get(self, request_id: str) -> Remembered | None:
        with self._lock:
            return self._requests.get(request_id)

    def all(self) -> list[Remembered]:
        """Oldest first."""
        with self._lock:
            return list(self._requests.values())

    @property
    def prompts(self) -> list[PromptRecord]:
        return [request.prompt for request in self.all()]


def _size(request: Remembered) -> int:
    return len(request.prompt.token_ids) + len(request.prompt.reply_ids)

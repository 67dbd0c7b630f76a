"""Answers of the Responses API that a later request may go on from. They are kept in memory only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pinfill_service.api.json_text import dump_bytes
from pinfill_service.api.responses_input import Item

MAX_RESPONSES = 512
MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """An answer as it went out, and the items of the whole conversation up to it. Elements are shared between the
    answers of one conversation; `size` counts them in each all the same, in bytes of JSON.
    """

    response: Mapping[str, Any]
    items: tuple[Item, ...]
    size: int

    @property
    def id(self) -> str:
        return str(self.response["id"])


class ResponseStore:
    """Keeps the answers used last. Belongs to the event loop.

    Invariants: at most `max_responses` of them; the sum of their sizes is at most `max_bytes`.
    """

    def __init__(self, max_responses: int = MAX_RESPONSES, max_bytes: int = MAX_BYTES) -> None:
        self._max_responses, self._max_bytes = max_responses, max_bytes
        self._kept: OrderedDict[str, StoredResponse] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        return self._bytes

    def find(self, response_id: str) -> StoredResponse | None:
        """The answer, which counts as used."""
        found = self._kept.get(response_id)
        if found is not None:
            self._kept.move_to_end(response_id)
        return found

    def items(self) -> dict[str, Item]:
        """Everything that is kept, by its id; of items with the same one the newest."""
        everything = (item for stored in self._kept.values() for item in stored.items)
        return {item["id"]: item for item in everything if isinstance(item.get("id"), str)}

    def add(self, response: Mapping[str, Any], before: StoredResponse | None, items: Iterable[Item]) -> None:
        """Keeps an answer to `items` (its own output among them), which went on from `before`. The ones used longest
        ago make room; an answer beyond all room is not kept.
        """
        new = tuple(items)
        size = len(dump_bytes([response, new])) + (before.size if before is not None else 0)
        stored = StoredResponse(response, (*(before.items if before is not None else ()), *new), size)
        self.remove(stored.id)
        self._kept[stored.id] = stored
        self._bytes += size
        while len(self._kept) > self._max_responses or self._bytes > self._max_bytes:
            self.remove(next(iter(self._kept)))

    def remove(self, response_id: str) -> bool:
        """False when there is no such answer."""
        stored = self._kept.pop(response_id, None)
        if stored is None:
            return False
        self._bytes -= stored.size
        return True

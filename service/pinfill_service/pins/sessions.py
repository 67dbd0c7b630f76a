"""Keeps the most valuable prefixes that nobody pinned across restarts, when the user wants that."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from pinfill_service.engine.errors import EngineClosedError
from pinfill_service.engine.interface import DiskState, Engine, EntryInfo
from pinfill_service.pins.upkeep import session_value

log = logging.getLogger(__name__)

EVERY_SECONDS = 300.0
_MIN_TOKENS = 64  # prefilling fewer again costs next to nothing


class SessionKeeper:
    """Saves now and then, on a thread of its own; `keep` does it at once. Writes nothing unless `wanted` is true."""

    def __init__(self, current: Callable[[], Engine | None], wanted: Callable[[], bool], every: float = EVERY_SECONDS):
        self._current, self._wanted, self._every = current, wanted, every
        self._stopping = threading.Event()
        self._keeping = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="sessions", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()
        self._thread.join()

    def settle(self) -> None:
        """Returns when nothing is being saved. From then on only `current` is asked which engine there is."""
        with self._keeping:
            pass

    def keep(self, engine: Engine) -> int:
        """Saves what is worth it, and returns how many entries that were. Not while the engine is being closed."""
        if not self._wanted():
            return 0
        try:
            return keep_sessions(engine)
        except (OSError, EngineClosedError) as error:
            log.warning("the prompts of this session could not be kept for the next one: %s", error)
            return 0

    def _run(self) -> None:
        while not self._stopping.wait(self._every):
            with self._keeping:
                engine = self._current()
                if engine is not None:
                    self.keep(engine)


def keep_sessions(engine: Engine) -> int:
    """Saves the most valuable unpinned entries, as far as the disk budget goes beside what is pinned; files of others
    that are on disk only make room. Returns how many were saved.

    Raises OSError when the disk cannot be written, and EngineClosedError.
    """
    prefixes, disk = engine.prefixes, engine.prefixes.disk()
    if disk is None:
        return 0
    entries = prefixes.entries().result()
    wanted, rest = _within(entries, _room(entries, disk), engine.model.kv_bytes_per_token)
    for entry in rest:
        if entry.disk_bytes and not entry.in_memory:
            prefixes.evict(entry.id).result()
    saved = 0
    for entry in wanted:
        try:
            prefixes.save(entry.token_ids).result()
            saved += 1
        except LookupError:  # evicted meanwhile, or of a salted request: its key is not on disk, so neither is its KV
            continue
    return saved


def _room(entries: list[EntryInfo], disk: DiskState) -> int:
    """Bytes of the budget that pins leave."""
    return disk.budget_bytes - sum(entry.disk_bytes for entry in entries if entry.pinned)


def _within(entries: list[EntryInfo], room: int, bytes_per_token: int) -> tuple[list[EntryInfo], list[EntryInfo]]:
    """(unpinned entries to have on disk, the most valuable first; those that do not fit)."""
    wanted: list[EntryInfo] = []
    rest: list[EntryInfo] = []
    unpinned = [entry for entry in entries if not entry.pinned and entry.tokens >= _MIN_TOKENS]
    for entry in sorted(unpinned, key=session_value, reverse=True):
        size = (entry.tokens - entry.shared_tokens) * bytes_per_token
        if size <= room:
            room -= size
            wanted.append(entry)
        else:
            rest.append(entry)
    return wanted, rest

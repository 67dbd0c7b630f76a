"""What people see and do with cached prefixes, carried out on the engine thread between two chunks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

import numpy as np

from pinfill_service.cache.entries import entries, entry_id
from pinfill_service.cache.prefix_cache import PrefixCache
from pinfill_service.cache.prefix_tree import Tokens
from pinfill_service.engine.interface import DiskState, EntryInfo, Eviction, PrefixState
from pinfill_service.engine.persistence import Persistence
from pinfill_service.engine.sequence import salt_of
from pinfill_service.engine.worker import Worker

T = TypeVar("T")


log = logging.getLogger(__name__)

Call = Callable[[Callable[[], None]], None]


class WorkerPrefixes:
    """Implements `interface.Prefixes`. `call` runs a function on the engine thread; callable from any thread.

    Files are opened once there is a budget for them, and tried again whenever one is to be written until they could be.
    """

    def __init__(
        self,
        worker: Worker,
        call: Call,
        clock: Callable[[], float],
        open_files: Callable[[Call], Persistence] | None,
        disk_budget_bytes: int,
    ) -> None:
        self._worker, self._call, self._clock, self._open_files = worker, call, clock, open_files
        self._disk_budget = disk_budget_bytes
        self._files: Persistence | None = None
        self._problem: OSError | None = None  # why there are no files although there is a budget
        self._open()

    def close(self) -> None:
        """Waits for what is being written."""
        if self._files is not None:
            self._files.close()

    @property
    def _cache(self) -> PrefixCache:
        return self._worker.cache

    def entries(self) -> Future[list[EntryInfo]]:
        return self._on_engine(self._entries)

    def state(self, token_ids: Sequence[int]) -> Future[PrefixState]:
        return self._on_engine(lambda: self._state(np.array(token_ids, np.int32)))

    def pin(self, token_ids: Sequence[int]) -> Future[bool]:
        tokens = np.array(token_ids, np.int32)
        return self._on_engine(lambda: self._cache.pin(self._worker.namespace_for(len(tokens)), tokens))

    def unpin(self, token_ids: Sequence[int]) -> Future[None]:
        tokens = np.array(token_ids, np.int32)

        def unpin() -> None:
            namespace = self._worker.namespace_for(len(tokens))
            self._cache.unpin(namespace, tokens)
            self._cache.forget_files(namespace, tokens)

        return self._on_engine(unpin)

    def save(self, token_ids: Sequence[int]) -> Future[None]:
        tokens = np.array(token_ids, np.int32)
        future: Future[None] = Future()

        def done(error: OSError | None) -> None:
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

        def save() -> None:
            files = self._open()
            if files is None:
                done(self._problem or OSError("nothing is kept on disk"))
                return
            try:
                files.save(self._worker.namespace_for(len(tokens)), tokens, done)
            except LookupError as error:
                future.set_exception(error)

        self._call(save)
        return future

    def evict(self, entry_id: str) -> Future[bool]:
        return self._on_engine(lambda: self._evict(entry_id))

    def evict_unpinned(self) -> Future[int]:
        return self._on_engine(self._cache.evict_all)

    def take_evictions(self) -> Future[list[Eviction]]:
        return self._on_engine(self._take_evictions)

    def disk(self) -> DiskState | None:
        files = self._files
        if files is None and self._problem is not None:
            raise self._problem
        return files.disk_state() if files is not None and self._disk_budget else None

    def set_budgets(self, memory_bytes: int, disk_bytes: int) -> Future[None]:
        def change() -> None:
            self._cache.budget_bytes, self._disk_budget = memory_bytes, disk_bytes
            self._open()
            self._cache.enforce_budget()

        return self._on_engine(change)

    def _on_engine(self, function: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(function())
            except Exception as error:  # the asker's to handle; the engine goes on
                future.set_exception(error)

        self._call(run)
        return future

    # -- on the engine thread ------------------------------------------------------------------------------------

    def _open(self) -> Persistence | None:
        """The files, with the budget of now; None where nothing is kept on disk, or nothing can be."""
        if self._files is None and self._disk_budget and self._open_files is not None:
            try:
                self._files, self._problem = self._open_files(self._call), None
            except OSError as error:
                log.warning("nothing is kept on disk: %s", error)
                self._problem = error
        if self._files is not None:
            self._files.budget_bytes = self._disk_budget
        return self._files

    def _entries(self) -> list[EntryInfo]:
        now = self._clock()
        return [
            EntryInfo(
                id=entry_id(entry.namespace, entry.token_ids),
                tokens=len(entry.token_ids),
                shared_tokens=entry.shared_tokens,
                memory_bytes=entry.memory_bytes,
                disk_bytes=entry.disk_bytes,
                in_memory=entry.memory_bytes > 0,
                pinned=entry.pinned,
                in_use=entry.in_use,
                hits=entry.hits,
                idle_seconds=max(0.0, now - entry.last_used),
                saves_seconds=self._worker.cost.seconds(0, len(entry.token_ids)),
                token_ids=entry.token_ids.tolist(),
            )
            for entry in entries(self._cache.tree, self._worker.kv)
        ]

    def _take_evictions(self) -> list[Eviction]:
        now = self._clock()
        return [
            Eviction(
                entry_id(evicted.namespace, evicted.token_ids),
                salt_of(evicted.namespace),
                evicted.token_ids.tolist(),
                max(0.0, now - evicted.at),
            )
            for evicted in self._cache.take_evicted()
        ]

    def _state(self, tokens: Tokens) -> PrefixState:
        match = self._cache.tree.match(self._worker.namespace_for(len(tokens)), tokens)
        path, whole = match.node.path(), match.length == len(tokens)
        return PrefixState(
            cached_tokens=match.length,
            in_memory=whole and all(node.in_memory for node in path),
            on_disk=whole and all(node.disk is not None for node in path),
        )

    def _evict(self, wanted: str) -> bool:
        for entry in entries(self._cache.tree, self._worker.kv):
            if entry_id(entry.namespace, entry.token_ids) == wanted:
                return self._cache.evict_prefix(entry.namespace, entry.token_ids)
        return False

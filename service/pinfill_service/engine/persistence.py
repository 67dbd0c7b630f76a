"""Keeps cached prefixes in files, and brings them back after a restart."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pinfill_service.cache.contract import Snapshot
from pinfill_service.cache.kv_file import KvContent, KvFile
from pinfill_service.cache.kv_folder import KvFolder
from pinfill_service.cache.prefix_cache import PrefixCache
from pinfill_service.cache.prefix_tree import Tokens
from pinfill_service.engine.interface import DiskState
from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.pages import StoredSpan

log = logging.getLogger(__name__)

Done = Callable[[OSError | None], None]


class DiskFullError(OSError):
    """The files' budget does not hold another one."""


class _Stored:
    """A file in use. Its checksum is compared once, in the background or when its KV is first needed."""

    def __init__(self, folder: KvFolder, file: KvFile) -> None:
        self._folder, self.file = folder, file
        self._sound: bool | None = None
        self._comparing = threading.Lock()

    def is_sound(self) -> bool:
        with self._comparing:  # not twice at the same time
            if self._sound is None:
                self._sound = self._folder.is_sound(self.file)
                self.file.release_pages()
            return self._sound

    def release(self) -> None:
        """Nothing refers to it any more: a sound one is deleted, a damaged one was set aside."""
        if self._sound is not False:
            self._folder.delete(self.file)


class Persistence:
    """Writes prefixes of the cache to the folder, and reads the folder's files into the cache.

    Belongs to the engine thread, but for the writing itself: that happens on a thread of its own, from pages that do
    not change, so that nobody waits for a disk. `run_on_engine` takes what has to happen on the engine thread then.
    """

    def __init__(
        self,
        cache: PrefixCache,
        kv: KvSlots,
        folder: KvFolder,
        *,
        run_on_engine: Callable[[Callable[[], None]], None],
    ) -> None:
        self._cache, self._kv, self._folder = cache, kv, folder
        self.budget_bytes = 0
        self._run_on_engine = run_on_engine
        self._writer = ThreadPoolExecutor(1, "kv-files")
        self._closed = False

    def restore(self) -> int:
        """Makes all usable files part of the cache, and begins to verify them. Returns how many there are."""
        count = 0
        for file in self._folder.open_all():
            stored = _Stored(self._folder, file)
            snapshot = self._snapshot(file)
            if snapshot is None:
                continue
            span = self._span(stored)
            if span is not None and self._cache.restore(snapshot, span):
                self._writer.submit(stored.is_sound)
                count += 1
        return count

    def save(self, namespace: str, tokens: Tokens, done: Done) -> None:
        """Writes what of a cached prefix no file holds yet; `done` is called on the engine thread.

        Raises LookupError when the prefix is not cached in full.
        """
        try:
            snapshot = self._cache.snapshot(namespace, tokens)
        except MemoryError as error:
            done(OSError(f"no memory to write it from: {error}"))
            return
        if snapshot is None:
            done(None)
            return
        if self._closed:
            _free(snapshot)
            done(OSError("the service is shutting down"))
            return
        self._writer.submit(self._write, snapshot, done)

    def disk_state(self) -> DiskState:
        """Callable from any thread. Raises OSError."""
        return DiskState(self._folder.size_bytes, self.budget_bytes, tuple(self._folder.set_aside))

    def close(self) -> None:
        """Waits for what is being written. What it was for is found again at the next start."""
        self._closed = True
        self._writer.shutdown(wait=True)

    # -- reading -------------------------------------------------------------------------------------------------

    def _span(self, stored: _Stored) -> StoredSpan | None:
        arrays = [pieces[0] for pieces in stored.file.content.groups]
        try:
            return self._kv.mapped_span(
                arrays, release=stored.release, is_sound=stored.is_sound, put_away=stored.file.release_pages
            )
        except ValueError as error:
            self._folder.put_aside(stored.file.path, str(error))
            return None

    def _snapshot(self, file: KvFile) -> Snapshot | None:
        content = file.content
        try:
            checkpoints = {n: self._kv.stored_checkpoint(n, arrays) for n, arrays in content.states.items()}
        except ValueError as error:
            self._folder.put_aside(file.path, str(error))
            return None
        tokens = np.array(content.token_ids, np.int32)
        return Snapshot(content.namespace, tokens, content.start, (), checkpoints)

    # -- writing -------------------------------------------------------------------------------------------------

    def _write(self, snapshot: Snapshot, done: Done) -> None:
        """On the writer's thread."""
        file: KvFile | None = None
        failure: OSError | None = None
        try:
            content = self._content(snapshot)
            size = sum(array.nbytes for pieces in content.groups for array in pieces)
            if not self._folder.make_room(size, self.budget_bytes):
                raise DiskFullError(
                    f"the files take {self._folder.size_bytes >> 20:,} MiB; {size >> 20:,} MiB more would exceed their "
                    f"budget of {self.budget_bytes >> 20:,} MiB"
                )
            file = self._folder.write(content)
        except OSError as error:
            log.warning("a prefix of %d tokens could not be kept on disk: %s", len(snapshot.tokens), error)
            failure = error
        except Exception as error:  # whoever waits must be told, and the pages given back, whatever it was
            log.exception("a prefix of %d tokens could not be kept on disk", len(snapshot.tokens))
            failure = OSError(f"it could not be written: {error}")
        self._run_on_engine(lambda: self._written(snapshot, file, failure, done))

    def _content(self, snapshot: Snapshot) -> KvContent:
        groups = range(self._kv.group_count)
        return KvContent(
            snapshot.namespace,
            snapshot.tokens,
            snapshot.start,
            [[piece for span in snapshot.spans for piece in span.arrays(group)] for group in groups],
            {length: checkpoint.state for length, checkpoint in snapshot.checkpoints.items()},
        )

    def _written(self, snapshot: Snapshot, file: KvFile | None, failure: OSError | None, done: Done) -> None:
        """On the engine thread again."""
        _free(snapshot)
        if file is not None:
            span = self._span(_Stored(self._folder, file))
            if span is not None:
                self._cache.saved(snapshot, span)
            self._cache.enforce_budget()
        done(failure)


def _free(snapshot: Snapshot) -> None:
    for span in snapshot.spans:
        span.free()

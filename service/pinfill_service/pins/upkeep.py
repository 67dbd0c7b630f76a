"""What the engine is asked to do for pins. Every method waits for it: never hold a lock meanwhile."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pinfill_service.engine.errors import EngineBusyError, EngineClosedError, EngineError
from pinfill_service.engine.interface import DiskState, Engine, EntryInfo, GenerationRequest, PrefixState
from pinfill_service.pins.running import BlockingRequest

log = logging.getLogger(__name__)

FOLDER_NAME_LENGTH = 16  # of a model's fingerprint, as the engine names its folder of KV files


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a prefill ended. `problem`: why it failed or, for one that did not, why it is not on disk.

    `retry`: nothing is wrong, it was stopped or there was no place for it.
    """

    pinned: bool
    on_disk: bool = False
    retry: bool = False
    problem: str | None = None


class Upkeep:
    """Pins of one engine. `prefill` runs on one thread at a time; everything else may be called from any."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._current: BlockingRequest | None = None
        self._stopped = False
        self._damage_seen = 0

    def prefill(
        self, token_ids: Sequence[int], on_progress: Callable[[int, int, int], None], *, held: bool = False
    ) -> Outcome:
        """Evaluates, pins and saves a prefix while nobody else waits. `held`: the engine may have it pinned already."""
        request = GenerationRequest(token_ids, 0, background=True, pin=not held)
        running = BlockingRequest(self._engine, request, on_progress)
        with self._lock:
            if self._stopped:
                return Outcome(False, retry=True)
            self._current = running
        try:
            finished = running.run()
            if finished.reason == "cancelled":
                return Outcome(False, retry=True)
            if held and not self._is_pinned(token_ids) and not self.pin(token_ids):
                return Outcome(False, retry=True, problem="It was evicted while it was prefilled.")
            on_disk, problem = self.save(token_ids)
            return Outcome(True, on_disk=on_disk, problem=problem)
        except (EngineBusyError, EngineClosedError):
            return Outcome(False, retry=True)
        except EngineError as error:
            return Outcome(False, problem=str(error))
        finally:
            with self._lock:
                self._current = None

    def cancel(self) -> None:
        """Stops the prefill under way, if there is one."""
        with self._lock:
            current = self._current
        if current is not None:
            current.cancel()

    def stop(self) -> None:
        """Cancels, and begins nothing more."""
        with self._lock:
            self._stopped = True
        self.cancel()

    def pin(self, token_ids: Sequence[int]) -> bool:
        """Whether the prefix is cached in full, and now pinned once more. Raises EngineClosedError."""
        return self._engine.prefixes.pin(token_ids).result()

    def unpin(self, token_ids: Sequence[int]) -> None:
        try:
            self._engine.prefixes.unpin(token_ids).result()
        except EngineClosedError:  # its files are found at the next start, and belong to no pin then
            log.debug("a prefix of %d tokens could not be unpinned: the engine is closed", len(token_ids))

    def save(self, token_ids: Sequence[int]) -> tuple[bool, str | None]:
        """Writes a prefix to the disk, making room from what is not pinned.

        Returns whether it is there, and why not; no reason where nothing is kept on disk at all.
        """
        try:
            if self._engine.prefixes.disk() is None:
                return False, None
        except OSError as error:  # whether it can be written for all that, the try tells
            log.debug("the folder of KV files cannot be read: %s", error)
        problem = self._save(token_ids)
        if problem is not None and self._forget_some_files(len(token_ids)):
            problem = self._save(token_ids)
        return problem is None, problem

    def _save(self, token_ids: Sequence[int]) -> str | None:
        try:
            self._engine.prefixes.save(token_ids).result()
        except LookupError:
            return "It is not cached in full any more."
        except OSError as error:
            why = error.strerror or error
            return f"It is in memory, but not on disk: {why}. Saving it is tried again now and then."
        return None

    def states(self, prefixes: Sequence[Sequence[int]], seconds: float) -> list[PrefixState | None]:
        """What is there of each; None where the engine did not say within `seconds` for all of them."""
        due = time.monotonic() + seconds
        try:
            futures = [self._engine.prefixes.state(ids) for ids in prefixes]
            return [future.result(max(0.0, due - time.monotonic())) for future in futures]
        except (TimeoutError, EngineClosedError):
            return [None] * len(prefixes)

    def new_damage(self) -> list[str]:
        """Sentences about files set aside since the last call."""
        disk = self._disk()
        sentences = [] if disk is None else list(disk.set_aside)
        found, self._damage_seen = sentences[self._damage_seen :], len(sentences)
        return found

    @property
    def last_damage(self) -> str | None:
        """The latest sentence about a file set aside."""
        disk = self._disk()
        return disk.set_aside[-1] if disk is not None and disk.set_aside else None

    @property
    def slots(self) -> int:
        return self._engine.stats().slots

    def forget_unpinned_files(self) -> None:
        """Evicts what files hold that no pin needs: prompts that nobody asked to keep."""
        for entry in self._unpinned_on_disk():
            self._engine.prefixes.evict(entry.id).result()

    def _is_pinned(self, token_ids: Sequence[int]) -> bool:
        wanted = list(token_ids)
        entries = self._engine.prefixes.entries().result()
        return any(entry.pinned and list(entry.token_ids) == wanted for entry in entries)

    def _unpinned_on_disk(self) -> list[EntryInfo]:
        entries = self._engine.prefixes.entries().result()
        unpinned = [entry for entry in entries if entry.disk_bytes and not entry.pinned and not entry.in_use]
        return sorted(unpinned, key=session_value)

    def _forget_some_files(self, tokens: int) -> bool:
        """Evicts the least valuable unpinned entries on disk, until about `tokens` have room. False: there are none."""
        freed = 0
        for entry in self._unpinned_on_disk():
            if freed >= tokens:
                break
            if self._engine.prefixes.evict(entry.id).result():
                freed += entry.tokens - entry.shared_tokens
        return freed > 0

    def _disk(self) -> DiskState | None:
        try:
            return self._engine.prefixes.disk()
        except OSError as error:
            log.debug("the folder of KV files cannot be read: %s", error)  # the status shows it to people
            return None


def session_value(entry: EntryInfo) -> float:
    """What an entry is worth keeping: seconds it saves, by how often and how lately it was used."""
    return entry.saves_seconds * (1 + entry.hits) / (60.0 + entry.idle_seconds)


def folder_of(kv_home: Path, fingerprint: str) -> Path:
    """Where a model's KV files are."""
    return kv_home / fingerprint[:FOLDER_NAME_LENGTH]


def delete_files(kv_home: Path, fingerprint: str) -> None:
    """Deletes the KV files of a model that is not loaded."""
    folder = folder_of(kv_home, fingerprint)
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        log.warning("%s could not be deleted: %s", folder, error.strerror)

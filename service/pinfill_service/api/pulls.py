"""Models that are being fetched, each on a thread of its own."""

from __future__ import annotations

import threading
import time

from pinfill_service.api.schemas.manage import ModelProgressEvent, ModelStateEvent
from pinfill_service.models.catalog import ModelError
from pinfill_service.models.library import ModelLibrary
from pinfill_service.pins.shelf import Publish

_TELL_SECONDS = 0.2  # a download reports every piece it reads
_CLOSE_SECONDS = 3.0  # for all that are under way; one that waits for the network longer ends with the process


class _StoppedError(Exception):
    """Nobody wants the model any more."""


class Pulls:
    """Starts and stops pulls, and tells how they go. Broken off, they go on with the next pull."""

    def __init__(self, library: ModelLibrary, publish: Publish) -> None:
        self._library, self._publish = library, publish
        self._lock = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}  # by name of the model
        self._unwanted: set[str] = set()

    @property
    def names(self) -> frozenset[str]:
        with self._lock:
            return frozenset(self._threads)

    def start(self, name: str) -> None:
        """Returns at once, also when the model is being pulled already."""
        with self._lock:
            self._unwanted.discard(name)
            if name in self._threads:
                return
            thread = threading.Thread(target=self._run, args=(name,), name=f"pull-{name}", daemon=True)
            self._threads[name] = thread
        self._publish("model.state", ModelStateEvent(name=name, state="pulling"))
        thread.start()

    def stop(self, name: str) -> bool:
        """Returns at once; the pull ends when it next has something to report. False when there is none."""
        with self._lock:
            if name not in self._threads:
                return False
            self._unwanted.add(name)
        return True

    def close(self) -> None:
        """Stops all, and waits a while: what fetches for one is another process, which would go on without us."""
        with self._lock:
            self._unwanted.update(self._threads)
            threads = list(self._threads.values())
        end = time.monotonic() + _CLOSE_SECONDS
        for thread in filter(threading.Thread.is_alive, threads):
            thread.join(max(0.0, end - time.monotonic()))

    def _run(self, name: str) -> None:
        told, stage_told = 0.0, ""

        def report(stage: str, done: int, total: int | None) -> None:
            nonlocal told, stage_told
            with self._lock:
                if name in self._unwanted:
                    raise _StoppedError
            now = time.monotonic()
            if stage == stage_told and done != total and now - told < _TELL_SECONDS:
                return
            told, stage_told = now, stage
            self._publish("model.progress", ModelProgressEvent(name=name, stage=stage, done=done, total=total))

        try:
            self._library.pull(name, report)
            event = ModelStateEvent(name=name, state="pulled")
        except _StoppedError:
            event = ModelStateEvent(name=name, state="pull_stopped")
        except Exception as error:  # a download and a conversion can fail in many ways; whoever listens is told
            code = error.code if isinstance(error, ModelError) else "pull_failed"
            message = str(error) if isinstance(error, ModelError) else f"{name} could not be fetched: {error}"
            event = ModelStateEvent(name=name, state="failed", message=message, code=code)
        finally:
            with self._lock:
                self._threads.pop(name, None)
                self._unwanted.discard(name)
        self._publish("model.state", event)

"""The files that pins were made of, watched on the client's side: the service never opens a path named over HTTP.

The commands and the tray app tell the watcher which pins there are, and are told which of them have other files now;
reading them and asking the service for a refresh is theirs.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from pinfill_service.api.schemas.manage import Pin, SourceFile

log = logging.getLogger(__name__)

_EMITTER = "watchdog.observers.inotify"

QUIET_SECONDS = 1.0  # editors write a file in several steps
_READ_ONLY = ("opened", "closed_no_write")  # events of reading, which our own looks cause too


def _is_news(record: logging.LogRecord) -> bool:
    """Watchdog calls it an error when it is told to stop between two of its looks."""
    return "when the thread is inactive" not in record.getMessage()


class SourceWatcher:
    """Calls `on_change(pin, sentence)` on a thread of its own, once for each new state of a pin's files.

    A file counts as changed when its bytes are other ones; a new date alone is nothing. The sentence is None when the
    files of a pin that is stale hold again what was pinned.
    """

    def __init__(self, on_change: Callable[[str, str | None], None], *, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._on_change, self._quiet = on_change, quiet_seconds
        self._changed = threading.Condition()
        # Guarded by _changed:
        self._pins: dict[str, tuple[SourceFile, ...]] = {}
        self._due: dict[str, float] = {}  # when to look at a pin's files
        self._told: dict[str, str] = {}
        self._stale: set[str] = set()  # pins that are, or were said to be, something else than their files
        self._folders: dict[str, ObservedWatch] = {}
        self._closing = False
        self._observer: BaseObserver = Observer()
        self._observer.start()
        self._thread = threading.Thread(target=self._run, name="sources", daemon=True)
        self._thread.start()

    def update(self, pins: Iterable[Pin]) -> None:
        """These are the pins now. Files that changed while nobody watched are found at once."""
        with self._changed:
            watched = {pin.name: pin for pin in pins if pin.sources}
            before, self._pins = self._pins, {name: tuple(pin.sources) for name, pin in watched.items()}
            for name, sources in self._pins.items():
                if before.get(name) != sources:
                    self._told.pop(name, None)
                    (self._stale.add if watched[name].state == "stale" else self._stale.discard)(name)
                    self._due[name] = time.monotonic()
            self._changed.notify()
        self._watch_folders({os.path.dirname(s.path) for sources in self._pins.values() for s in sources})

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()
        logging.getLogger(_EMITTER).addFilter(_is_news)
        self._observer.stop()
        self._observer.join()
        self._thread.join()

    def _watch_folders(self, wanted: set[str]) -> None:
        """Folders, not files: saving often means that another file takes the place of the old one."""
        for folder in self._folders.keys() - wanted:
            self._observer.unschedule(self._folders.pop(folder))
        for folder in wanted - self._folders.keys():
            try:
                self._folders[folder] = self._observer.schedule(_Handler(self._touched), folder)
            except OSError as error:  # it is gone: so are the files in it, which the look finds out
                log.info("%s cannot be watched: %s", folder, error)

    def _touched(self, paths: set[str]) -> None:
        """On the observer's thread: something happened to these paths."""
        with self._changed:
            for name, sources in self._pins.items():
                if any(source.path in paths for source in sources):
                    self._due[name] = time.monotonic() + self._quiet
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                ready = [name for name, due in self._due.items() if due <= now]
                if self._closing:
                    return
                if not ready:
                    self._changed.wait(min(self._due.values()) - now if self._due else None)
                    continue
                for name in ready:
                    del self._due[name]
                looks = [(name, self._pins[name]) for name in ready if name in self._pins]
            for name, sources in looks:
                self._look(name, sources)

    def _look(self, name: str, sources: tuple[SourceFile, ...]) -> None:
        states = [(source, _state(source)) for source in sources]
        changes = [sentence for _, (_, sentence) in states if sentence is not None]
        seen = "\n".join(digest for _, (digest, _) in states)
        with self._changed:
            if self._pins.get(name) != sources or self._told.get(name) == seen:
                return
            self._told[name] = seen
            was_stale = name in self._stale
            (self._stale.add if changes else self._stale.discard)(name)
        if changes or was_stale:
            self._on_change(name, "; ".join(changes) or None)


class _Handler(FileSystemEventHandler):
    """Passes on which paths something happened to."""

    def __init__(self, touched: Callable[[set[str]], None]) -> None:
        self._touched = touched

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type not in _READ_ONLY:
            self._touched({os.fsdecode(path) for path in (event.src_path, event.dest_path) if path})


def _state(source: SourceFile) -> tuple[str, str | None]:
    """(what the file holds now, what has changed about it)."""
    name = os.path.basename(source.path)
    try:
        with Path(source.path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return "gone", f"{name} is gone"
    except OSError as error:
        return "unreadable", f"{name} cannot be read: {error.strerror}"
    return digest, None if digest == source.sha256 else f"{name} changed"

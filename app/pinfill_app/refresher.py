"""Parts of the state, asked for again when they are out of date: seldom, and never twice at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

from pydantic import BaseModel
from PySide6.QtCore import QObject, QTimer, Signal

from pinfill_app.client import Call, Client
from pinfill_app.failure import Failure, FailureKind

SETTLE_MILLISECONDS = 50  # events come in groups
NO_MODEL = "no_model"  # the service's code for it
RETRY_MILLISECONDS = 5_000  # after a refusal


class Part(StrEnum):
    """What the management API answers as a whole."""

    STATUS = "status"
    PINS = "pins"
    ENTRIES = "entries"
    REQUESTS = "requests"
    SAVINGS = "savings"
    MODELS = "models"


@dataclass(frozen=True, slots=True)
class Load:
    """How a part is asked for, at most once in `milliseconds`, and who gets the answer."""

    schema: type[BaseModel]
    milliseconds: int
    loaded: Callable[[Any], None]
    query: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class _Progress:
    timer: QTimer
    stale: bool = False
    call: Call[Any] | None = None
    ready_at: float = 0.0  # monotonic seconds


class Refresher(QObject):
    """Invariants: one request a part at a time, and its wait between two; a part that was marked is asked for after
    the mark. `failed` carries the Part and the Failure.
    """

    failed = Signal(object, object)

    def __init__(self, client: Client, loads: Mapping[Part, Load], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._loads = client, loads
        self._parts = {part: _Progress(QTimer(self, singleShot=True)) for part in loads}
        for part, progress in self._parts.items():
            progress.timer.timeout.connect(partial(self._ask, part))

    def mark(self, *parts: Part) -> None:
        """These are out of date."""
        for part in parts:
            self._parts[part].stale = True
            self._arm(part, SETTLE_MILLISECONDS)

    def mark_answers_under_way(self, part: Part) -> None:
        """An answer that is on its way may be older than what is known by now: then the part is asked for again."""
        if self._parts[part].call is not None:
            self.mark(part)

    def stop(self) -> None:
        """Nothing is asked for any more, and no answer is waited for."""
        for progress in self._parts.values():
            progress.timer.stop()
            progress.stale, progress.ready_at = False, 0.0
            if progress.call is not None:
                progress.call.abort()
                progress.call = None

    def _arm(self, part: Part, milliseconds: int) -> None:
        progress = self._parts[part]
        if progress.call is None and not progress.timer.isActive():
            wait = round((progress.ready_at - time.monotonic()) * 1000)
            progress.timer.start(max(milliseconds, wait))

    def _ask(self, part: Part) -> None:
        load, progress = self._loads[part], self._parts[part]
        progress.stale = False
        progress.ready_at = time.monotonic() + load.milliseconds / 1000
        done = partial(self._on_answered, part)
        progress.call = self._client.ask("GET", load.schema, part.value, done=done, query=load.query)

    def _on_answered(self, part: Part, answer: BaseModel | Failure) -> None:
        progress = self._parts[part]
        progress.call = None
        if isinstance(answer, Failure):
            self.failed.emit(part, answer)
            # A service that comes back begins a stream, and a model that is loaded is an event: both mark all parts.
            progress.stale = answer.kind is not FailureKind.UNREACHABLE and answer.code != NO_MODEL
            if progress.stale:
                self._arm(part, RETRY_MILLISECONDS)
            return
        self._loads[part].loaded(answer)
        if progress.stale:
            self._arm(part, SETTLE_MILLISECONDS)

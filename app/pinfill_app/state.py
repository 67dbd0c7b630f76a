"""Everything the application knows about the service, in one place: loaded by requests, kept fresh by events."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ValidationError
from PySide6.QtCore import QObject, QTimer, Signal

from pinfill_app.client import Client
from pinfill_app.events.parser import ServerEvent
from pinfill_app.events.sse import EventStream
from pinfill_app.failure import Failure
from pinfill_app.refresher import NO_MODEL, Load, Part, Refresher
from pinfill_app.running import Running
from pinfill_service.api.schemas import manage

log = logging.getLogger(__name__)

REMEMBERED_REQUESTS = 500
SAVINGS_DAYS = 30
SAVINGS_MILLISECONDS = 5_000  # they are sums over the whole history
RELEASE_MILLISECONDS = 1_500  # after work that was stopped, until its prefix is asked about again
PROGRESS_MILLISECONDS = 100  # between two signals about progress, and about requests that have ended


class Store(QObject):
    """The state, for pages and the tray to render. They read attributes and never change them.

    Each `*_changed` signal follows a change of the attribute of that name; `progress_changed` one of `running`, and,
    like `requests_changed`, at most ten times a second. `request_finished`, `pin_state_changed`, `model_state_changed`
    and `problem_reported` carry what an event said, once, for who wants to tell people about it. Memory does not grow
    with events.
    """

    connection_changed = Signal()
    status_changed = Signal()
    pins_changed = Signal()
    entries_changed = Signal()
    requests_changed = Signal()
    savings_changed = Signal()
    models_changed = Signal()
    progress_changed = Signal()
    request_finished = Signal(object)  # RequestSummary
    pin_state_changed = Signal(object)  # PinStateEvent
    model_state_changed = Signal(object)  # ModelStateEvent
    problem_reported = Signal(str)

    def __init__(self, client: Client, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._stream = EventStream(self)
        self._stream.received.connect(self._on_received)
        self._stream.began.connect(self._on_began)
        self._stream.lost.connect(self._on_lost)
        self._refresher = Refresher(client, self._loads(), self)
        self._refresher.failed.connect(self._on_failed)
        self._progress_timer = QTimer(self, singleShot=True, interval=PROGRESS_MILLISECONDS)
        self._progress_timer.timeout.connect(self.progress_changed)
        self._requests_timer = QTimer(self, singleShot=True, interval=PROGRESS_MILLISECONDS)
        self._requests_timer.timeout.connect(self.requests_changed)
        self._release_timer = QTimer(self, singleShot=True, interval=RELEASE_MILLISECONDS)
        self._release_timer.timeout.connect(lambda: self.reload(Part.STATUS, Part.ENTRIES))
        self._events: dict[str, tuple[type[BaseModel], Callable[[Any], None]]] = {
            "request.started": (manage.RequestStartedEvent, self._on_request_started),
            "request.progress": (manage.RequestProgressEvent, self._on_request_progress),
            "request.finished": (manage.RequestFinishedEvent, self._on_request_finished),
            "pin.state": (manage.PinStateEvent, self._on_pin_state),
            "pin.progress": (manage.PinProgressEvent, self._on_pin_progress),
            "entry.evicted": (manage.EntryEvictedEvent, self._on_entry_evicted),
            "model.state": (manage.ModelStateEvent, self._on_model_state),
            "model.progress": (manage.ModelProgressEvent, self._on_model_progress),
            "disk.problem": (manage.DiskProblemEvent, self._on_disk_problem),
            "reset": (manage.ResetEvent, self._on_reset),
        }
        self.failure: Failure | None = None
        self.is_connected = False
        self._forget()

    def _forget(self) -> None:
        self.status: manage.Status | None = None
        self.pins: tuple[manage.Pin, ...] = ()
        self.entries: tuple[manage.Entry, ...] = ()
        self.entries_at = 0.0  # Unix time at which their `idle_seconds` were right
        self.requests: tuple[manage.RequestSummary, ...] = ()  # latest first
        self.savings: manage.Savings | None = None
        self.models: tuple[manage.ModelEntry, ...] = ()
        self.running = Running()

    def follow(self, url: str, key: str | None) -> None:
        """Shows the service at `url` from now on."""
        self.leave()
        self._client.connect_to(url, key)
        self._stream.open(url, key)

    def leave(self) -> None:
        """There is no service to show. What was known of it is forgotten."""
        self._stream.close()
        self._refresher.stop()
        self._release_timer.stop()
        self._requests_timer.stop()
        self._client.connect_to("", None)
        self._forget()
        self._set_connected(False, None)
        for changed in (
            self.status_changed,
            self.pins_changed,
            self.entries_changed,
            self.requests_changed,
            self.savings_changed,
            self.models_changed,
            self.progress_changed,
        ):
            changed.emit()

    def set_stalled(self, stalled: bool) -> None:
        """Whether nothing is heard of what runs, because the service does not answer."""
        if self.running.is_stalled != stalled:
            self.running.is_stalled = stalled
            self.progress_changed.emit()

    def reload(self, *parts: Part) -> None:
        """Asks again for these parts, or for everything: after a change that no event tells of."""
        self._refresher.mark(*(parts or Part))

    # -- loading ---------------------------------------------------------------------------------------------------

    def _loads(self) -> dict[Part, Load]:
        return {
            Part.STATUS: Load(manage.Status, 400, self._on_status),
            Part.PINS: Load(manage.Pins, 400, self._on_pins),
            Part.ENTRIES: Load(manage.Entries, 800, self._on_entries),
            Part.REQUESTS: Load(manage.Requests, 800, self._on_requests, {"limit": REMEMBERED_REQUESTS}),
            Part.SAVINGS: Load(manage.Savings, SAVINGS_MILLISECONDS, self._on_savings, {"days": SAVINGS_DAYS}),
            Part.MODELS: Load(manage.Models, 800, self._on_models),
        }

    def _on_status(self, answer: manage.Status) -> None:
        self.status = answer
        self.status_changed.emit()

    def _on_pins(self, answer: manage.Pins) -> None:
        self.pins = tuple(answer.pins)
        prefilling = {pin.name for pin in answer.pins if pin.state == "prefilling"}
        for name in self.running.pins.keys() - prefilling:
            del self.running.pins[name]
        self.pins_changed.emit()
        self._note_progress()

    def _on_entries(self, answer: manage.Entries) -> None:
        self.entries, self.entries_at = tuple(answer.entries), time.time()
        self.entries_changed.emit()
        if any(entry.in_use for entry in self.entries) and not self.running.is_busy:
            self._release_timer.start()  # no event tells when what was stopped is let go

    def _on_requests(self, answer: manage.Requests) -> None:
        self.requests = tuple(answer.requests)
        self.requests_changed.emit()

    def _on_savings(self, answer: manage.Savings) -> None:
        self.savings = answer
        self.savings_changed.emit()

    def _on_models(self, answer: manage.Models) -> None:
        self.models = tuple(answer.models)
        self.models_changed.emit()

    # -- the stream ------------------------------------------------------------------------------------------------

    def _on_began(self, may_have_missed: bool) -> None:
        self._set_connected(True, None)
        if may_have_missed:
            self._start_over()

    def _on_lost(self, failure: Failure) -> None:
        self._set_connected(False, failure)

    def _on_failed(self, part: Part, failure: Failure) -> None:
        if part is Part.ENTRIES and failure.code == NO_MODEL:
            self._on_entries(manage.Entries(entries=[]))
        else:
            log.warning("%s could not be loaded: %s", part.value, failure.message)

    def _on_received(self, event: ServerEvent) -> None:
        if event.name not in self._events:
            return  # of a later version
        schema, handle = self._events[event.name]
        try:
            parsed = schema.model_validate_json(event.data)
        except ValidationError:
            log.warning("an event %s is not understood", event.name)
            self._start_over()  # something has happened, whatever it was
            return
        handle(parsed)

    def _on_request_started(self, event: manage.RequestStartedEvent) -> None:
        self.running.start(event)
        self._refresher.mark(Part.STATUS)
        self._note_progress()

    def _on_request_progress(self, event: manage.RequestProgressEvent) -> None:
        self.running.progress(event)
        self._note_progress()

    def _on_request_finished(self, event: manage.RequestFinishedEvent) -> None:
        self.running.finish(event.id)
        self._note_progress()
        others = (each for each in self.requests if each.id != event.id)
        self.requests = (event, *others)[:REMEMBERED_REQUESTS]
        if not self._requests_timer.isActive():
            self._requests_timer.start()
        self.request_finished.emit(event)
        self._refresher.mark_answers_under_way(Part.REQUESTS)
        self._refresher.mark(Part.STATUS, Part.PINS, Part.ENTRIES, Part.SAVINGS)

    def _on_pin_state(self, event: manage.PinStateEvent) -> None:
        if event.state != "prefilling":
            self.running.pins.pop(event.name, None)
        self._note_progress()
        self.pin_state_changed.emit(event)
        self._refresher.mark(Part.STATUS, Part.PINS, Part.ENTRIES)

    def _on_pin_progress(self, event: manage.PinProgressEvent) -> None:
        self.running.pin_progress(event)
        self._note_progress()

    def _on_entry_evicted(self, _event: manage.EntryEvictedEvent) -> None:
        self._refresher.mark(Part.STATUS, Part.ENTRIES)

    def _on_model_state(self, event: manage.ModelStateEvent) -> None:
        if event.state != "pulling" and event.name is not None:
            self.running.pulls.pop(event.name, None)
        self.model_state_changed.emit(event)
        self._note_progress()
        self._refresher.mark(*(Part if event.state in ("loaded", "unloaded") else (Part.STATUS, Part.MODELS)))

    def _on_model_progress(self, event: manage.ModelProgressEvent) -> None:
        self.running.pull_progress(event)
        self._note_progress()

    def _on_disk_problem(self, event: manage.DiskProblemEvent) -> None:
        self.problem_reported.emit(event.message)
        self._refresher.mark(Part.STATUS, Part.PINS)

    def _on_reset(self, _event: manage.ResetEvent) -> None:
        self._start_over()

    def _start_over(self) -> None:
        self.running.clear()
        self._note_progress()
        self.reload()

    def _note_progress(self) -> None:
        if not self._progress_timer.isActive():
            self._progress_timer.start()

    def _set_connected(self, connected: bool, failure: Failure | None) -> None:
        changed = (self.is_connected, self.failure) != (connected, failure)
        self.is_connected, self.failure = connected, failure
        if changed:
            self.connection_changed.emit()

"""The files that pins were made of, watched while the application runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject

from pinfill_app.background import GuiThread, in_background
from pinfill_app.commands import Output
from pinfill_app.failure import Failure
from pinfill_app.in_turn import InTurn
from pinfill_app.refresher import Part
from pinfill_app.windows.page import Context
from pinfill_service.api.schemas.manage import Pin, PinChange, SourceFile
from pinfill_service.pins.watching import SourceWatcher

log = logging.getLogger(__name__)

_STALE_LENGTH = 500  # characters of the reason that a pin can hold


class SourceWatching(QObject):
    """When files of a pin hold something else: it is pinned again if it is to be refreshed by itself, else it is said
    to be stale, until they hold again what was pinned. Files are looked at on other threads. Nothing is watched while
    no pin has files.
    """

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._known: dict[str, list[SourceFile]] = {}
        self._given: dict[str, list[SourceFile]] = {}  # to the watcher
        self._updates, self._refreshes = InTurn(), InTurn()
        self._watcher: SourceWatcher | None = None  # belongs to whoever runs an update
        self._gui_thread = GuiThread(self)
        context.store.pins_changed.connect(self._on_pins)

    @property
    def is_watching(self) -> bool:
        return self._watcher is not None

    def _on_pins(self) -> None:
        pins = [pin for pin in self._context.store.pins if pin.sources]
        known = {pin.name: pin.sources for pin in pins}
        if known != self._known:
            self._known = known
            self._updates.add(partial(self._begin_update, pins))

    def _begin_update(self, pins: Sequence[Pin], ended: Callable[[], None]) -> None:
        in_background(self, partial(self._update, pins), partial(self._on_updated, ended))

    def _update(self, pins: Sequence[Pin]) -> None:
        """On a thread of its own, one at a time: folders may be slow, and an end waits for the look under way."""
        self._given = {pin.name: pin.sources for pin in pins}
        if pins:
            if self._watcher is None:
                self._watcher = SourceWatcher(self._report)
            self._watcher.update(pins)
        elif self._watcher is not None:
            self._watcher.close()
            self._watcher = None

    def _on_updated(self, ended: Callable[[], None], outcome: Exception | None) -> None:
        ended()
        if outcome is not None:  # the system has no watches left
            words = self.tr("{}. A pin whose file has changed is refreshed only when you ask for it.").format(outcome)
            self._context.tell(self.tr("The files of pins cannot be watched"), words)

    def _report(self, name: str, why: str | None) -> None:
        self._gui_thread.call(partial(self._on_changed, name, why or "", self._given.get(name)))

    def _on_changed(self, name: str, why: str, about: list[SourceFile] | None) -> None:
        """`why` is what has happened since `about` was pinned; empty when it is undone."""
        pin = next((pin for pin in self._context.store.pins if pin.name == name), None)
        if pin is None or pin.sources != about:  # by now it was pinned again
            return
        if why and pin.auto_refresh:
            self._refreshes.add(partial(self._refresh, name, about))
        else:
            self._mark_stale(name, why, about)

    def _refresh(self, name: str, about: list[SourceFile], ended: Callable[[], None]) -> None:
        done = partial(self._on_refreshed, name, about, ended)
        self._context.commands.run("pins", "refresh", "--no-wait", "--", name, done=done)

    def _on_refreshed(
        self, name: str, about: list[SourceFile], ended: Callable[[], None], outcome: Output | Failure
    ) -> None:
        if isinstance(outcome, Failure):  # a file is gone, or cannot be read any more
            self._mark_stale(name, outcome.said or outcome.message, about)  # the service keeps it, and speaks English
        ended()

    def _mark_stale(self, name: str, why: str, about: list[SourceFile]) -> None:
        done = partial(self._on_marked, name, about if why else None)
        self._context.client.patch(Pin, "pins", name, done=done, body=PinChange(stale=why[:_STALE_LENGTH]))

    def _on_marked(self, name: str, about: list[SourceFile] | None, answer: Pin | Failure) -> None:
        """A refresh may have come first: then something else is pinned, of which nothing is known yet."""
        if isinstance(answer, Failure):  # it is gone by now, or the service is
            log.info("a pin whose file has changed could not be marked: %s", answer.message)
        elif about is not None and answer.sources != about:
            self._mark_stale(name, "", about)
        self._context.store.reload(Part.PINS)

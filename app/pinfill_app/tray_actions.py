"""What the entries of the tray's menu do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from pydantic import BaseModel
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from pinfill_app import units
from pinfill_app.autostart import AutostartError, set_autostart
from pinfill_app.commands import Command, Output
from pinfill_app.failure import Failure
from pinfill_app.refresher import Part
from pinfill_app.windows.page import Context
from pinfill_service.api.schemas.manage import Evicted, ModelTask, Pin, Unpinned, VerifyReport


class Confirm(Protocol):
    """Asks a question whose yes is called `yes`, and calls `act` for it."""

    def __call__(self, question: str, yes: str, act: Callable[[], object], /) -> None: ...


class TrayActions(QObject):
    """Each asks the service and tells how it went. What is lost is asked about first."""

    def __init__(self, context: Context, confirm: Confirm) -> None:
        super().__init__()
        self._context, self._confirm = context, confirm
        self._reading: dict[str, Command] = {}  # by the pin's name

    # -- pins ------------------------------------------------------------------------------------------------------

    def use(self, pin: Pin) -> None:
        """Copies what clients put as their model to use the pin."""
        if pin.use_as is not None:
            copy(pin.use_as)
            self._context.tell(self.tr("Copied"), self.tr("Use {} as the model.").format(pin.use_as))

    def refresh(self, pin: Pin) -> None:
        """Reads its files again, in a process of its own, and prefills what has to be."""
        done = partial(self._on_read, pin)
        self._reading[pin.name] = self._context.commands.run("pins", "refresh", "--no-wait", "--", pin.name, done=done)

    def is_reading(self, pin: Pin) -> bool:
        """Whether its files are being read again, because `refresh` was called."""
        return pin.name in self._reading

    def stop_reading(self, pin: Pin) -> None:
        """The pin stays as it is."""
        command = self._reading.pop(pin.name, None)  # the menu may have been open for a while
        if command is not None:
            command.stop()

    def verify(self, pin: Pin) -> None:
        """Compares it with a cold run, which takes as long as a prefill."""
        done = partial(self._on_verified, pin.name)
        self._context.client.post(VerifyReport, "pins", pin.name, "verify", done=done, seconds=None)

    def unpin(self, pin: Pin) -> None:
        question = self.tr("Unpin {}?").format(pin.name)
        if pin.prefill_seconds:
            cost = self.tr("Needs {} of prefill to get it back.").format(units.duration(pin.prefill_seconds))
            question = f"{question} {cost}"
        done = partial(self._on_done, self.tr("{} could not be unpinned").format(pin.name))
        self._confirm(
            question, self.tr("Unpin"), lambda: self._context.client.delete(Unpinned, "pins", pin.name, done=done)
        )

    def evict_unpinned(self) -> None:
        store = self._context.store
        entries = [entry for entry in store.entries if not entry.pinned and not entry.in_use]
        memory = sum(entry.memory_bytes for entry in entries)
        if store.status is not None and store.status.memory is not None:
            memory = min(memory, store.status.memory.cached_bytes)  # what they share is held once, or by a pin
        question = self.tr("Evict {} unpinned prefixes, {}? Needs up to {} of prefill when they are asked for again.")
        done = partial(self._on_done, self.tr("Nothing could be evicted"))
        self._confirm(
            question.format(
                units.number(len(entries)),
                units.size(memory),
                units.duration(sum(entry.saves_seconds for entry in entries)),
            ),
            self.tr("Evict"),
            lambda: self._context.client.post(Evicted, "entries", "evict-unpinned", done=done),
        )

    # -- the rest --------------------------------------------------------------------------------------------------

    def load_model(self, name: str) -> None:
        done = partial(self._on_done, self.tr("{} could not be loaded").format(name))
        self._context.client.post(ModelTask, "models", name, "load", done=done, seconds=None)

    def copy_endpoint(self) -> None:
        endpoint = f"{self._context.client.url}/v1"
        copy(endpoint)
        self._context.tell(self.tr("Copied"), self.tr("Programs reach the service at {}.").format(endpoint))

    def copy_key(self) -> None:
        if self._context.client.key is not None:
            copy(self._context.client.key)
            self._context.tell(self.tr("Copied"), self.tr("The key is on the clipboard."))

    def set_autostart(self, wanted: bool) -> None:
        try:
            set_autostart(wanted)
        except AutostartError as error:
            self._context.tell(self.tr("Starting with the computer could not be changed"), str(error))

    # -- answers ---------------------------------------------------------------------------------------------------

    def _on_read(self, pin: Pin, answer: Output | Failure) -> None:
        self._reading.pop(pin.name, None)
        self._on_done(self.tr("{} could not be refreshed").format(pin.name), answer)

    def _on_done(self, title: str, answer: BaseModel | Output | Failure) -> None:
        if isinstance(answer, Failure):
            self._context.tell(title, answer.message)
        self._context.store.reload(Part.STATUS, Part.PINS, Part.ENTRIES, Part.MODELS)

    def _on_verified(self, name: str, report: VerifyReport | Failure) -> None:
        if isinstance(report, Failure):
            self._context.tell(self.tr("{} could not be verified").format(name), report.message)
        elif report.greedy_equal:
            words = self.tr("Equal to a cold run: {} tokens compared, {} instead of {}.").format(
                units.number(report.tokens_compared),
                units.duration(report.cached_seconds),
                units.duration(report.cold_seconds),
            )
            self._context.tell(self.tr("{} is verified").format(name), words)
        else:
            words = self.tr("It differs from a cold run by {}. Refresh it, and report this.")
            self._context.tell(
                self.tr("{} is not equal to a cold run").format(name), words.format(f"{report.largest_difference:g}")
            )
        self._context.store.reload(Part.PINS)


def copy(text: str) -> None:
    """Puts a text on the clipboard."""
    QGuiApplication.clipboard().setText(text)

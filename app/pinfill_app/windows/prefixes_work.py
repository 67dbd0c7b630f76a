"""What can be done with pins: each asks the service, and says on the page how it went."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from pydantic import BaseModel
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from pinfill_app import units
from pinfill_app.client import Call
from pinfill_app.commands import Command, Output
from pinfill_app.failure import Failure
from pinfill_app.in_turn import InTurn
from pinfill_app.pin_names import typed_name
from pinfill_app.refresher import Part
from pinfill_app.reveal import reveal
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context
from pinfill_service.api.schemas.manage import Pin, PinChange, VerifyReport

MOST_LINES = 8  # of outcomes that are told together


class PrefixWork(QObject):
    """Several pins are verified, and read again, one after another."""

    def __init__(self, context: Context, notices: Notices) -> None:
        super().__init__(notices)
        self._context, self._notices = context, notices
        self._verifying, self._refreshing = InTurn(), InTurn()
        self._outcomes: list[tuple[str, Weight]] = []
        self._unverified = 0

    def fail(self, title: str, message: str) -> None:
        """Tells of something that could not be done."""
        self._notices.withdraw("failure")
        self._notices.show_notice("failure", Notice(f"{title}. {message}", Weight.FAILURE))

    def copy_model(self, pin: Pin) -> None:
        """Copies what clients put as their model to use the pin."""
        if pin.use_as is not None:
            QGuiApplication.clipboard().setText(pin.use_as)
            self._tell("copied", self.tr("Copied. Use {} as the model.").format(pin.use_as))

    def reveal(self, path: str) -> None:
        """Shows where a file is."""
        reveal(self, path, partial(self.fail, self.tr("It cannot be shown")))

    def set_auto_refresh(self, pins: Sequence[Pin], on: bool) -> None:
        """Whether they are pinned again when a file changes."""
        for pin in pins:
            done = partial(self._on_changed, self.tr("{} could not be changed").format(pin.name))
            self._context.client.patch(Pin, "pins", pin.name, done=done, body=PinChange(auto_refresh=on))

    # -- names -----------------------------------------------------------------------------------------------------

    def rename(self, name: str, typed: str) -> None:
        """`typed` may hold what a name may not."""
        title, new = self.tr("{} could not be renamed").format(name), typed_name(typed)
        if not new:
            self.fail(title, self.tr("A name needs Latin letters or digits: it becomes part of a model's name."))
        elif new != name:
            done = partial(self._on_renamed, name, title)
            self._context.client.patch(Pin, "pins", name, done=done, body=PinChange(name=new))

    def _on_renamed(self, name: str, title: str, answer: Pin | Failure) -> None:
        self._on_changed(title, answer)
        if isinstance(answer, Pin):
            words = self.tr("{} is called {} now.").format(name, answer.name)
            if answer.use_as is not None:
                told = self.tr("Tell the programs that use it: their model is {} now.").format(answer.use_as)
                words = f"{words} {told}"
            self._tell("renamed", words)

    # -- refreshing ------------------------------------------------------------------------------------------------

    def refresh(self, pins: Sequence[Pin]) -> None:
        """Reads their files again, in a process of its own, and prefills what has to be."""
        for pin in pins:
            self._refreshing.add(partial(self._refresh, pin))

    def _refresh(self, pin: Pin, ended: Callable[[], None]) -> None:
        done = partial(self._on_refreshed, pin, ended)
        if pin.sources:
            command = self._context.commands.run("pins", "refresh", "--no-wait", "--", pin.name, done=done)
            stop = self.tr("&Stop"), partial(self._stop_reading, command, ended)
            words = self.tr("Reading the files of {} again.").format(pin.name)
            self._notices.withdraw("refresh")
            self._notices.show_notice("refresh", Notice(words, action=stop, can_close=False))
        else:
            self._context.client.post(Pin, "pins", pin.name, "refresh", done=done)

    def _stop_reading(self, command: Command, ended: Callable[[], None]) -> None:
        """The pin stays as it is."""
        command.stop()
        self._notices.withdraw("refresh")
        ended()

    def _on_refreshed(self, pin: Pin, ended: Callable[[], None], answer: Pin | Output | Failure) -> None:
        self._notices.withdraw("refresh")
        self._on_changed(self.tr("{} could not be refreshed").format(pin.name), answer)
        ended()

    # -- verifying -------------------------------------------------------------------------------------------------

    def verify(self, pins: Sequence[Pin]) -> None:
        """Compares them with cold runs, which takes as long as their prefill."""
        if not self._unverified:
            self._outcomes.clear()
        self._unverified += len(pins)
        for pin in pins:
            self._verifying.add(partial(self._verify, pin))

    def _verify(self, pin: Pin, ended: Callable[[], None]) -> None:
        takes = self.tr("about {}").format(units.duration(pin.prefill_seconds)) if pin.prefill_seconds else ""
        words = self.tr("Comparing {} with a cold run, which takes as long as its prefill").format(pin.name)
        begun = self.tr("begun at {}").format(units.clock_with_seconds(time.time()))
        more = self.tr("{} more to go").format(units.number(self._unverified - 1)) if self._unverified > 1 else ""
        done = partial(self._on_verified, pin, ended)
        call = self._context.client.post(VerifyReport, "pins", pin.name, "verify", done=done, seconds=None)
        stop = self.tr("&Stop"), partial(self._stop_verifying, call, ended)
        self._notices.withdraw("verify")
        notice = Notice(", ".join(filter(None, (words, takes, begun, more))) + ".", action=stop, can_close=False)
        self._notices.show_notice("verify", notice)

    def _stop_verifying(self, call: Call[VerifyReport], ended: Callable[[], None]) -> None:
        """The service ends a comparison that nobody waits for. What is known already is told."""
        call.abort()
        self._verifying.drop_waiting()
        self._unverified = 0
        self._notices.withdraw("verify")
        if self._outcomes:
            self._tell_outcomes()
        ended()

    def _on_verified(self, pin: Pin, ended: Callable[[], None], report: VerifyReport | Failure) -> None:
        self._unverified -= 1
        self._outcomes.append(self._outcome(pin.name, report))
        self._context.store.reload(Part.PINS)
        if not self._unverified:
            self._tell_outcomes()
        ended()

    def _outcome(self, name: str, report: VerifyReport | Failure) -> tuple[str, Weight]:
        if isinstance(report, Failure):
            return self.tr("{} could not be verified. {}").format(name, report.message), Weight.FAILURE
        if not report.greedy_equal:
            words = self.tr(
                "{} is NOT equal to a cold run (log probabilities differ by {}). Refresh it, and report this."
            )
            return words.format(name, f"{report.largest_difference:.2g}"), Weight.FAILURE
        words = self.tr("{} is equal to a cold run: {} tokens compared, first word after {} instead of {}.")
        seconds = units.duration(report.cached_seconds), units.duration(report.cold_seconds)
        return words.format(name, units.number(report.tokens_compared), *seconds), Weight.INFO

    def _tell_outcomes(self) -> None:
        lines = [line for line, _ in self._outcomes[:MOST_LINES]]
        if len(self._outcomes) > MOST_LINES:
            lines.append(self.tr("and {} more").format(units.number(len(self._outcomes) - MOST_LINES)))
        failed = any(weight is Weight.FAILURE for _, weight in self._outcomes)
        self._notices.withdraw("verify")
        notice = Notice("\n".join(lines), Weight.FAILURE if failed else Weight.INFO)
        self._notices.show_notice("verify", notice)

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _tell(self, topic: str, text: str) -> None:
        self._notices.withdraw(topic)
        self._notices.show_notice(topic, Notice(text))

    def _on_changed(self, title: str, answer: BaseModel | Output | Failure) -> None:
        if isinstance(answer, Failure):
            self.fail(title, answer.message)
        self._context.store.reload(Part.STATUS, Part.PINS, Part.ENTRIES)

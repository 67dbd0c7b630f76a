"""Stopping the prefill of a new pin: it is given up at once, and can be pinned again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from pinfill_app.failure import Failure
from pinfill_app.refresher import Part
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context
from pinfill_app.windows.prefixes_pinning import Pinning
from pinfill_service.api.schemas.manage import Pin, PinText, Unpinned

_GONE = "pin_not_found"


def can_stop(pin: Pin) -> bool:
    """It waits or is prefilled for the first time: one that was of use is only given up when that is asked for."""
    return pin.state in ("queued", "prefilling") and not pin.hits and pin.verified is None


class PrefixStop(QObject):
    """The service knows no pause: who stops a pin unpins it. What it prefilled stays cached while there is room, and
    the notice offers to pin the same files or the same text again.
    """

    def __init__(self, context: Context, notices: Notices, pinning: Pinning) -> None:
        super().__init__(notices)
        self._context, self._notices, self._pinning = context, notices, pinning

    def stop(self, pins: Sequence[Pin]) -> None:
        for pin in filter(can_stop, pins):
            if pin.sources:
                self._unpin(pin, partial(self._pinning.files, [Path(source.path) for source in pin.sources]))
            else:  # its text is nowhere else
                done = partial(self._on_content, pin)
                self._context.client.get(PinText, "pins", pin.name, "content", done=done)

    def _on_content(self, pin: Pin, content: PinText | Failure) -> None:
        if isinstance(content, Failure):
            self._on_unpinned(pin, None, content)
        else:
            self._unpin(pin, partial(self._pinning.text, content.text) if content.text else None)

    def _unpin(self, pin: Pin, again: Callable[[], None] | None) -> None:
        done = partial(self._on_unpinned, pin, again)
        self._context.client.delete(Unpinned, "pins", pin.name, done=done)

    def _on_unpinned(self, pin: Pin, again: Callable[[], None] | None, answer: Unpinned | Failure) -> None:
        self._notices.withdraw("stopped")
        if isinstance(answer, Failure) and answer.code != _GONE:
            words = self.tr("{} could not be stopped. {}").format(pin.name, answer.message)
            self._notices.show_notice("stopped", Notice(words, Weight.FAILURE))
        else:
            words = self.tr("Stopped: {} is not pinned. What was prefilled stays cached while there is room.")
            action = (self.tr("Pin &again..."), partial(self._again, again)) if again is not None else None
            self._notices.show_notice("stopped", Notice(words.format(pin.name), action=action))
        self._context.store.reload(Part.STATUS, Part.PINS, Part.ENTRIES)

    def _again(self, again: Callable[[], None]) -> None:
        self._notices.withdraw("stopped")
        again()

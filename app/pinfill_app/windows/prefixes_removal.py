"""Unpinning and evicting, with a while to change one's mind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel
from PySide6.QtCore import QObject, QTimer, Signal

from pinfill_app import units
from pinfill_app.failure import Failure
from pinfill_app.in_turn import InTurn
from pinfill_app.models.prefix_row import Key, PrefixRow
from pinfill_app.refresher import Part
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context
from pinfill_service.api.schemas.manage import Evicted, Unpinned

UNDO_SECONDS = 10
_GONE = ("pin_not_found", "entry_not_found")  # what was to be given up is


@dataclass(slots=True)
class _Sent:
    """How a removal goes, once it was sent."""

    total: int
    done: int = 0
    refusals: list[str] = field(default_factory=list)


class Removals(QObject):
    """Gives pins and entries up, a while after that was asked for: the service deletes their files at once and cannot
    bring them back, so that only what was not sent yet can be undone. Nothing is lost by undoing: a pin keeps its
    place, its hits and its files.

    One removal waits at a time: the next one sends it. What waits when the application ends is not given up.
    """

    changed = Signal()  # `leaving` is another

    def __init__(self, context: Context, notices: Notices, seconds: float = UNDO_SECONDS) -> None:
        super().__init__(notices)
        self._context, self._notices = context, notices
        self._seconds = seconds
        self._rows: tuple[PrefixRow, ...] = ()
        self._timer = QTimer(self, singleShot=True, interval=round(seconds * 1000))
        self._timer.timeout.connect(self.send)
        self._queue = InTurn()

    @property
    def leaving(self) -> frozenset[Key]:
        """What can still be kept."""
        return frozenset(row.key for row in self._rows)

    def start(self, rows: Sequence[PrefixRow]) -> None:
        """Pins and entries that nothing protects; others are left alone."""
        self.send()
        self._rows = tuple(row for row in rows if row.pin is not None or row.is_evictable)
        if not self._rows:
            return
        self._timer.start()
        notice = Notice(self._words(), action=(self.tr("Un&do"), self.undo), can_close=False)
        self._notices.show_notice("removal", notice)
        self.changed.emit()

    def undo(self) -> None:
        """Everything stays as it is."""
        self._timer.stop()
        self._rows = ()
        self._notices.withdraw("removal")
        self.changed.emit()

    def send(self) -> None:
        """What waits is given up now, as far as it is still there."""
        rows = self._rows
        self.undo()
        store = self._context.store
        names, ids = {pin.name for pin in store.pins}, {entry.id for entry in store.entries}
        there = [row for row in rows if row.key[1] in (names if row.key[0] == "pin" else ids)]
        evictable = [entry for entry in store.entries if not entry.pinned and not entry.in_use]
        entries = {row.key[1] for row in there if row.entry is not None}
        sent = _Sent(len(there))
        if len(entries) > 1 and entries.issuperset(entry.id for entry in evictable):
            pins = [row for row in there if row.pin is not None]
            sent.total = len(pins) + 1
            self._queue.add(partial(self._evict_all, sent))
            there = pins
        for row in there:
            self._queue.add(partial(self._remove, row, sent))

    def _evict_all(self, sent: _Sent, ended: Callable[[], None]) -> None:
        done = partial(self._on_done, sent, ended)
        self._context.client.post(Evicted, "entries", "evict-unpinned", done=done)

    def _remove(self, row: PrefixRow, sent: _Sent, ended: Callable[[], None]) -> None:
        done = partial(self._on_done, sent, ended)
        if row.pin is not None:
            self._context.client.delete(Unpinned, "pins", row.pin.name, done=done)
        else:
            self._context.client.delete(Evicted, "entries", row.key[1], done=done)

    def _on_done(self, sent: _Sent, ended: Callable[[], None], answer: BaseModel | Failure) -> None:
        sent.done += 1
        if isinstance(answer, Failure) and answer.code not in _GONE:
            sent.refusals.append(answer.message)
        if sent.done == sent.total:
            self._context.store.reload(Part.STATUS, Part.PINS, Part.ENTRIES)
            self._tell_refusals(sent)
        ended()

    def _tell_refusals(self, sent: _Sent) -> None:
        self._notices.withdraw("refusals")
        if not sent.refusals:
            return
        text = sent.refusals[0]
        if sent.total > 1:
            numbers = units.number(len(sent.refusals)), units.number(sent.total)
            text = self.tr("{} of {} could not be given up. {}").format(*numbers, text)
        self._notices.show_notice("refusals", Notice(text, Weight.FAILURE))

    def _words(self) -> str:
        """What goes, when, and what it takes to get it back."""
        pins = sum(row.pin is not None for row in self._rows)
        entries, when = len(self._rows) - pins, units.duration(self._seconds)
        if not entries:
            what = self._rows[0].name if pins == 1 else self.tr("{} pins").format(units.number(pins))
            words = self.tr("{} will be unpinned in {}. Your files stay; what Pinfill keeps of them goes.")
        elif not pins:
            what = self.tr("1 prefix") if entries == 1 else self.tr("{} prefixes").format(units.number(entries))
            words = self.tr("{} will be evicted in {}.")
        else:
            what = self.tr("{} pinned and {} cached prefixes").format(units.number(pins), units.number(entries))
            words = self.tr("{} will be given up in {}. Your files stay.")
        sentences = [words.format(what, when)]
        cost = sum(row.prefill_seconds or 0.0 for row in self._rows)
        if cost:
            sentences.append(self.tr("Needs {} of prefill next time.").format(units.duration(cost)))
        return " ".join(sentences)

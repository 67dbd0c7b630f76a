"""The list of pins, in the user's order, kept in step with the book and with who listens."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from pydantic import BaseModel

from pinfill_service.api.schemas.manage import PinProgressEvent, PinStateEvent
from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.pins.book import PinBook, read, stored
from pinfill_service.pins.content import PinnedPrefix, common_length
from pinfill_service.pins.errors import PinExistsError, UnknownPinError
from pinfill_service.pins.pin import Pin, PinState, PinStatus

Publish = Callable[[str, BaseModel], None]


class Shelf:
    """All pins, guarded by `lock`. Never hold it while the engine is asked something: the engine's thread takes it too.

    Invariant: what the book says of a pin is what a restart can go on from.
    """

    def __init__(self, book: PinBook, publish: Publish, clock: Callable[[], float] = time.time) -> None:
        self.lock = threading.RLock()
        self.clock, self.publish = clock, publish
        self.cost: PrefillCost | None = None  # with the model that is loaded
        self._book = book
        self.pins = [read(line) for line in book.pins()]

    # -- finding -------------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        with self.lock:
            return [pin.name for pin in self.pins]

    def find(self, name: str) -> Pin:
        """Raises UnknownPinError, which names the pins there are. Case does not count: clients change it."""
        with self.lock:
            for pin in self.pins:
                if pin.name.casefold() == name.casefold():
                    return pin
            known = f"The pins are: {', '.join(self.names)}." if self.pins else "Nothing is pinned yet."
            raise UnknownPinError(f"There is no pin {name!r}. {known}")

    def check_free(self, name: str, but: Pin | None = None) -> None:
        """Raises PinExistsError."""
        with self.lock:
            taken = (pin.name for pin in self.pins if pin is not but and pin.name.casefold() == name.casefold())
            other = next(taken, None)
        if other is not None:
            raise PinExistsError(f"There is a pin {other} already. Choose another name, refresh it, or unpin it first.")

    def token_ids(self, but: Pin | None = None) -> list[list[int]]:
        """The tokens of every pin of the loaded model."""
        with self.lock:
            return [pin.prefix.token_ids for pin in self.pins if pin is not but and pin.prefix is not None]

    def serving(self, prompt: Sequence[int]) -> str | None:
        """The name of the longest pin that `prompt`, a list, begins with."""
        with self.lock:
            found = [
                pin
                for pin in self.pins
                if pin.prefix is not None and prompt[: len(pin.prefix.token_ids)] == pin.prefix.token_ids
            ]
            return max(found, key=lambda pin: pin.tokens).name if found else None

    def ending_at(self, token_ids: Sequence[int]) -> str | None:
        """The name of the pin whose tokens these are, a list."""
        with self.lock:
            found = (pin.name for pin in self.pins if pin.prefix is not None and pin.prefix.token_ids == token_ids)
            return next(found, None)

    # -- changing ------------------------------------------------------------------------------------------------

    def add(self, pin: Pin) -> None:
        """Raises PinError for a name that is taken or wrong."""
        with self.lock:
            self.check_free(pin.name)
            self._book.add_pin(stored(pin))
            self.pins.append(pin)
            self._tell(pin)

    def remove(self, name: str) -> Pin:
        with self.lock:
            pin = self.find(name)
            pin.gone = True
            self.pins.remove(pin)
            self._book.remove_pin(pin.name)
        self.publish("pin.state", PinStateEvent(name=pin.name, state=None, reason=None))
        return pin

    def rename(self, name: str, new: str) -> None:
        """Raises PinError."""
        with self.lock:
            pin = self.find(name)
            old = pin.name
            self.check_free(new, pin)
            pin.name = new
            try:
                self._book.update_pin(old, stored(pin))
            except BaseException:
                pin.name = old
                raise
            self._tell(pin, renamed_from=old)

    def move(self, name: str, position: int) -> None:
        with self.lock:
            pin = self.find(name)
            self.pins.remove(pin)
            self.pins.insert(position, pin)
            self._book.order_pins(self.names)

    def write(self, pin: Pin) -> None:
        """What changed of a pin goes into the book."""
        with self.lock:
            if not pin.gone:
                self._book.update_pin(pin.name, stored(pin))

    def set(self, pin: Pin, state: PinState, reason: str | None) -> None:
        with self.lock:
            if (pin.state, pin.reason) == (state, reason):
                return
            pin.state, pin.reason = state, reason
            self.write(pin)
            if not pin.gone:
                self._tell(pin)

    def settle(self, pin: Pin, state: PinState, reason: str | None) -> None:
        """The engine holds all of it: `state`, unless its source has changed."""
        with self.lock:
            if pin.source_changed is not None:
                state, reason = "stale", pin.source_changed
            self.set(pin, state, reason)

    def progress(self, pin: Pin, prefix: PinnedPrefix, cached: int, done: int, total: int) -> None:
        """A chunk of a pin was evaluated; `cached` tokens were there when it began."""
        with self.lock:
            if pin.prefix is not prefix or pin.state != "prefilling":
                return
            pin.already_there, pin.done = cached, done
            left = pin.seconds_left(self.clock(), self.cost)
            event = PinProgressEvent(name=pin.name, done=done, total=total, seconds_left=left)
        self.publish("pin.progress", event)

    def _tell(self, pin: Pin, renamed_from: str | None = None) -> None:
        event = PinStateEvent(name=pin.name, state=pin.state, reason=pin.reason, renamed_from=renamed_from)
        self.publish("pin.state", event)

    # -- looking -------------------------------------------------------------------------------------------------

    def statuses(self) -> list[PinStatus]:
        with self.lock:
            now = self.clock()
            ids = [[] if pin.prefix is None else pin.prefix.token_ids for pin in self.pins]
            return [
                _status(pin, position, ids, pin.seconds_left(now, self.cost)) for position, pin in enumerate(self.pins)
            ]


def _status(pin: Pin, position: int, ids: Sequence[list[int]], seconds_left: float | None) -> PinStatus:
    others = (common_length(ids[position], other) for at, other in enumerate(ids) if at != position)
    return PinStatus(
        name=pin.name,
        content=pin.content,
        sources=pin.sources,
        auto_refresh=pin.auto_refresh,
        created=pin.created,
        model=pin.model,
        fingerprint=pin.fingerprint,
        state=pin.state,
        reason=pin.reason,
        position=position,
        tokens=pin.tokens,
        shared_tokens=max(others, default=0),
        done=pin.done,
        seconds_left=seconds_left,
        in_memory=pin.in_memory,
        on_disk=pin.on_disk,
        verified=pin.verified,
        digest=pin.digest,
        token_ids=ids[position],
    )

"""The pins as the rest of the service sees them: made, looked at, changed, refreshed, verified, given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pinfill_service.api.schemas.manage import SourceFile
from pinfill_service.loaded_model import LoadedModel
from pinfill_service.pins.book import PinBook
from pinfill_service.pins.budget import check_fits
from pinfill_service.pins.content import PinContent, PinnedPrefix, pinned_prefix, raw_text
from pinfill_service.pins.errors import PinContentError, PinStateError, UnknownPinError
from pinfill_service.pins.keeper import Keeper
from pinfill_service.pins.kept_files import KeptFiles
from pinfill_service.pins.pin import Pin, PinStatus, VerifyResult
from pinfill_service.pins.shelf import Publish, Shelf
from pinfill_service.pins.upkeep import delete_files
from pinfill_service.pins.verify import Verification

_STATE_SECONDS = 1.0  # how long a look at the pins waits for the engine: a chunk may be under way


class PinManager:
    """Owns the pins. Methods may be called from any thread; those that ask the engine may take a second."""

    def __init__(
        self,
        book: PinBook,
        publish: Publish,
        *,
        kv_home: Path | None = None,
        keeps_sessions: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`kv_home` holds a folder of KV files for each model. `keeps_sessions`: files of no pin stay too."""
        self._kv_home, self._keeps_sessions = kv_home, keeps_sessions
        self._shelf = Shelf(book, publish, clock)
        self._keeper = Keeper(self._shelf, keeps_sessions)
        self._making = threading.Lock()  # one new content at a time is checked against the budgets

    def attach(self, loaded: LoadedModel) -> None:
        """A model was loaded: its pins are taken up again, the others are stale until they are rebuilt for it."""
        self._keeper.attach(loaded)

    def detach(self) -> None:
        """The model is about to be closed. Returns once nothing here uses it any more."""
        self._keeper.detach()

    def close(self) -> None:
        """Pins go on from where they are at the next start."""
        self._keeper.close()

    # -- what people do ------------------------------------------------------------------------------------------

    def create(
        self, name: str, content: PinContent, sources: Sequence[SourceFile] = (), *, auto_refresh: bool = False
    ) -> PinStatus:
        """Checks a pin, writes it down and queues its prefill. Raises PinError or TemplateError."""
        loaded = self._require_model()
        prefix = pinned_prefix(content, loaded.text)
        pin = Pin(
            name=name,
            content=content,
            sources=tuple(sources),
            auto_refresh=auto_refresh,
            created=self._shelf.clock(),
            model=loaded.name,
            fingerprint=loaded.fingerprint,
            tokens=len(prefix.token_ids),
        )
        pin.reads_as(prefix)
        with self._making:
            self._shelf.check_free(name)
            check_fits(loaded.engine, prefix.token_ids, self._shelf.token_ids())
            self._shelf.add(pin)
        self._keeper.wake()
        return self.get(name)

    def refresh(
        self, name: str, content: PinContent | None = None, sources: Sequence[SourceFile] | None = None
    ) -> PinStatus:
        """Gives a pin a new content, or brings it back with the one it has. Only what changed is prefilled.

        What was pinned before stays usable until then. A pin of another model is made for the loaded one. Raises
        PinError or TemplateError.
        """
        loaded = self._require_model()
        pin = self._shelf.find(name)
        if content is None and pin.unfit is not None:
            raise PinContentError(pin.unfit)
        wanted = content or pin.content
        if wanted.token_ids and pin.fingerprint != loaded.fingerprint:  # exact ids mean nothing to another model
            wanted = raw_text(wanted.text)
        prefix = pinned_prefix(wanted, loaded.text)
        with self._making:
            check_fits(loaded.engine, prefix.token_ids, self._shelf.token_ids(pin))
            self._keeper.stop_prefilling(pin)
            with self._shelf.lock:
                foreign = pin.fingerprint
                pin.content, pin.reformed, pin.unfit = wanted, False, None
                pin.reads_as(prefix)
                pin.model, pin.fingerprint, pin.verified = loaded.name, loaded.fingerprint, None
                pin.sources = pin.sources if sources is None else tuple(sources)
                pin.source_changed = None
                self._shelf.set(pin, "queued", None)
                self._shelf.write(pin)
        self._forget_folder(foreign, loaded)
        self._keeper.wake()
        return self.get(name)

    def delete(self, name: str) -> PinStatus:
        """Gives a pin up, its files included. Raises UnknownPinError."""
        status = self.get(name)
        pin = self._shelf.remove(name)
        self._keeper.let_go(pin)
        self._forget_folder(pin.fingerprint, self._keeper.loaded)
        return status

    def rename(self, name: str, new: str) -> PinStatus:
        """Raises PinError."""
        self._shelf.rename(name, new)
        return self.get(new)

    def move(self, name: str, position: int) -> None:
        """Puts a pin at a place in the user's order, counted from 0. Raises UnknownPinError."""
        self._shelf.move(name, position)

    def set_auto_refresh(self, name: str, on: bool) -> None:
        """Raises UnknownPinError."""
        with self._shelf.lock:
            pin = self._shelf.find(name)
            pin.auto_refresh = on
            self._shelf.write(pin)

    def mark_stale(self, name: str, reason: str) -> None:
        """A source is not what was pinned any more, as whoever watches it says. What is cached stays usable.

        Raises UnknownPinError.
        """
        with self._shelf.lock:
            pin = self._shelf.find(name)
            pin.source_changed = reason
            self._shelf.write(pin)
            if pin.state in ("warm", "cold", "stale"):
                self._shelf.settle(pin, pin.state, pin.reason)

    def mark_fresh(self, name: str) -> None:
        """The sources are again what was pinned. Raises UnknownPinError."""
        with self._shelf.lock:
            pin = self._shelf.find(name)
            if pin.source_changed is None:
                return
            pin.source_changed = None
            self._shelf.write(pin)
            if pin.state == "stale" and pin.prefix is not None and pin.held == pin.prefix.token_ids:
                self._shelf.set(pin, "warm", None)

    def verification(self, name: str, tokens: int) -> Verification:
        """Runs a pin cold and cached when it is run; its result is kept. Raises PinError."""
        loaded = self._require_model()
        with self._shelf.lock:
            pin = self._shelf.find(name)
            prefix, state, held = pin.prefix, pin.state, pin.held
        if prefix is None or held != prefix.token_ids:
            raise PinStateError(f"The pin {name} is {state}: it can be verified once it is warm.")
        return Verification(loaded.engine, prefix.example, tokens, partial(self._keep_verified, pin, prefix))

    def _keep_verified(self, pin: Pin, prefix: PinnedPrefix, result: VerifyResult) -> None:
        with self._shelf.lock:
            if pin.prefix is prefix:
                pin.verified = result
                self._shelf.write(pin)

    def forget_unpinned_files(self) -> None:
        """Deletes what is on disk and no pin needs. Soon, not at once."""
        self._keeper.forget_unpinned_files()

    def disk_changed(self) -> None:
        """There may be room on the disk now: pins that are only in memory are saved. Soon, not at once."""
        self._keeper.disk_changed()

    # -- looks ---------------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """In the user's order."""
        return self._shelf.names

    def get(self, name: str) -> PinStatus:
        """Raises UnknownPinError."""
        pin = self._shelf.find(name)
        found = next((status for status in self.all() if status.name == pin.name), None)
        if found is None:  # it was unpinned or renamed at this very moment
            raise UnknownPinError(f"The pin {name} is gone.")
        return found

    def prefix(self, name: str) -> tuple[PinContent, PinnedPrefix | None]:
        """What a pin puts in front of requests; the prefix is None for a pin of another model, or without one.

        Raises UnknownPinError, which names the pins there are.
        """
        with self._shelf.lock:
            pin = self._shelf.find(name)
            return pin.content, pin.prefix

    def in_front(self, name: str) -> tuple[PinContent, PinnedPrefix | None]:
        """As `prefix`, for a request. Raises PinContentError for a pin that none can begin with, too."""
        with self._shelf.lock:
            unfit = self._shelf.find(name).unfit
            if unfit is not None:
                raise PinContentError(f"The pin {name} cannot be used. {unfit}")
            return self.prefix(name)

    def prefixes(self) -> list[PinnedPrefix]:
        """Of every pin of the loaded model."""
        with self._shelf.lock:
            return [pin.prefix for pin in self._shelf.pins if pin.prefix is not None]

    def kept_files(self) -> KeptFiles:
        """For looking at what is on disk of pins of other models."""
        return KeptFiles(self._kv_home)

    def serving(self, prompt: Sequence[int]) -> str | None:
        """The name of the longest pin that `prompt`, a list, begins with."""
        return self._shelf.serving(prompt)

    def ending_at(self, token_ids: Sequence[int]) -> str | None:
        """The name of the pin whose tokens these are, a list."""
        return self._shelf.ending_at(token_ids)

    def all(self, *, ask_engine: bool = True) -> list[PinStatus]:
        """Every pin, in the user's order: as the engine says where it says so soon enough, else as last known."""
        if ask_engine:
            self._look_at_states()
        return self._shelf.statuses()

    def _look_at_states(self) -> None:
        """Warm pins may have left memory for the disk since, and cold ones come back."""
        with self._shelf.lock:
            engine = self._keeper.upkeep
            held = [(pin, pin.held) for pin in self._shelf.pins if pin.held is not None]
        if engine is None or not held:
            return
        states = engine.states([token_ids for _, token_ids in held], _STATE_SECONDS)
        with self._shelf.lock:
            for (pin, token_ids), state in zip(held, states, strict=True):
                if state is None or pin.held is not token_ids:
                    continue
                pin.in_memory, pin.on_disk = state.in_memory, state.on_disk
                if pin.state in ("warm", "cold") and state.cached_tokens == pin.tokens:
                    self._shelf.set(pin, "warm" if state.in_memory else "cold", pin.reason)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _require_model(self) -> LoadedModel:
        loaded = self._keeper.loaded
        if loaded is None:
            raise PinStateError("No model is loaded, so nothing can be prefilled. Load a model first.")
        return loaded

    def _forget_folder(self, fingerprint: str, loaded: LoadedModel | None) -> None:
        """Deletes the KV files of a model that is not loaded and that no pin was made for."""
        with self._shelf.lock:
            needed = any(pin.fingerprint == fingerprint for pin in self._shelf.pins)
        if self._kv_home is None or loaded is None or fingerprint == loaded.fingerprint:
            return
        if not needed and not self._keeps_sessions():
            delete_files(self._kv_home, fingerprint)

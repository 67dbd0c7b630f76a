"""Keeps the pins of the loaded model warm, on one thread, pin after pin."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

from pinfill_service.api.schemas.manage import DiskProblemEvent
from pinfill_service.loaded_model import LoadedModel
from pinfill_service.pins.content import PinnedPrefix, pinned_prefix
from pinfill_service.pins.pin import Pin
from pinfill_service.pins.shelf import Shelf
from pinfill_service.pins.upkeep import Outcome, Upkeep

log = logging.getLogger(__name__)

_LOOK_SECONDS = 2.0  # between two looks for damaged files, and two tries when the engine's queue is full
_SAVE_AGAIN_SECONDS = 60.0  # between two tries to save a pin that is only in memory
_ALWAYS_EVALUATED = 2  # tokens of a prompt that are evaluated however much of it is cached


class Keeper:
    """The thread that takes pins up, prefills, repairs and gives them up. Methods may be called from any other one.

    Invariants: a pin is `warm` or `cold` only while the engine holds all of its tokens pinned; the engine holds nothing
    for a pin that is gone.
    """

    def __init__(self, shelf: Shelf, keeps_sessions: Callable[[], bool]) -> None:
        self._shelf, self._keeps_sessions = shelf, keeps_sessions
        self.loaded: LoadedModel | None = None
        self.upkeep: Upkeep | None = None
        self._tried_to_save = shelf.clock()
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name="pins", daemon=True)
        self._thread.start()

    def attach(self, loaded: LoadedModel) -> None:
        with self._shelf.lock:
            self.loaded, self.upkeep = loaded, Upkeep(loaded.engine)
            self._shelf.cost = loaded.engine.cost
        self._jobs.put(lambda: self._adopt_all(loaded))

    def detach(self) -> None:
        """Returns once nothing here uses the engine any more."""
        with self._shelf.lock:
            current, self.loaded, self.upkeep = self.upkeep, None, None
            self._shelf.cost = None
        if current is not None:
            current.stop()
        passed = threading.Event()
        self._jobs.put(passed.set)
        passed.wait()
        with self._shelf.lock:
            for pin in self._shelf.pins:
                pin.held = pin.prefix = None
                pin.in_memory = False
                if pin.state == "warm":
                    self._shelf.set(pin, "cold" if pin.on_disk else "queued", pin.reason)

    def close(self) -> None:
        self.detach()
        self._jobs.put(None)
        self._thread.join()

    def wake(self) -> None:
        """Something is queued."""
        self._jobs.put(lambda: None)

    def let_go(self, pin: Pin) -> None:
        """The pin is gone: what the engine holds for it is given up soon."""
        self.stop_prefilling(pin)
        engine = self.upkeep  # of now: `detach` waits for the job, and the model is closed after that

        def job() -> None:
            with self._shelf.lock:
                held, pin.held = pin.held, None
            if engine is not None and held is not None:
                engine.unpin(held)

        self._jobs.put(job)

    def forget_unpinned_files(self) -> None:
        """What is on disk of prompts that nobody pinned goes, soon."""
        engine = self.upkeep
        if engine is not None:
            self._jobs.put(engine.forget_unpinned_files)

    def disk_changed(self) -> None:
        """There may be room on the disk now: pins that are only in memory are saved, soon."""
        engine = self.upkeep

        def job() -> None:
            assert engine is not None
            self._save_unsaved(engine)
            if not self._keeps_sessions():  # of what an earlier run left there
                engine.forget_unpinned_files()

        if engine is not None:
            self._jobs.put(job)

    def stop_prefilling(self, pin: Pin) -> None:
        with self._shelf.lock:
            engine = self.upkeep if pin.state == "prefilling" else None
        if engine is not None:
            engine.cancel()

    # -- the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                job = self._look
            if job is None:
                return
            try:
                job()
                self._prefill_queued()
            except Exception:  # one pin's trouble must not be the end of all others
                log.exception("something went wrong with the pins")

    def _adopt_all(self, loaded: LoadedModel) -> None:
        with self._shelf.lock:
            pins, engine = list(self._shelf.pins), self.upkeep
        if engine is None or self.loaded is not loaded:
            return
        for pin in pins:
            self._adopt(pin, loaded, engine)
        self._prefill_queued()
        self._load_cold(engine)
        if not self._keeps_sessions():
            engine.forget_unpinned_files()

    def _adopt(self, pin: Pin, loaded: LoadedModel, engine: Upkeep) -> None:
        """Takes a pin of an earlier run, or of a model that was loaded before, up again."""
        with self._shelf.lock:
            if pin.prefix is not None and pin.fingerprint == loaded.fingerprint:
                return  # it was made meanwhile
            if pin.unfit is not None:
                return
            if pin.fingerprint != loaded.fingerprint:
                pin.prefix = None
                why = "which has changed since" if pin.model == loaded.name else f"and {loaded.name} is loaded"
                self._shelf.set(pin, "stale", f"It was made for {pin.model}, {why}. Refresh it.")
                return
        try:
            prefix = pinned_prefix(pin.content, loaded.text)
            held = engine.pin(prefix.token_ids)
        except Exception as error:  # templates and engines are foreign code; the pin says what they said
            self._shelf.set(pin, "failed", str(error) or type(error).__name__)
            return
        with self._shelf.lock:
            pin.reads_as(prefix)
            if held:
                pin.held, pin.on_disk, pin.reformed = prefix.token_ids, True, False
                self._shelf.settle(pin, "cold", None)
            elif pin.reformed:
                pin.on_disk = False
                self._shelf.set(pin, "stale", "Its tools were pinned in another form than requests have. Refresh it.")
            else:
                pin.on_disk = False
                self._shelf.set(pin, "queued", "Not all of it was on disk.")

    def _load_cold(self, engine: Upkeep) -> None:
        """Brings the first pins, as many as have a slot beside one for other requests, from the disk into memory, so
        that the first request after a start need not wait for that.
        """
        slots = engine.slots
        with self._shelf.lock:
            held = [pin for pin in self._shelf.pins if pin.held is not None][: max(slots - 1, min(slots, 1))]
        for pin in held:
            if pin.state == "cold":
                self._check(pin, engine)

    def _prefill_queued(self) -> None:
        """Prefills what is queued, in the user's order, one after the other."""
        while True:
            with self._shelf.lock:
                engine = self.upkeep
                queued = (pin for pin in self._shelf.pins if pin.state == "queued" and pin.prefix is not None)
                pin = next(queued, None)
            if engine is None or pin is None or not self._prefill(pin, engine):
                return

    def _prefill(self, pin: Pin, engine: Upkeep) -> bool:
        """False: the engine takes nothing at the moment."""
        with self._shelf.lock:
            prefix = pin.prefix
            if pin.state != "queued" or pin.gone or prefix is None:
                return True
            pin.done, pin.prefilling_since = 0, self._shelf.clock()
            self._shelf.set(pin, "prefilling", pin.reason)
        outcome = engine.prefill(prefix.token_ids, lambda *counts: self._shelf.progress(pin, prefix, *counts))
        with self._shelf.lock:
            wanted = not pin.gone and pin.prefix is prefix
            if wanted and not outcome.pinned:
                self._shelf.set(pin, "queued" if outcome.retry else "failed", outcome.problem)
            needless = prefix.token_ids if outcome.pinned else None
            if wanted and outcome.pinned:
                needless, pin.held = pin.held, prefix.token_ids
        if needless is not None:
            engine.unpin(needless)
        if wanted and outcome.pinned:
            self._finish(pin, prefix, engine, outcome)
        return outcome.pinned or not (wanted and outcome.retry)

    def _finish(self, pin: Pin, prefix: PinnedPrefix, engine: Upkeep, outcome: Outcome) -> None:
        on_disk, problem = outcome.on_disk, outcome.problem
        if problem is not None:  # what was pinned before may have made room by now
            on_disk, problem = engine.save(prefix.token_ids)
        with self._shelf.lock:
            if pin.prefix is prefix:
                pin.in_memory, pin.on_disk, pin.done = True, on_disk, pin.tokens
                self._shelf.settle(pin, "warm", problem)
        if problem is not None:
            self._shelf.publish("disk.problem", DiskProblemEvent(message=f"{pin.name}: {problem}"))

    # -- now and then --------------------------------------------------------------------------------------------

    def _look(self) -> None:
        self._look_for_damage()
        with self._shelf.lock:
            engine = self.upkeep
        if engine is not None and self._shelf.clock() - self._tried_to_save >= _SAVE_AGAIN_SECONDS:
            self._save_unsaved(engine)

    def _save_unsaved(self, engine: Upkeep) -> None:
        """The disk may have been full, or read-only, when pins were to be saved."""
        self._tried_to_save = self._shelf.clock()
        with self._shelf.lock:
            unsaved = [pin for pin in self._shelf.pins if pin.held is not None and not pin.on_disk]
        for pin in unsaved:
            with self._shelf.lock:
                prefix = pin.prefix
                if prefix is None or pin.held != prefix.token_ids or pin.state not in ("warm", "stale"):
                    continue
            on_disk, problem = engine.save(prefix.token_ids)
            with self._shelf.lock:
                if not pin.gone and pin.prefix is prefix and pin.state in ("warm", "stale"):
                    pin.on_disk = on_disk
                    self._shelf.settle(pin, "warm", problem)

    def _look_for_damage(self) -> None:
        """Files may turn out to be damaged at any time: pins that lost KV are prefilled again, and say why."""
        with self._shelf.lock:
            engine = self.upkeep
            held = [pin for pin in self._shelf.pins if pin.held is not None and pin.state in ("warm", "cold", "stale")]
        damage = engine.new_damage() if engine is not None else []
        for sentence in damage:
            self._shelf.publish("disk.problem", DiskProblemEvent(message=sentence))
        for pin in held if damage else ():
            assert engine is not None
            self._check(pin, engine)

    def _check(self, pin: Pin, engine: Upkeep) -> None:
        """Reads all of a pin into memory, which is the only way to know that it is whole, and prefills what it lost."""
        with self._shelf.lock:
            prefix = pin.prefix
            if prefix is None or pin.held != prefix.token_ids:
                return

        def progress(cached: int, done: int, total: int) -> None:
            with self._shelf.lock:
                if cached < total - _ALWAYS_EVALUATED and pin.prefix is prefix and pin.state in ("warm", "cold"):
                    reason, pin.prefilling_since = engine.last_damage, self._shelf.clock()
                    self._shelf.set(pin, "queued", reason)
                    self._shelf.set(pin, "prefilling", reason)
            self._shelf.progress(pin, prefix, cached, done, total)

        outcome = engine.prefill(prefix.token_ids, progress, held=True)
        with self._shelf.lock:
            if pin.gone or pin.prefix is not prefix:
                return
            if outcome.pinned:
                pin.on_disk = outcome.on_disk
                self._shelf.settle(pin, "warm", outcome.problem)
            elif pin.state == "prefilling":  # what was damaged is not pinned any more either
                pin.held = None
                self._shelf.set(pin, "queued", outcome.problem or pin.reason)

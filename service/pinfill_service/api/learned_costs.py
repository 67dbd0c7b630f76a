"""What prefill costs with each model, from one run of the service to the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from pinfill_service.cache.ledger import Ledger
from pinfill_service.engine.interface import Engine

EVERY_SECONDS = 60.0  # between two times that it is written


class LearnedCosts:
    """Reads the ledger once, and writes to it now and then. Methods may be called from any thread.

    Another processor, provider, runtime or number of threads is another machine: what it learned is kept apart.
    """

    def __init__(self, ledger: Ledger, clock: Callable[[], float] = time.monotonic) -> None:
        self._ledger, self._clock = ledger, clock
        self._known = ledger.prefill_costs()
        self._kept_at = clock()
        self._lock = threading.Lock()

    def tell(self, engine: Engine) -> None:
        """The engine knows from now on what an earlier run learned."""
        engine.cost.remember(self._known.get((engine.model.fingerprint, engine.model.runtime), {}))

    def keep_now_and_then(self, engine: Engine) -> None:
        if self._clock() - self._kept_at >= EVERY_SECONDS:
            self.keep(engine)

    def keep(self, engine: Engine) -> None:
        """Writes what the engine has learned, if that is anything new."""
        with self._lock:
            machine, learned = (engine.model.fingerprint, engine.model.runtime), engine.cost.learned
            self._kept_at = self._clock()
            if learned != self._known.get(machine, {}):
                self._ledger.keep_prefill_costs(*machine, learned)
                self._known[machine] = learned

"""How much memory the system can spare for cached prefixes: what others need comes first."""

from __future__ import annotations

from collections.abc import Callable

import psutil

PLENTY = 1 << 62
# Of the machine's memory, this part stays free for programs that are about to need it.
_RESERVED_PART, _MOST_RESERVED = 1 / 20, 1 << 30
_LOOK_SECONDS = 1.0  # between two looks


def spare_bytes() -> int:
    """What is available beyond the reserve; negative: that much has to be given back."""
    memory = psutil.virtual_memory()
    return int(memory.available - min(memory.total * _RESERVED_PART, _MOST_RESERVED))


def plenty() -> int:
    """For caches that need not care."""
    return PLENTY


class SystemMemory:
    """What may be held, as far as the system goes: what is held already, and what it can spare beside that.

    What is given back can be spared again, so this comes to rest, and grows with what other programs give back.
    """

    def __init__(self, spare: Callable[[], int], held: Callable[[], int], clock: Callable[[], float]) -> None:
        self._spare, self._held, self._clock = spare, held, clock
        self._affordable, self._look_at = PLENTY, clock()
        self.is_short = False

    def affordable_bytes(self) -> int:
        """As of the last look, which is never long ago."""
        now = self._clock()
        if now >= self._look_at:
            self._look_at = now + _LOOK_SECONDS
            spare = self._spare()
            self._affordable, self.is_short = max(0, self._held() + spare), spare < 0
        return self._affordable

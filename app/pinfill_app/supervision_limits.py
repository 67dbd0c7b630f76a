"""How long the supervisor waits for what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Milliseconds. A service has ended for good when `restarts` are used up; one that was ready for `steady` has all
    of them again.
    """

    probe: int = 2_000  # between two signs of life
    first_probe: int = 250  # the same, while it starts
    answer: int = 5_000  # for one sign of life
    silent: int = 2  # missed in a row, then people are told
    misses: int = 6  # in a row, then it hangs
    load: int = 900_000  # until it is ready: large models on slow disks
    unit: int = 30_000  # until the one of systemd has the folder
    stop: int = 15_000  # to end in order; it gives its own requests 5 s
    restarts: tuple[int, ...] = (1_000, 2_000, 5_000, 10_000, 30_000)
    steady: int = 60_000

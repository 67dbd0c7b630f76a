"""Cycles of Python objects are collected in the GUI thread only.

Python collects them in whichever thread allocates. A Qt object that is destroyed in another thread than its own can
leave a timer running, or end the process.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

LOOK_MILLISECONDS = 2_000


class GarbageCollection(QObject):
    """From `start` to `stop`, in place of Python's own collection in every thread of the process.

    What is there at the start, most of all modules, stays for good and is not walked along again: that is three
    quarters of all objects, and would hold the window up for 50 ms.
    """

    def __init__(self, parent: QObject | None = None, milliseconds: int = LOOK_MILLISECONDS) -> None:
        super().__init__(parent)
        self._timer = QTimer(self, interval=milliseconds)
        self._timer.timeout.connect(self._look)

    def start(self) -> None:
        gc.disable()
        gc.collect()
        gc.freeze()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def _look(self) -> None:
        """As Python does it: the oldest generation whose count is above its threshold, and all younger ones."""
        due = [generation for generation, count in enumerate(gc.get_count()) if count > gc.get_threshold()[generation]]
        if due:
            gc.collect(max(due))

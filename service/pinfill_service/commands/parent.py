"""A process that ends with the one that started it, on every system and however that one ends."""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time

STDIN = 0
LIMIT_SECONDS = 30.0  # to end in order; whoever started this process and lives kills it sooner


def exit_with_parent() -> None:
    """Ends this process in order, as SIGTERM does, once its standard input is closed.

    The parent holds the other end of that pipe and never writes to it: the system closes it when the parent dies.
    """
    threading.Thread(target=_watch, name="parent", daemon=True).start()


def _watch() -> None:
    try:
        while os.read(STDIN, 4096):  # not sys.stdin: its lock, held by a thread, would break the interpreter's end
            pass
    except OSError:  # there is no standard input, and so no parent to wait for
        pass
    _thread.interrupt_main(signal.SIGTERM)  # the handler runs in the main thread; os.kill would end Windows at once
    time.sleep(LIMIT_SECONDS)
    os._exit(1)  # what is on disk is whole at any moment

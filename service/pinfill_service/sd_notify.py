"""Telling systemd that the service is ready and alive: the protocol of sd_notify(3), without its library."""

from __future__ import annotations

import os
import socket
import sys

READY, STOPPING, ALIVE = "READY=1", "STOPPING=1", "WATCHDOG=1"


def notify(message: str) -> bool:
    """Sends a message to the manager that started this process; False where there is none or it does not listen.

    NOTIFY_SOCKET is a path, or a name in Linux's abstract namespace, which begins with "@".
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if sys.platform != "linux" or not address.startswith(("/", "@")):
        return False
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.connect("\0" + address[1:] if address.startswith("@") else address)
            sender.send(message.encode())
    except OSError:  # a manager that is gone does not stop the service
        return False
    return True


def watchdog_seconds() -> float | None:
    """How often ALIVE is due: twice within the time that WatchdogSec= allows. None where nobody waits for it."""
    microseconds, process = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    if not microseconds.isdecimal() or process not in ("", str(os.getpid())):
        return None
    return int(microseconds) / 2e6 or None

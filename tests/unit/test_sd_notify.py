"""What systemd is told, as sd_notify(3) and sd_watchdog_enabled(3) define it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import pinfill_service
from pinfill_service import sd_notify
from tests.support.models import LLAMA

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")

LIMIT_SECONDS = 60


@contextmanager
def manager(address: str) -> Iterator[socket.socket]:
    """Stands for systemd: receives what is sent to an address as NOTIFY_SOCKET names it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind("\0" + address[1:] if address.startswith("@") else address)
        receiver.settimeout(LIMIT_SECONDS)
        yield receiver


def test_a_manager_hears_at_a_path_and_at_an_abstract_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for address in (str(tmp_path / "notify"), f"@pinfill-test-{os.getpid()}"):
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        with manager(address) as receiver:
            assert sd_notify.notify(sd_notify.READY)
            assert receiver.recv(100) == b"READY=1"


def test_nobody_to_tell_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert not sd_notify.notify(sd_notify.READY)
    for address in (str(tmp_path / "gone"), "vsock:2:1234", "@", "/" + "x" * 200):
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        assert not sd_notify.notify(sd_notify.READY)


@pytest.mark.parametrize(
    ("microseconds", "process", "seconds"),
    [
        ("30000000", "", 15.0),
        ("30000000", str(os.getpid()), 15.0),
        ("30000000", "1", None),  # meant for another process
        ("", "", None),
        ("0", "", None),
        ("-5", "", None),
        ("soon", "", None),
    ],
)
def test_the_watchdog_is_due_twice_in_its_time(
    monkeypatch: pytest.MonkeyPatch, microseconds: str, process: str, seconds: float | None
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", microseconds)
    monkeypatch.setenv("WATCHDOG_PID", process)

    assert sd_notify.watchdog_seconds() == seconds


def test_a_service_says_that_it_is_ready_lives_and_stops(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PINFILL_")}
    paths = [str(Path(pinfill_service.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment |= {"PYTHONPATH": os.pathsep.join(paths), "PINFILL_HOME": str(tmp_path / "home")}
    environment |= {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "200000"}
    command = [sys.executable, "-m", "pinfill_service.cli", "serve", "--port", "0", "--no-key", "--model", str(LLAMA)]
    with manager(address) as receiver, subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            assert receiver.recv(100) == b"READY=1"
            assert [receiver.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3
            process.send_signal(signal.SIGTERM)
            heard = receiver.recv(100)
            while heard == b"WATCHDOG=1":
                heard = receiver.recv(100)
            assert heard == b"STOPPING=1"
            assert process.wait(LIMIT_SECONDS) == 0
        finally:
            process.kill()

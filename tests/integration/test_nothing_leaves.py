"""Start, pin, request, quit: nothing is sent to another machine, and nothing is written but into Pinfill's folder."""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import pinfill_service
from tests.support.models import LLAMA

LIMIT_SECONDS = 120
KEY = "a-key"
STRACE = ("strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o")
_ADDRESS = re.compile(r'sin6?_addr=inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not on this machine")


def environment(home: Path) -> dict[str, str]:
    """A user of his own, who is not taken for a build machine: there onnxruntime would be silent by itself."""
    paths = [str(Path(pinfill_service.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    own = {"PINFILL_HOME": str(home / "pinfill"), "PINFILL_API_KEY": KEY, "PYTHONDONTWRITEBYTECODE": "1"}
    return kept | own | {"HOME": str(home), "USERPROFILE": str(home), "PYTHONPATH": os.pathsep.join(paths)}


def use_a_service(command: list[str], home: Path) -> None:
    """Starts a service, pins, asks, and stops it in order."""
    serve = [sys.executable, "-m", "pinfill_service.cli", "serve", "--port", "0", "--model", str(LLAMA)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*command, *serve, "--exit-with-parent"], env=environment(home), stdin=pipe, stdout=pipe, text=True
    ) as service:
        try:
            assert service.stdin is not None and service.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", next(line for line in service.stdout if "http://" in line))
            assert found is not None
            with httpx.Client(
                base_url=found[0], headers={"x-api-key": KEY}, trust_env=False, timeout=LIMIT_SECONDS
            ) as http:
                pin = {"name": "rubric", "text": "Rate essays from 1 to 5. " * 20}
                assert http.post("/pinfill/v1/pins", json=pin).is_success
                body = {"prompt": "Rate essays", "max_tokens": 4}
                assert http.post("/v1/completions", json=body).is_success
            service.stdin.close()
            assert service.wait(LIMIT_SECONDS) == 0
        finally:
            service.kill()


def test_nothing_is_written_but_into_its_own_folder(tmp_path: Path) -> None:
    use_a_service([], tmp_path)

    assert (tmp_path / "pinfill" / "ledger.sqlite3").exists()
    assert [path for path in tmp_path.iterdir() if path.name != "pinfill"] == []


def addresses_in(calls: Path) -> set[str]:
    """The addresses in strace's listing."""
    return {first or second for first, second in _ADDRESS.findall(calls.read_text(encoding="utf-8"))}


def beyond_loopback(addresses: set[str]) -> set[str]:
    return {address for address in addresses if not ipaddress.ip_address(address).is_loopback}


@needs_strace
def test_no_packet_goes_beyond_loopback(tmp_path: Path) -> None:
    home, calls = tmp_path / "home", tmp_path / "calls"
    home.mkdir()
    use_a_service([*STRACE, str(calls)], home)

    assert beyond_loopback(addresses_in(calls)) == set()


WINDOW = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from pinfill_app.application import PinfillApplication
from pinfill_app.updates import Pace, Updates
qt = QApplication([])
at_once = lambda settings: Updates(settings, pace=Pace((0, 0), (1, 1)))
application = PinfillApplication(Path(sys.argv[1]), make_updates=at_once)
application.store.status_changed.connect(application.quit)
application.start(minimised=False)
sys.exit(qt.exec())
"""


@needs_strace
def test_the_window_that_nobody_has_set_up_asks_nobody_for_a_newer_version(tmp_path: Path) -> None:
    pytest.importorskip("PySide6", reason="the desktop extra is not installed")
    home, calls = tmp_path / "home", tmp_path / "calls"
    (home / "pinfill").mkdir(parents=True, mode=0o700)
    own = {"QT_QPA_PLATFORM": "offscreen", "PINFILL_MODEL": str(LLAMA), "PINFILL_PORT": "0"}
    command = [*STRACE, str(calls), sys.executable, "-c", WINDOW, str(home / "pinfill")]
    subprocess.run(command, env=environment(home) | own, check=True, timeout=LIMIT_SECONDS)

    addresses = addresses_in(calls)
    assert addresses and beyond_loopback(addresses) == set()

"""The packages as people get them: built, installed on this very machine, used, upgraded and removed.

They change the machine and take minutes, so they run only when PINFILL_TEST_PACKAGES is set, and the .deb only as root.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from pinfill_service import __version__
from tests.support.built_packages import build, the_deb
from tests.support.models import LLAMA

LIMIT_SECONDS = 120
LIBRARY = Path("/usr/lib/pinfill")

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PINFILL_TEST_PACKAGES"), reason="PINFILL_TEST_PACKAGES is not set"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="packages for Linux"),
]
debian = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0 or shutil.which("apt-get") is None, reason="needs root, and apt-get"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """.deb and tar.gz of this checkout."""
    return build(tmp_path_factory.mktemp("built"), "--deb", "--tar")


@dataclass(frozen=True, slots=True)
class Pinfill:
    """An installed `pinfill`, and a user's folder for it."""

    program: Path
    home: Path
    port: int

    def environment(self) -> dict[str, str]:
        """Nothing of this test's own Python."""
        own = {"PINFILL_HOME": str(self.home), "PINFILL_PORT": str(self.port), "PINFILL_API_KEY": "a-key-for-tests"}
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.home.parents[2]), "LANG": "C.UTF-8", **own}

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.program, *arguments], cwd="/", env=self.environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Its address, once it answers. It is told to stop, and stops in order."""
        url = f"http://127.0.0.1:{self.port}"
        command = [self.program, "serve", "--model", str(LLAMA)]
        with subprocess.Popen(command, cwd="/", env=self.environment(), stdout=subprocess.DEVNULL) as process:
            try:
                wait_for(lambda: process.poll() is not None or answers(url))
                assert process.poll() is None
                yield url
                process.terminate()
                assert process.wait(LIMIT_SECONDS) == 0
            finally:
                process.kill()


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/livez", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def wait_for(condition: object) -> None:
    assert callable(condition)
    end = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def states(pinfill: Pinfill) -> dict[str, str]:
    return {pin["name"]: pin["state"] for pin in json.loads(pinfill.run("pins", "--json"))["pins"]}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def apt(*arguments: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        ["apt-get", "-o", "DPkg::Lock::Timeout=120", "-y", *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_same_sources_give_the_same_packages(built: Path, tmp_path: Path) -> None:
    again = build(tmp_path, "--deb", "--tar")

    assert {path.name: digest(path) for path in again.iterdir()} == {
        path.name: digest(path) for path in built.iterdir()
    }


@pytest.mark.skipif(shutil.which("lintian") is None, reason="lintian is not on this machine")
def test_lintian_finds_no_error(built: Path) -> None:
    command = ["lintian", "--allow-root", "--no-tag-display-limit", "--fail-on=error", str(the_deb(built))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert [line for line in done.stdout.splitlines() if line.startswith("E:")] == []
    assert done.returncode == 0


@debian
def test_installed_used_upgraded_removed_and_installed_again(
    built: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One story, because every step needs the one before. A pin survives all of it."""
    before = build(tmp_path_factory.mktemp("before"), "--deb", "--version", "0.0.9")
    pinfill = Pinfill(Path("/usr/bin/pinfill"), tmp_path / ".local" / "share" / "pinfill", free_port())
    try:
        apt("install", str(the_deb(before)))
        assert pinfill.run("--version") == "pinfill 0.0.9\n"
        assert list(LIBRARY.rglob("*.pyc"))
        verify_unit(tmp_path)
        with pinfill.serving():
            pinfill.run("pin", "--text", "A rubric that is long enough. " * 20, "--name", "rubric")
            assert states(pinfill) == {"rubric": "warm"}

        apt("install", str(the_deb(built)))
        assert pinfill.run("--version") == f"pinfill {__version__}\n"
        with pinfill.serving():
            wait_for(lambda: states(pinfill) == {"rubric": "warm"})

        apt("remove", "pinfill")
        assert not LIBRARY.exists() and not pinfill.program.exists()
        assert (pinfill.home / "ledger.sqlite3").exists()
        apt("install", str(the_deb(built)))
        apt("purge", "pinfill")
        assert "pinfill" not in subprocess.run(["dpkg", "-l"], capture_output=True, text=True, check=True).stdout
        assert not LIBRARY.exists()

        apt("install", str(the_deb(built)))
        with pinfill.serving():
            wait_for(lambda: states(pinfill) == {"rubric": "warm"})
        check_desktop(pinfill)
        check_application(pinfill)
        pinfill.run("uninstall-state", "--yes")
        assert not pinfill.home.exists()
    finally:
        subprocess.run(["dpkg", "--purge", "pinfill"], stdout=subprocess.DEVNULL, check=False)


def verify_unit(folder: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        return
    unit = "/usr/lib/systemd/user/pinfill.service"
    command = ["systemd-analyze", "--user", "verify", unit]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


IMPORT_ALL = """
import importlib, pkgutil, pinfill_app, pinfill_service, pyqtgraph
from PySide6.QtWidgets import QApplication
for package in (pinfill_service, pinfill_app):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
print(QApplication([]).platformName())
"""


def check_desktop(pinfill: Pinfill) -> None:
    """Every module finds what it imports, and Qt draws."""
    environment = {**pinfill.environment(), "QT_QPA_PLATFORM": "offscreen"}
    command = [LIBRARY / "bin" / "python3", "-I", "-B", "-W", "ignore", "-c", IMPORT_ALL]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "offscreen\n"), done.stderr


def check_application(pinfill: Pinfill) -> None:
    """It starts a service with its own Python, and ends it when it is told to stop."""
    url = f"http://127.0.0.1:{pinfill.port}"
    environment = {**pinfill.environment(), "QT_QPA_PLATFORM": "offscreen", "PINFILL_MODEL": str(LLAMA)}
    command = [pinfill.program, "app", "--minimised"]
    with subprocess.Popen(command, cwd="/", env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: process.poll() is not None or answers(url))
            assert process.poll() is None
            assert states(pinfill) == {"rubric": "warm"}
            process.terminate()
            process.wait(LIMIT_SECONDS)
            wait_for(lambda: not answers(url))
        finally:
            process.kill()


def test_any_user_installs_the_archive_and_takes_it_away(built: Path, tmp_path: Path) -> None:
    """Into a home whose name has what shells and desktop files trip over."""
    home = tmp_path / "a home & more"
    home.mkdir()
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="tar")
    unpacked = tmp_path / archive.name.removesuffix(".tar.gz")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "PYTHON": python_for_users()}
    pinfill = Pinfill(home / ".local" / "bin" / "pinfill", home / ".local" / "share" / "pinfill", free_port())

    for _ in range(2):  # the second time over the first
        subprocess.run([unpacked / "install.sh"], env=environment, capture_output=True, check=True)
    assert pinfill.run("--version") == f"pinfill {__version__}\n"
    with pinfill.serving():
        pinfill.run("pin", "--text", "A rubric that is long enough. " * 20, "--name", "rubric")
        assert states(pinfill) == {"rubric": "warm"}
    desktop = home / ".local" / "share" / "applications" / "pinfill.desktop"
    assert f'Exec="{pinfill.program}" app\n' in desktop.read_text(encoding="utf-8")

    shown = {**pinfill.environment(), "QT_QPA_PLATFORM": "offscreen", "PINFILL_MODEL": str(LLAMA)}
    with subprocess.Popen([pinfill.program, "app", "--minimised"], cwd="/", env=shown) as application:
        try:
            wait_for(lambda: application.poll() is not None or answers(f"http://127.0.0.1:{pinfill.port}"))
            environment["PINFILL_HOME"] = str(pinfill.home)
            subprocess.run([unpacked / "uninstall.sh"], env=environment, capture_output=True, check=True)
            assert application.wait(LIMIT_SECONDS) == 0
        finally:
            application.kill()
    assert [path for path in home.rglob("*") if path.is_file() and pinfill.home not in path.parents] == []
    assert (pinfill.home / "ledger.sqlite3").exists()


def python_for_users() -> str:
    return next(path for path in ("/usr/bin/python3", sys.executable) if Path(path).exists())

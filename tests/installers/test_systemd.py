"""The .deb under a real user manager: in a Debian 12 that boots with systemd, with a user who is logged in.

It needs root, a mirror of Debian and minutes, so it runs only when PINFILL_TEST_SYSTEMD is set.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from installers.packages.elf import BASE
from installers.packages.linux import qt_packages
from pinfill_service import __version__
from tests.support.booted_debian import PROGRAMS, USER, BootedDebian, booted, make_debian
from tests.support.built_packages import build, the_deb
from tests.support.models import LLAMA

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PINFILL_TEST_SYSTEMD"), reason="PINFILL_TEST_SYSTEMD is not set"),
    pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(any(shutil.which(name) is None for name in PROGRAMS), reason=f"needs {', '.join(PROGRAMS)}"),
]

UNIT = "systemctl --user show pinfill --value -p"
APPLICATION = "ls $XDG_RUNTIME_DIR | grep -c pinfill- || true"  # it listens there
OWN_UNIT = ".config/systemd/user/pinfill.service.d"
# What the unit takes away; outside of it the same user may do each.
PROBE = """
import ctypes, os, pathlib, socket

def is_denied(act):
    try:
        return act() == -1
    except OSError:
        return True

libc, file = ctypes.CDLL(None), pathlib.Path.home() / "probe"
file.touch()
print(oct(file.stat().st_mode), *(is_denied(act) for act in (
    lambda: libc.unshare(0x10000000),  # a user namespace
    lambda: libc.personality(0x8),
    lambda: libc.ptrace(0, 0, 0, 0),
    lambda: socket.socket(socket.AF_VSOCK),
    lambda: os.chmod(file, 0o4755),
)), is_denied(lambda: socket.socket().fileno()))
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An older version of this checkout's .deb, and its own."""
    older = build(tmp_path_factory.mktemp("older"), "--deb", "--version", "0.0.9")
    return the_deb(older), the_deb(build(tmp_path_factory.mktemp("own"), "--deb"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("debian") / "root"
    make_debian(folder, (*BASE[1:], *qt_packages()))
    return folder


@pytest.fixture
def machine(root: Path, packages: tuple[Path, Path], tmp_path: Path) -> Iterator[BootedDebian]:
    """With the older version installed, and a model, which comes with each test like the state folder."""
    with booted(root) as debian:
        debian.install(packages[0])
        model = debian.give(LLAMA, "model")
        settings = tmp_path / "settings.toml"
        settings.write_text(f'model = "{model}"\n', encoding="utf-8")
        debian.as_user("mkdir -p -m 700 .local/share/pinfill")
        debian.give(settings, ".local/share/pinfill/settings.toml")
        yield debian
        debian.as_root("dpkg", "--purge", "pinfill")
        debian.as_root("find", f"/home/{USER}", "-mindepth", "1", "-delete")


def pin(machine: BootedDebian) -> None:
    machine.as_user(f"pinfill pin --text '{'A rubric that is long enough. ' * 20}' --name rubric")


def states(machine: BootedDebian) -> dict[str, str]:
    return {pin["name"]: pin["state"] for pin in json.loads(machine.as_user("pinfill pins --json"))["pins"]}


def version(machine: BootedDebian) -> str:
    """Of the service that runs."""
    return str(json.loads(machine.as_user("pinfill status --json"))["version"])


def change_unit(machine: BootedDebian, folder: Path, lines: str) -> None:
    """As the user may, in a folder beside it."""
    machine.as_user(f"mkdir -p {OWN_UNIT}")
    (folder / "changed.conf").write_text(f"[Service]\n{lines}", encoding="utf-8")
    machine.give(folder / "changed.conf", f"{OWN_UNIT}/changed.conf")
    machine.as_user("systemctl --user daemon-reload")


def result(machine: BootedDebian, unit: str) -> dict[str, str]:
    shown = machine.as_user(f"systemctl --user show {unit} -p Result -p ExecMainStatus -p ActiveState")
    return dict(line.split("=") for line in shown.split())


def test_a_service_of_the_user_is_kept_alive_and_ends_in_order(machine: BootedDebian, tmp_path: Path) -> None:
    """Started, used, restarted, killed and hung: one story, because every step needs the one before."""
    machine.as_user("systemctl --user enable --now pinfill")
    pin(machine)
    machine.as_user("systemctl --user restart pinfill")
    assert states(machine) == {"rubric": "warm"}  # at once: ready is said when they are

    machine.as_user("systemctl --user kill --signal=KILL pinfill")
    machine.until(f"{UNIT} NRestarts", "1")
    machine.until(f"{UNIT} ActiveState", "active")

    change_unit(machine, tmp_path, "WatchdogSec=5s\n")
    machine.as_user("systemctl --user restart pinfill")
    machine.as_user("systemctl --user kill --signal=STOP pinfill")
    machine.until(f"{UNIT} NRestarts", "1")
    machine.until(f"{UNIT} ActiveState", "active")
    assert "Watchdog timeout" in machine.as_user("journalctl --user --unit=pinfill --output=cat")
    assert states(machine) == {"rubric": "warm"}

    machine.as_user("systemctl --user stop pinfill")
    assert result(machine, "pinfill") == {"Result": "success", "ExecMainStatus": "0", "ActiveState": "inactive"}
    lines = machine.as_user("journalctl --user --unit=pinfill --output=cat")
    assert "Traceback" not in lines and "ERROR" not in lines


def test_what_the_unit_gives_up_is_gone(machine: BootedDebian, tmp_path: Path) -> None:
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE, encoding="utf-8")
    program = machine.give(probe, "probe.py")
    change_unit(machine, tmp_path, f"Type=oneshot\nRestart=no\nExecStart=\nExecStart=/usr/bin/python3 {program}\n")

    machine.as_user("systemctl --user start pinfill")
    shown = machine.as_user("journalctl --user --unit=pinfill --output=cat --identifier=python3")
    assert shown == "0o100600 True True True True True False\n"


def test_an_upgrade_restarts_what_runs_and_a_removal_ends_it(
    machine: BootedDebian, packages: tuple[Path, Path]
) -> None:
    machine.as_user("systemctl --user start pinfill")
    pin(machine)
    assert version(machine) == "0.0.9"
    machine.install(packages[1])
    machine.until(f"{UNIT} ActiveState", "active")  # dpkg does not wait for it
    assert version(machine) == __version__
    assert states(machine) == {"rubric": "warm"}

    machine.as_user("systemctl --user stop pinfill")
    machine.as_root("dpkg", "--install", f"/root/{packages[1].name}")
    assert machine.as_user(f"{UNIT} ActiveState") == "inactive\n"

    machine.as_user("systemctl --user start pinfill")
    start = "systemd-run --user --quiet --unit=application --property=RemainAfterExit=yes"
    machine.as_user(f"{start} --setenv=QT_QPA_PLATFORM=offscreen pinfill app --minimised")
    machine.until(APPLICATION, "1")
    machine.as_root("apt-get", "remove", "-y", "pinfill")
    machine.until("systemctl --user show application --value -p SubState", "exited")
    assert result(machine, "application")["ExecMainStatus"] == "0"
    assert machine.as_user("pgrep -c -x pinfill || true") == "0\n"
    assert machine.as_user("ls .local/share/pinfill/ledger.sqlite3")


def test_the_application_leaves_a_service_of_the_user_running(machine: BootedDebian) -> None:
    """It starts with the session, as desktops do that leave it to systemd."""
    machine.as_user("systemctl --user start pinfill")
    before = machine.as_user(f"{UNIT} MainPID")
    turn_on = "from pinfill_app.autostart import autostart; autostart().turn_on()"
    machine.as_user(f"/usr/lib/pinfill/bin/python3 -I -c '{turn_on}'")
    machine.as_user("systemctl --user set-environment QT_QPA_PLATFORM=offscreen XDG_CURRENT_DESKTOP=GNOME")
    machine.as_user("systemctl --user daemon-reload && systemctl --user start app-pinfill@autostart.service")
    machine.until(APPLICATION, "1")
    machine.as_user("pinfill app --quit")

    unit = "app-pinfill@autostart.service"
    machine.until(f"systemctl --user show {unit} --value -p ActiveState", "inactive")
    assert result(machine, unit) == {"Result": "success", "ExecMainStatus": "0", "ActiveState": "inactive"}
    assert machine.as_user(f"{UNIT} MainPID") == before

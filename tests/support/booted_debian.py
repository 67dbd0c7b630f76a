"""A Debian 12 of its own, booted with systemd in a container, and a user in it who is logged in.

Debian's packages: mmdebstrap systemd-container. Root, and a mirror of Debian, are needed. Inside there is no network.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

PROGRAMS = ("mmdebstrap", "systemd-nspawn", "nsenter")
USER = "ann"
LIMIT_SECONDS = 300
_SYSTEM = ("systemd", "systemd-sysv", "dbus", "dbus-user-session", "libpam-systemd", "python3", "procps")
_ENVIRONMENT = ("PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8")


@dataclass(frozen=True, slots=True)
class BootedDebian:
    """`root` is its file system; `leader` the process that is its first."""

    root: Path
    leader: int

    def as_root(self, *command: str) -> str:
        """Its output, both streams. Raises AssertionError with it where the command fails."""
        return self._run((), command)

    def as_user(self, line: str) -> str:
        """The same of a line of shell in a log-in session of the user."""
        session = ("PAMName=login", f"User={USER}", f"WorkingDirectory=/home/{USER}")
        return self._run(session, ("sh", "-c", line))

    def until(self, line: str, expected: str) -> None:
        """Waits until the line, as the user, prints just this."""
        end, shown = time.monotonic() + LIMIT_SECONDS, self.as_user(line).strip()
        while shown != expected:
            assert time.monotonic() < end, f"{line}: {shown}"
            time.sleep(0.5)
            shown = self.as_user(line).strip()

    def install(self, package: Path) -> None:
        shutil.copyfile(package, self.root / "root" / package.name)
        self.as_root("apt-get", "install", "-y", "--no-install-recommends", f"/root/{package.name}")

    def give(self, source: Path, name: str) -> str:
        """Copies a file or folder into the user's home; returns where it is in there."""
        target = self.root / "home" / USER / name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
        self.as_root("chown", "-R", f"{USER}:{USER}", f"/home/{USER}/{name}")
        return f"/home/{USER}/{name}"

    def _run(self, properties: tuple[str, ...], command: tuple[str, ...]) -> str:
        """By its own systemd, so that it runs in the control group and the session it belongs to."""
        enter = ["nsenter", "--target", str(self.leader), "--all", "--", "env", "-i", *_ENVIRONMENT]
        start = ["systemd-run", "--quiet", "--pipe", "--wait", "--collect"]
        options = [f"--setenv={variable}" for variable in _ENVIRONMENT]
        options += [f"--property={each}" for each in properties]
        done = subprocess.run(
            [*enter, *start, *options, "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout


def make_debian(root: Path, packages: tuple[str, ...]) -> None:
    """Debian 12 with the packages, and the user, who has no password."""
    include = ",".join((*_SYSTEM, *packages))
    made = subprocess.run(
        ["mmdebstrap", "--variant=minbase", "--dpkgopt=force-unsafe-io", f"--include={include}", "bookworm", str(root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    subprocess.run(["chroot", root, "useradd", "--create-home", "--shell", "/bin/sh", USER], check=True)


@contextmanager
def booted(root: Path) -> Iterator[BootedDebian]:
    """Started, with the user's own systemd running as after a log-in; switched off at the end."""
    command = ["systemd-nspawn", "--quiet", "--boot", f"--directory={root}", "--machine=pinfill-test"]
    alone = ["--register=no", "--keep-unit", "--private-network", "--console=pipe"]
    null = subprocess.DEVNULL
    with subprocess.Popen([*command, *alone], stdin=null, stdout=null, stderr=null) as container:
        try:
            machine = BootedDebian(root, _leader(container))
            _wait_for(lambda: "running" in _state(machine), container)
            machine.as_root("loginctl", "enable-linger", USER)
            machine.until("systemctl --user is-system-running", "running")
            yield machine
        finally:
            container.terminate()  # it powers off
            try:
                container.wait(LIMIT_SECONDS)
            finally:
                container.kill()


def _leader(container: subprocess.Popen[bytes]) -> int:
    process = psutil.Process(container.pid)
    _wait_for(lambda: bool(process.children()), container)
    return process.children()[0].pid


def _state(machine: BootedDebian) -> str:
    try:
        return machine.as_root("systemctl", "is-system-running", "--wait")
    except AssertionError:  # its bus is not there yet
        return ""


def _wait_for(condition: Callable[[], bool], container: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert container.poll() is None and time.monotonic() < end
        time.sleep(0.2)

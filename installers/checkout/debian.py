"""Debian packages: Qt's libraries, and what Debian leaves out of Python."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterable, Sequence

from installers.checkout import base, venv

QT_PACKAGES = base.ROOT / "installers" / "locks" / "qt-debian.txt"


def missing_packages(wanted: Iterable[str]) -> list[str]:
    """The packages that dpkg does not hold as installed. `t64` is how Debian 13 renamed some libraries."""
    names = list(wanted)
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names, *(f"{name}t64" for name in names)]
    listing = base.run_quietly(query).stdout
    installed = {line.split()[0] for line in listing.splitlines() if line.endswith(" installed")}
    return [name for name in names if name not in installed and f"{name}t64" not in installed]


def may_use_sudo() -> bool:
    """True where sudo asks for no password."""
    if not shutil.which("sudo"):
        return False
    return base.run_quietly(["sudo", "-n", "true"]).returncode == 0


def apt_commands(packages: Sequence[str], prefix: Sequence[str] = ()) -> list[list[str]]:
    """The two apt-get commands that install the packages, each behind the prefix."""
    waiting = ["-o", "DPkg::Lock::Timeout=120"]
    install = ["apt-get", *waiting, "install", "-y", "--no-install-recommends", *packages]
    return [[*prefix, "apt-get", "update"], [*prefix, *install]]


def apt_line(packages: Sequence[str]) -> str:
    """What somebody without rights has to type, or to have typed by an administrator."""
    if shutil.which("sudo"):
        return " && ".join(" ".join(command) for command in apt_commands(packages, ["sudo"]))
    return "su -c '" + " && ".join(" ".join(command) for command in apt_commands(packages)) + "'"


def install_packages(packages: Sequence[str]) -> None:
    """Installs Debian packages as root or with sudo; raises SetupError with the line to type when neither works."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not root and not may_use_sudo():
        raise base.SetupError(
            f"An administrator is needed. Type this line, then the same command again:\n{apt_line(packages)}"
        )
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in apt_commands(packages, [] if root else ["sudo", "-n"]):
        done = base.run_quietly(command, env=environment)
        if done.returncode:
            raise base.SetupError(
                f"apt-get failed:\n{done.stdout}Mend that, then type this line:\n{apt_line(packages)}"
            )


def qt_packages() -> list[str]:
    lines = QT_PACKAGES.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def debian_packages() -> None:
    """Step 1: Qt's libraries, and Python's own venv support where Debian left it out."""
    needs_venv = not venv.venv_works() and not (
        importlib.util.find_spec("ensurepip") and importlib.util.find_spec("venv")
    )
    venv_package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    if not (shutil.which("dpkg-query") and shutil.which("apt-get")):
        if needs_venv:
            raise base.SetupError(
                "This Python has no venv and ensurepip. Install them, then type the same command again."
            )
        if sys.platform.startswith("linux"):
            base.step(1, "Not Debian: install what Qt needs yourself. By Debian's names: " + " ".join(qt_packages()))
        return
    if needs_venv and not sys.base_prefix.startswith("/usr"):
        raise base.SetupError(
            f"{sys.executable} has no ensurepip. Use Debian's own python3, or a Python that is complete."
        )
    missing = missing_packages([*qt_packages(), venv_package] if needs_venv else qt_packages())
    base.step(1, "Debian packages: " + (f"installing {' '.join(missing)}" if missing else "all there"))
    if missing:
        install_packages(missing)

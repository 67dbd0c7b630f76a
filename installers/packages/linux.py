"""What .deb and tar.gz have in common: /usr/lib/pinfill, and what a desktop wants to know of it.

    lib/pinfill/common            what is equal for all Pythons
    lib/pinfill/py311 py312 py313 what is not
    lib/pinfill/lib/python3.11/site-packages/pinfill.pth   names the two
    lib/pinfill/pyvenv.cfg bin/python3                     a virtual environment of the system's Python
    share/...                     icons, the desktop file, the man page

A virtual environment looks for libraries in the folder of the Python that runs it. So an upgrade of the distribution
from one supported Python to another changes nothing for Pinfill, and no Python has to be bundled and kept safe.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
from pathlib import Path

from installers.packages.elf import BASE, check_closure
from installers.packages.payload import COMMON, add_own_code, merge
from installers.packages.release import ROOT, Release, run
from installers.packages.wheels import LINUX, install

PYTHONS = {"py311": "3.11", "py312": "3.12", "py313": "3.13"}
SYSTEM_PYTHON = "/usr/bin/python3"
FILES = ROOT / "installers" / "linux"
RESOURCES = ROOT / "resources"
LIBRARY = "lib/pinfill"
PROGRAMS = ("pinfill", "compile.py")
_QT = ROOT / "installers" / "locks" / "qt-debian.txt"


def qt_packages() -> list[str]:
    """The Debian packages that Qt links to."""
    lines = _QT.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def build_tree(uv: str, tree: Path, release: Release) -> Path:
    """Makes `tree` what belongs under /usr or ~/.local, and returns the folder with the texts of licences beside it.

    Raises PackageError, also when a binary needs a library that is neither here nor depended on.
    """
    library, licences = tree / LIBRARY, tree.with_name("licences")
    with tempfile.TemporaryDirectory(dir=tree.parent) as folder:
        wheels = Path(folder)
        installed = {name: install(uv, wheels / name, LINUX, version) for name, version in PYTHONS.items()}
        merge(installed, library, licences)
    check_closure(library, [*BASE, *qt_packages()])
    add_own_code(library / COMMON, release)
    _add_environment(library)
    _add_share(tree / "share", library, release)
    return licences


def _add_environment(library: Path) -> None:
    (library / "bin").mkdir()
    (library / "bin" / "python3").symlink_to(SYSTEM_PYTHON)
    for name in PROGRAMS:
        shutil.copyfile(FILES / name, library / "bin" / name)
    home = os.path.dirname(SYSTEM_PYTHON)
    (library / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n", encoding="utf-8")
    for name, version in PYTHONS.items():
        packages = library / "lib" / f"python{version}" / "site-packages"
        packages.mkdir(parents=True)
        (packages / "pinfill.pth").write_text(f"../../../{COMMON}\n../../../{name}\n", encoding="utf-8")


def _add_share(share: Path, library: Path, release: Release) -> None:
    icons = share / "icons" / "hicolor" / "scalable" / "apps"
    for folder in (icons, share / "applications", share / "man" / "man1"):
        folder.mkdir(parents=True)
    shutil.copyfile(RESOURCES / "linux" / "pinfill.svg", icons / "pinfill.svg")
    shutil.copyfile(RESOURCES / "linux" / "pinfill.desktop", share / "applications" / "pinfill.desktop")
    (share / "man" / "man1" / "pinfill.1.gz").write_bytes(compressed(_man_page(library, release)))


def _man_page(library: Path, release: Release) -> str:
    own = f"py{sys.version_info[0]}{sys.version_info[1]}"
    script = Path(__file__).with_name("manpage.py")
    environment = {"SOURCE_DATE_EPOCH": str(release.epoch), "LC_ALL": "C.UTF-8", "HOME": str(library)}
    folders = [str(library / COMMON), str(library / own)]
    return run([sys.executable, "-I", "-B", str(script), *folders], env=environment)


def compressed(text: str) -> bytes:
    """As Debian wants documents: the best compression, without a name and a time."""
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)

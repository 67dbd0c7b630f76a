"""The Debian package, for Debian 12 and 13 and Ubuntu 24.04."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from email.utils import formatdate
from hashlib import md5
from pathlib import Path

from installers.packages.elf import BASE
from installers.packages.licences import copyright_file
from installers.packages.linux import FILES, LIBRARY, RESOURCES, compressed, qt_packages
from installers.packages.payload import COMMON
from installers.packages.release import PackageError, Release, homepage, normalise, run

MAINTAINER = "Pinfill contributors <contributors@pinfill.invalid>"
DOCUMENTS = "/usr/share/doc/pinfill"
_EXECUTABLE = (
    f"usr/{LIBRARY}/bin/pinfill",
    "usr/share/python3/runtime.d/pinfill.rtupdate",
    *(f"DEBIAN/{name}" for name in ("postinst", "prerm")),
)
_DESCRIPTION = """Description: local language model that keeps long prompt prefixes warm
 Pinfill runs a language model on this computer and never evaluates the same
 beginning of a prompt twice: rubrics, documents and the instructions of coding
 agents are read once, and every later request pays only for what is new.
 .
 The package holds the service, which speaks the APIs of OpenAI, Anthropic and
 Ollama on a loopback port, the command pinfill, and a tray application that
 shows what is cached, what was saved, and why something had to be read again.
"""


def build_deb(tree: Path, licences: Path, output: Path, release: Release) -> Path:
    """Wraps a tree of linux.build_tree, which is used up, and returns the package. Raises PackageError."""
    root = tree.with_name("deb")
    root.mkdir()
    tree.rename(root / "usr")
    _add_files(root, licences, release)
    _add_control(root, release)
    normalise(root, release.epoch, _EXECUTABLE)
    package = output / f"pinfill_{release.version}_amd64.deb"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(release.epoch)}
    # zstd: dpkg of Debian 12 reads it, and installs in a fifth of the time that xz takes.
    compression = ["-Zzstd", "-z1" if release.quick else "-z15"]
    run(["dpkg-deb", "--root-owner-group", *compression, "--build", str(root), str(package)], env=environment)
    return package


def _add_files(root: Path, licences: Path, release: Release) -> None:
    usr = root / "usr"
    library, documents = usr / LIBRARY, root / DOCUMENTS.lstrip("/")
    (usr / "bin").mkdir()
    (usr / "bin" / "pinfill").symlink_to(f"../{LIBRARY}/bin/pinfill")
    for source, target in (
        (RESOURCES / "linux" / "pinfill.metainfo.xml", usr / "share" / "metainfo"),
        (RESOURCES / "linux" / "pinfill.service", usr / "lib" / "systemd" / "user"),
        (FILES / "pinfill.rtupdate", usr / "share" / "python3" / "runtime.d"),
        (FILES / "lintian-overrides", usr / "share" / "lintian" / "overrides"),
    ):
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target / ("pinfill" if source.name == "lintian-overrides" else source.name))
    shutil.copytree(licences, documents / "licences")
    trees = sorted(path for path in library.iterdir() if path.name == COMMON or path.name.startswith("py3"))
    (documents / "copyright").write_text(copyright_file(trees, f"{DOCUMENTS}/licences"), encoding="utf-8")
    (documents / "changelog.gz").write_bytes(compressed(_changelog(release)))


def _changelog(release: Release) -> str:
    date = formatdate(release.epoch)
    return f"pinfill ({release.version}) stable; urgency=medium\n\n  * Release.\n\n -- {MAINTAINER}  {date}\n"


def _add_control(root: Path, release: Release) -> None:
    control = root / "DEBIAN"
    control.mkdir()
    for name in ("postinst", "prerm"):
        shutil.copyfile(FILES / name, control / name)
    files = [path for path in sorted((root / "usr").rglob("*")) if path.is_file() and not path.is_symlink()]
    sums = (f"{md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(root)}" for path in files)
    (control / "md5sums").write_text("\n".join(sums) + "\n", encoding="utf-8")
    size = sum({path.stat().st_ino: path.stat().st_size for path in files}.values())
    fields = {
        "Package": "pinfill",
        "Version": release.version,
        "Architecture": "amd64",
        "Maintainer": MAINTAINER,
        "Installed-Size": f"{-(-size // 1024)}",
        "Depends": ", ".join(_dependencies()),
        "Recommends": "ca-certificates",  # by which Qt knows who answers when it asks for a newer version
        "Section": "utils",
        "Priority": "optional",
        "Homepage": homepage(),
    }
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
    (control / "control").write_text(lines + _DESCRIPTION, encoding="utf-8")


def _dependencies() -> Iterator[str]:
    yield from ("python3 (>= 3.11)", "python3 (<< 3.14)", "libc6 (>= 2.34)")
    for name in (*BASE[1:], *qt_packages()):
        # Debian 13 and Ubuntu 24.04 renamed libraries whose time_t grew.
        yield f"{name} | {name}t64" if name.startswith("lib") and name in qt_packages() else name


def check_tools() -> None:
    """Raises PackageError when the package could not be wrapped in the end."""
    for tool in ("dpkg-deb", "readelf"):
        if shutil.which(tool) is None:
            raise PackageError(f"{tool} is missing. Type: sudo apt-get install dpkg binutils")

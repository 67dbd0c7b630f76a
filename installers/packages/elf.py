"""Which libraries the binaries of a tree need, and which Debian packages have those that are not in the tree."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from installers.packages.release import PackageError, run

# Names that do not follow Debian's rule.
_KNOWN = {
    "ld-linux-x86-64.so.2": "libc6",
    **dict.fromkeys((f"lib{name}.so.6" for name in ("c", "m")), "libc6"),
    **dict.fromkeys((f"lib{name}.so.2" for name in ("dl", "resolv")), "libc6"),
    **dict.fromkeys(("libpthread.so.0", "librt.so.1"), "libc6"),
    "libgcc_s.so.1": "libgcc-s1",
    "libz.so.1": "zlib1g",
    **dict.fromkeys(("libglib-2.0.so.0", "libgthread-2.0.so.0"), "libglib2.0-0"),
    **dict.fromkeys(("libbrotlidec.so.1", "libbrotlicommon.so.1"), "libbrotli1"),
}
BASE = ("libc6", "libgcc-s1", "libstdc++6", "libzstd1", "zlib1g")  # beside Qt's, which qt-debian.txt lists
_SONAME = re.compile(r"(?P<name>.+?)\.so\.(?P<version>\d+)")
_NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Needed:
    """A library that is not in the tree, and one of the files that link to it."""

    soname: str
    by: Path


def missing_libraries(tree: Path) -> list[Needed]:
    """What the binaries link to and the tree does not hold, each soname once. Raises PackageError without readelf."""
    binaries = [path for path in sorted(tree.rglob("*")) if path.is_file() and ".so" in path.name and _is_elf(path)]
    here = {path.name for path in binaries}
    outside: dict[str, Needed] = {}
    for path in binaries:
        for soname in _NEEDED.findall(run(["readelf", "-d", str(path)], env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})):
            if soname not in here:
                outside.setdefault(soname, Needed(soname, path))
    return [outside[name] for name in sorted(outside)]


def debian_package(soname: str) -> str:
    """The package of a library by Debian Policy 8.1: its name and the soname's number, with a dash behind a digit."""
    if soname in _KNOWN:
        return _KNOWN[soname]
    match = _SONAME.fullmatch(soname)
    if match is None:
        raise PackageError(f"No Debian package can be named for the library {soname}.")
    name = match["name"].lower().replace("_", "-")
    return f"{name}{'-' if name[-1].isdigit() else ''}{match['version']}"


def check_closure(tree: Path, packages: Iterable[str]) -> None:
    """Raises PackageError when a binary needs a library that is neither in the tree nor in one of the packages."""
    allowed = set(packages)
    for needed in missing_libraries(tree):
        package = debian_package(needed.soname)
        if package not in allowed:
            raise PackageError(
                f"{needed.by.relative_to(tree)} needs {needed.soname}, which is neither in the package nor in what it "
                f"depends on. Keep the library (keep.py), or add {package} to installers/locks/qt-debian.txt."
            )


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == _ELF

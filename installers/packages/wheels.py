"""The locked payload, installed for another platform than this one, and what each distribution brought."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from installers.packages.release import ROOT, run

LOCK = ROOT / "installers" / "locks" / "payload.txt"
LINUX = "x86_64-manylinux_2_36"  # Debian 12 has glibc 2.36, Ubuntu 24.04 2.39
WINDOWS = "x86_64-pc-windows-msvc"


@dataclass(frozen=True, slots=True)
class Distribution:
    """One installed wheel. `files` are relative to `folder`, without scripts and without what was left elsewhere."""

    name: str
    version: str
    folder: Path
    files: tuple[PurePosixPath, ...]

    @property
    def metadata(self) -> PurePosixPath:
        """The folder of its metadata."""
        return PurePosixPath(f"{self.name}-{self.version}.dist-info")


def install(uv: str, target: Path, platform: str, python: str) -> list[Distribution]:
    """Installs what the lock names for a platform and a Python, from wheels alone; runs nothing of theirs.

    Raises PackageError.
    """
    where = ["--target", str(target), "--python-platform", platform, "--python-version", python]
    sure = ["--only-binary", ":all:", "--require-hashes", "--no-deps"]
    run([uv, "pip", "install", "--quiet", *where, *sure, "-r", str(LOCK)])
    return sorted(_installed(target), key=lambda each: each.name)


def _installed(folder: Path) -> Iterator[Distribution]:
    for metadata in folder.glob("*.dist-info"):
        name, _, version = metadata.name.removesuffix(".dist-info").rpartition("-")
        with (metadata / "RECORD").open(encoding="utf-8", newline="") as record:
            files = sorted({PurePosixPath(row[0].replace("\\", "/")) for row in csv.reader(record) if row})
        yield Distribution(name, version, folder, tuple(path for path in files if _is_inside(path)))


def _is_inside(path: PurePosixPath) -> bool:
    return not path.is_absolute() and ".." not in path.parts and path.parts[0] not in ("bin", "Scripts", "share")

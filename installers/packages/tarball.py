"""The tar.gz that any user unpacks and installs without an administrator."""

from __future__ import annotations

import gzip
import shutil
import tarfile
from pathlib import Path

from installers.packages.licences import copyright_file
from installers.packages.linux import FILES, LIBRARY
from installers.packages.payload import COMMON
from installers.packages.release import Release, normalise

_SCRIPTS = ("install.sh", "uninstall.sh")
_EXECUTABLE = (*_SCRIPTS, f"{LIBRARY}/bin/pinfill")


def build_tarball(tree: Path, licences: Path, output: Path, release: Release) -> Path:
    """Wraps a tree of linux.build_tree, which is used up, and returns the archive."""
    name = f"pinfill-{release.version}-linux-x86_64"
    root = tree.with_name(name)
    tree.rename(root)
    for script in _SCRIPTS:
        shutil.copyfile(FILES / script, root / script)
    library = root / LIBRARY
    trees = sorted(path for path in library.iterdir() if path.name == COMMON or path.name.startswith("py3"))
    shutil.copytree(licences, library / "licences")
    (library / "licences" / "copyright").write_text(copyright_file(trees, "this folder"), encoding="utf-8")
    normalise(root, release.epoch, _EXECUTABLE)
    archive, level = output / f"{name}.tar.gz", 1 if release.quick else 9
    with (
        archive.open("wb") as file,
        gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=release.epoch, compresslevel=level) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in [root, *sorted(root.rglob("*"))]:
            tar.add(path, arcname=f"{name}/{path.relative_to(root)}" if path != root else name, recursive=False,
                    filter=_nobodys)  # fmt: skip
    return archive


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member

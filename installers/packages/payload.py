"""Wheels and our own code in one tree: once where that is right for every Python, else once for each."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath

from installers.packages.keep import is_licence, keeps
from installers.packages.release import ROOT, PackageError, Release, run, set_version
from installers.packages.wheels import Distribution

COMMON = "common"
_LICENCES = ROOT / "installers" / "licences"  # of wheels that bring no text
_LINKED_BYTES = 1 << 20  # from this size on, equal files are stored once
_OWN = {"service/pinfill_service": "pinfill_service", "app/pinfill_app": "pinfill_app"}
_OWN_RESOURCES = {"resources": "pinfill_service/resources"}


def merge(installed: Mapping[str, Sequence[Distribution]], tree: Path, licences: Path) -> None:
    """Copies what is kept of every distribution into `tree`, and the texts of licences into `licences`.

    `installed` is by folder name of a Python, such as "py311". What all of them have, without two files of one name
    that differ, goes to COMMON: extension modules carry the Python in their names. All else goes to the Pythons' own
    folders.
    """
    by_name: dict[str, dict[str, Distribution]] = defaultdict(dict)
    for python, distributions in installed.items():
        for each in distributions:
            by_name[each.name][python] = each
    for found in by_name.values():
        shared = len(found) == len(installed) and _agree(list(found.values()))
        for python, each in found.items():
            _copy(each, tree / (COMMON if shared else python), licences)
    _link_equal_files(tree)
    shutil.copytree(_LICENCES, licences, dirs_exist_ok=True)
    shutil.copyfile(ROOT / "LICENSE", licences / "Apache-2.0.txt")


def _agree(several: Sequence[Distribution]) -> bool:
    seen: dict[PurePosixPath, Path] = {}
    for each in several:
        for path in filter(keeps, each.files):
            here = each.folder / path
            if not filecmp.cmp(seen.setdefault(path, here), here, shallow=False):
                return False
    return True


def _copy(distribution: Distribution, target: Path, licences: Path) -> None:
    texts = licences / f"{distribution.name}-{distribution.version}"
    for path in filter(keeps, distribution.files):
        if is_licence(path):
            inside = path.relative_to(distribution.metadata) if path.parts[0] == distribution.metadata.name else path
            destination = texts / PurePosixPath(*(part for part in inside.parts if part != "licenses"))
        else:
            destination = target / path
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(distribution.folder / path, destination)


def _link_equal_files(tree: Path) -> None:
    """Large files that are equal, such as the linear algebra of two Pythons, become one on disk and in archives."""
    first: dict[str, Path] = {}
    for path in sorted(tree.rglob("*")):
        if path.is_file() and path.stat().st_size >= _LINKED_BYTES:
            same = first.setdefault(sha256(path.read_bytes()).hexdigest(), path)
            if same is not path:
                path.unlink()
                os.link(same, path)


def add_own_code(target: Path, release: Release) -> None:
    """Copies the two packages and the resources, as git has them: nothing that lies about in a checkout comes along."""
    for source, name in {**_OWN, **_OWN_RESOURCES}.items():
        for path in _tracked(source):
            destination = target / name / path.relative_to(ROOT / source)
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, destination)
    set_version(target, release.version)


def _tracked(folder: str) -> Iterable[Path]:
    listing = run(["git", "-C", str(ROOT), "ls-files", "-z", "--", folder])
    found = [ROOT / name for name in listing.split("\0") if name]
    if not found:
        raise PackageError(f"git knows nothing of {folder}. Build from a checkout.")
    return [path for path in found if path.is_file()]

"""python -m installers.packages: what `installers/dev.py package` runs."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from installers.checkout.base import SetupError
from installers.checkout.locks import find_uv
from installers.packages import deb, linux, tarball, windows
from installers.packages.release import ROOT, PackageError, Release, check_space, release, run

BUILD_GIB = 4


def build(arguments: argparse.Namespace) -> list[Path]:
    """Builds what was asked for, all three when nothing was; returns the packages. Raises PackageError."""
    made, output = release(arguments.version, quick=arguments.quick), Path(arguments.output).resolve()
    wanted = {kind for kind in ("deb", "tar", "windows") if getattr(arguments, kind)} or {"deb", "tar", "windows"}
    output.mkdir(parents=True, exist_ok=True)
    check_space(output, BUILD_GIB)
    if "deb" in wanted:
        deb.check_tools()
    uv = find_uv()
    with tempfile.TemporaryDirectory(prefix=".build-", dir=output) as folder:
        work = Path(folder)
        packages = [*_linux(wanted & {"deb", "tar"}, uv, work, output, made)]
        if "windows" in wanted:
            runtime = Path(arguments.runtime).resolve() if arguments.runtime else None
            packages.append(windows.build_setup(uv, work, output, made, runtime, arguments.runtime_sha256))
    return packages


def _linux(wanted: set[str], uv: str, work: Path, output: Path, made: Release) -> list[Path]:
    if not wanted:
        return []
    tree = work / "tree"
    tree.mkdir()
    _say("the payload for Linux")
    licences = linux.build_tree(uv, tree, made)
    packages = []
    if "tar" in wanted:
        _say("tar.gz")
        copy = work / "copy" / "tree"
        # A wrapped tree is used up. Files that are stored once stay so: cp -a keeps their links, shutil would not.
        copy.parent.mkdir()
        run(["cp", "-a", str(tree), str(copy)])
        packages.append(tarball.build_tarball(copy, licences, output, made))
        shutil.rmtree(copy.parent)
    if "deb" in wanted:
        _say(".deb")
        packages.append(deb.build_deb(tree, licences, output, made))
    return packages


def _say(what: str) -> None:
    print(f"Building {what}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 0 done, 1 something is missing."""
    parser = argparse.ArgumentParser(
        prog="installers/dev.py package",
        description="Builds .deb, tar.gz and Setup.exe from installers/locks/payload.txt; without a kind, all three.",
    )
    parser.add_argument("--deb", action="store_true", help="the Debian package")
    parser.add_argument("--tar", action="store_true", help="the tar.gz for other distributions")
    parser.add_argument("--windows", action="store_true", help="the Setup.exe (needs makensis, Debian package nsis)")
    parser.add_argument("--runtime", metavar="ZIP", help="python.org's embeddable CPython 3.13 for amd64")
    parser.add_argument("--runtime-sha256", metavar="HEX", help="what that file must hash to")
    parser.add_argument("--output", metavar="DIR", default=str(ROOT / "dist"), help="default: dist")
    parser.add_argument("--version", help="another version than the code's own")
    parser.add_argument("--quick", action="store_true", help="compress little, for trying a package out")
    try:
        for package in build(parser.parse_args(arguments)):
            print(f"{package} ({package.stat().st_size / (1 << 20):,.0f} MiB)")
    except (PackageError, SetupError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

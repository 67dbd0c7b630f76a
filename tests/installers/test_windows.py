"""Setup.exe, as far as Linux can tell.

Wine 8 runs the installer, the installed python.exe, its standard library and pure Python. It cannot run numpy, pydantic
or PySide6, nor list processes: the service, the application and closing it before an upgrade are unverified on Windows.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest

from installers.checkout.locks import find_uv
from installers.packages import windows
from installers.packages.release import Release, normalise

ROOT = Path(__file__).resolve().parents[2]
MADE = Release("1.2.3", 1_700_000_000, quick=True)
LIMIT_SECONDS = 120
WAITS = "import sys; print(flush=True); sys.stdin.read()"

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Setup.exe is built on Linux")
nsis = pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not on this machine")
heavy = pytest.mark.skipif(not os.environ.get("PINFILL_TEST_PACKAGES"), reason="PINFILL_TEST_PACKAGES is not set")

# What Windows 10 1903 and later bring; icuuc.dll is the youngest of them.
SYSTEM = (
    *("advapi32", "authz", "bcrypt", "bcryptprimitives", "combase", "comdlg32", "crypt32", "d3d11", "d3d12", "d3d9"),
    *("d3dcompiler_47", "dbghelp", "dnsapi", "dwmapi", "dwrite", "dxgi", "gdi32", "icuuc", "imm32", "iphlpapi"),
    *("kernel32", "mpr", "mscms", "msvcrt", "ncrypt", "netapi32", "ntdll", "ole32", "oleaut32", "pdh", "powrprof"),
    *("propsys", "psapi", "rpcrt4", "secur32", "setupapi", "shell32", "shlwapi", "uiautomationcore", "user32"),
    *("userenv", "uxtheme", "version", "winhttp", "winmm", "ws2_32", "wtsapi32"),
)


# Setup from a folder with next to nothing


def small_folder(folder: Path) -> Path:
    folder.mkdir()
    for name in ("python.exe", "pythonw.exe", "lib/x.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"MZ")
    for file in ("running.py", "pinfill.py", "pinfill.cmd"):
        shutil.copyfile(windows.FILES / file, folder / file)
    shutil.copyfile(ROOT / "resources" / "windows" / "pinfill.ico", folder / "pinfill.ico")
    normalise(folder, MADE.epoch)
    return folder


@linux
@nsis
@pytest.mark.parametrize("quick", [True, False])
def test_the_same_folder_gives_the_same_setup(tmp_path: Path, quick: bool) -> None:
    made = Release(MADE.version, MADE.epoch, quick)
    setups = [tmp_path / "one.exe", tmp_path / "two.exe"]
    for number, setup in enumerate(setups):
        windows._make(small_folder(tmp_path / f"folder-{number}"), setup, made, "1.2.3-preview")

    assert setups[0].read_bytes() == setups[1].read_bytes()
    assert "1.2.3-preview".encode("utf-16-le") in setups[0].read_bytes()


def test_setup_says_everything_in_every_language() -> None:
    text = (windows.FILES / "setup.nsi").read_text(encoding="utf-8").replace("\\\n", " ")
    words = re.findall(r'^!insertmacro Words (\w+)((?:\s+"[^"]+")+)$', text, re.MULTILINE)
    assert {name: len(re.findall(r'"[^"]+"', texts)) for name, texts in words} == {name: 3 for name, _ in words}
    shown = re.findall(
        r'^ *(?:MessageBox|Abort|Section /o|!define MUI_FINISHPAGE_RUN_TEXT)\b.*"(.*?)"', text, re.MULTILINE
    )
    assert {f"$({name})" for name, _ in words} == {*shown}


# Which programs run from a folder


@pytest.fixture
def running(tmp_path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("running", windows.FILES / "running.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts a Python that lies in a folder of this test, with arguments that the application would have."""
    program = tmp_path / "installed" / "python"
    program.parent.mkdir()
    shutil.copy2(os.path.realpath(sys.executable), program)
    started: list[subprocess.Popen[bytes]] = []
    environment = {**os.environ, "PYTHONHOME": sys.base_prefix}

    def begin(*arguments: str, code: str = WAITS) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        process = subprocess.Popen([program, "-c", code, *arguments], env=environment, stdin=pipe, stdout=pipe)
        assert process.stdout is not None and process.stdout.readline() in (b"\n", b"\r\n")
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate(timeout=LIMIT_SECONDS)


@linux
def test_programs_are_told_by_their_folder(
    running: ModuleType, start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    application, service = start("pinfill_app"), start("serve")

    assert {process.pid for process in running.running(tmp_path / "installed")} == {application.pid, service.pid}
    assert running.running(tmp_path / "install") == []
    assert running.running(tmp_path / "installed" / "elsewhere") == []


@linux
@pytest.mark.parametrize(("arguments", "was_there"), [(("pinfill_app", "serve"), True), (("serve",), False)])
def test_stopping_ends_all_and_says_whether_the_application_ran(
    running: ModuleType,
    start: Callable[..., subprocess.Popen[bytes]],
    tmp_path: Path,
    arguments: tuple[str, ...],
    was_there: bool,
) -> None:
    processes = [start(argument) for argument in arguments]

    assert running.stop(tmp_path / "installed", seconds=1) is was_there
    assert all(process.wait(LIMIT_SECONDS) is not None for process in processes)
    assert running.running(tmp_path / "installed") == []


QUITS = "import pathlib, sys; pathlib.Path(__file__).with_name('asked').write_text(' '.join(sys.argv[1:]))"
HANGS = f"{QUITS}; import threading; threading.Event().wait()"
OBEYS = """
import pathlib, sys, time
print(flush=True)
while not (asked := pathlib.Path(sys.executable).with_name("asked")).exists():
    time.sleep(0.05)
asked.with_name("in order").touch()
"""


@linux
@pytest.mark.parametrize(("command", "code", "in_order"), [(QUITS, OBEYS, True), (HANGS, WAITS, False)])
def test_the_application_is_asked_and_ended_only_when_it_does_not_quit(
    running: ModuleType,
    start: Callable[..., subprocess.Popen[bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    code: str,
    in_order: bool,
) -> None:
    folder = tmp_path / "installed"
    (folder / "pinfill.py").write_text(command, encoding="utf-8")
    monkeypatch.setattr(running, "EXIT_SECONDS", LIMIT_SECONDS if in_order else 0)
    start("pinfill_app", code=code)

    assert running.stop(folder, seconds=LIMIT_SECONDS if in_order else 1)
    assert (folder / "asked").read_text(encoding="utf-8") == "app --quit"
    assert (folder / "in order").exists() is in_order
    assert running.running(folder) == []


# The whole


@pytest.fixture(scope="module")
def payload(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """The folder that Setup installs, and the runtime that went into it."""
    work = tmp_path_factory.mktemp("windows")
    folder = work / "windows"
    folder.mkdir()
    data = windows._from_pypi(work)
    windows._unpack_runtime(data, folder)
    windows._add_payload(find_uv(), work, folder, MADE)
    normalise(folder, MADE.epoch)
    return folder, data


@heavy
@linux
def test_signed_files_are_as_they_were_signed(payload: tuple[Path, bytes]) -> None:
    """Nothing of the runtime was changed, so the digests of its signatures still hold."""
    folder, data = payload
    with zipfile.ZipFile(BytesIO(data)) as archive:
        signed = [info for info in archive.infolist() if info.filename.endswith((".exe", ".dll", ".pyd", ".cat"))]
        for info in signed:
            here = (folder / Path(info.filename).name).read_bytes()
            assert hashlib.sha256(here).digest() == hashlib.sha256(archive.read(info)).digest(), info.filename
    assert len(signed) > 25


@heavy
@linux
@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not on this machine")
def test_every_dll_that_is_imported_is_there_or_windows_own(payload: tuple[Path, bytes]) -> None:
    folder, _ = payload
    binaries = [path for path in folder.rglob("*") if path.suffix in (".dll", ".pyd", ".exe")]
    here = {path.name.lower() for path in binaries}
    imported: dict[str, str] = {}
    for path in binaries:
        shown = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
        imported |= {name.lower(): path.name for name in re.findall(r"DLL Name: (\S+)", shown)}
    windows_own = {f"{name}.dll" for name in SYSTEM}

    missing = {name: by for name, by in imported.items() if name not in here | windows_own}
    assert {name for name in missing if not name.startswith("api-ms-win-")} == set()
    assert "msvcp140.dll" in imported and (folder / "msvcp140.dll").exists()


class Wine:
    """A Windows of its own in a folder."""

    def __init__(self, prefix: Path) -> None:
        self.prefix = prefix
        self.installed = prefix / "drive_c" / "users" / self._user() / "AppData/Local/Programs/Pinfill"
        self.windows_path = f"C:\\users\\{self._user()}\\AppData\\Local\\Programs\\Pinfill"

    @staticmethod
    def _user() -> str:
        return os.environ.get("USER") or "root"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "WINEPREFIX": str(self.prefix), "WINEDEBUG": "-all", "USER": self._user()}
        command = ["xvfb-run", "-a", "wine", *arguments]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", timeout=300, check=False
        )


@heavy
@linux
@nsis
@pytest.mark.skipif(not (shutil.which("wine") and shutil.which("xvfb-run")), reason="needs wine and xvfb-run")
def test_in_wine_setup_installs_upgrades_and_uninstalls_silently(payload: tuple[Path, bytes], tmp_path: Path) -> None:
    setup = tmp_path / "pinfill-setup.exe"
    windows._make(payload[0], setup, MADE, "1.2.3-preview")
    wine = Wine(tmp_path / "wine")
    wine.run("wineboot", "-i")

    assert wine.run(str(setup), "/S").returncode == 0
    python = f"{wine.windows_path}\\python.exe"
    code = "import asyncio, ctypes, json, lzma, sqlite3, ssl, sys, uvicorn; print(*sys.path, sep='|')"
    shown = wine.run(python, "-c", code)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.strip().split("|") == [
        f"{wine.windows_path}\\python313.zip",
        wine.windows_path,
        f"{wine.windows_path}\\lib",
    ]
    shortcuts = {path.name for path in wine.prefix.rglob("*.lnk") if "Pinfill" in path.name}
    assert shortcuts == {"Pinfill.lnk", "Pinfill command line.lnk"}

    (wine.installed / "lib" / "of_an_older_version.py").touch()
    assert wine.run(str(setup), "/S").returncode == 0
    assert not (wine.installed / "lib" / "of_an_older_version.py").exists()

    wine.run(f"{wine.windows_path}\\uninstall.exe", "/S")
    end = time.monotonic() + LIMIT_SECONDS
    while wine.installed.exists():  # the uninstaller goes on as a copy of itself
        assert time.monotonic() < end, sorted(wine.installed.iterdir())
        time.sleep(0.5)
    assert [path for path in wine.prefix.rglob("*") if "pinfill" in path.name.lower()] == []

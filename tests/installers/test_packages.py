"""How packages are put together: what is kept, what is shared, what is refused, and that it comes out the same."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import pytest

from installers.packages import deb, elf, licences, linux, tarball, windows
from installers.packages.keep import is_licence, keeps
from installers.packages.payload import add_own_code, merge
from installers.packages.release import PackageError, Release, normalise, release
from installers.packages.wheels import Distribution, _installed
from installers.translations import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
MADE = Release("1.2.3", 1_700_000_000)
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
LINUX_ONLY = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="packages are built on Linux")


def needs(tool: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not on this machine")


def wheel(folder: Path, name: str, version: str, files: Mapping[str, bytes]) -> Distribution:
    """An installed distribution with metadata and a licence."""
    metadata = f"{name}-{version}.dist-info"
    about = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nLicense-Expression: MIT\n".encode()
    everything = {
        **files,
        f"{metadata}/METADATA": about,
        f"{metadata}/licenses/LICENSE": b"MIT",
        f"{metadata}/RECORD": b"",
    }
    record = "".join(f"{path},,\n" for path in everything)
    for path, data in {**everything, f"{metadata}/RECORD": record.encode()}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return next(each for each in _installed(folder) if each.name == name)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# What is kept


@pytest.mark.parametrize(
    "path",
    [
        "numpy/__init__.py",
        "numpy/testing/__init__.py",
        "numpy.libs/libscipy_openblas64_-1.so",
        "onnxruntime/capi/libonnxruntime.so.1.32.0",
        "certifi/cacert.pem",
        "keyring-25.dist-info/entry_points.txt",
        "keyring-25.dist-info/METADATA",
        "PySide6/QtGui.abi3.so",
        "PySide6/Qt/lib/libQt6Core.so.6",
        "PySide6/Qt/plugins/platforms/libqwayland.so",
        "PySide6/Qt/translations/qtbase_zh_CN.qm",
        "PySide6/plugins/platforms/qwindows.dll",
        "PySide6/msvcp140.dll",
    ],
)
def test_what_runs_is_kept(path: str) -> None:
    assert keeps(PurePosixPath(path))


@pytest.mark.parametrize(
    "path",
    [
        "numpy-2.dist-info/RECORD",
        "numpy-2.dist-info/INSTALLER",
        "numpy-2.dist-info/direct_url.json",
        "numpy-2.dist-info/sboms/bom.json",
        "numpy/tests/test_all.py",
        "numpy/__init__.pyi",
        "x/__pycache__/y.cpython-312.pyc",
        "onnx/backend/test/data/x.pb",
        "PySide6/Qt/lib/libQt6Quick.so.6",
        "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
        "PySide6/designer",
        "PySide6/QtQml.abi3.so",
        "PySide6/Qt/qml/a/QtGui.abi3.so",
    ],
)
def test_what_does_not_run_is_left_out(path: str) -> None:
    assert not keeps(PurePosixPath(path))


def test_licences_are_told_from_modules() -> None:
    texts = ("a-1.dist-info/licenses/LICENSE", "a-1.dist-info/LICENSE.txt", "onnxruntime/ThirdPartyNotices.txt")
    others = ("a-1.dist-info/METADATA", "a-1.dist-info/entry_points.txt", "a/license.py", "a/core.py")

    assert all(is_licence(PurePosixPath(path)) for path in texts)
    assert not any(is_licence(PurePosixPath(path)) for path in others)


# What is shared


def test_what_agrees_is_there_once_and_what_differs_for_each_python(tmp_path: Path) -> None:
    installed = {}
    for python in ("py311", "py312"):
        folder = tmp_path / python
        wheel(folder, "pure", "1", {"pure/__init__.py": b"x"})
        wheel(folder, "named", "1", {"named.py": b"x", f"named.{python}.so": python.encode()})
        wheel(folder, "differs", "1", {"differs/config.py": python.encode(), "differs/same.py": b"x"})
        if python == "py311":
            wheel(folder, "backport", "1", {"backport.py": b"x"})
        installed[python] = list(_installed(folder))

    merge(installed, tmp_path / "tree", tmp_path / "licences")

    found = contents(tmp_path / "tree")
    code = {path for path in found if "dist-info" not in path}
    assert code == {
        "common/pure/__init__.py",
        "common/named.py",
        "common/named.py311.so",
        "common/named.py312.so",
        "py311/differs/config.py",
        "py311/differs/same.py",
        "py312/differs/config.py",
        "py312/differs/same.py",
        "py311/backport.py",
    }
    assert found["py312/differs/config.py"] == b"py312"
    assert not any("licenses" in path or path.endswith("RECORD") for path in found)
    assert (tmp_path / "licences" / "pure-1" / "LICENSE").read_bytes() == b"MIT"
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in (tmp_path / "licences" / "LGPL-3.0.txt").read_text()


@LINUX_ONLY
def test_large_files_that_are_equal_are_stored_once(tmp_path: Path) -> None:
    installed = {}
    for python in ("py312", "py313"):
        files = {"math/config.py": python.encode(), "math.libs/blas.so": b"x" * (1 << 20), "math/small.py": b"y"}
        installed[python] = [wheel(tmp_path / python, "math", "1", files)]

    merge(installed, tmp_path / "tree", tmp_path / "licences")

    blas, small = (
        [(tmp_path / "tree" / python / name).stat().st_ino for python in installed]
        for name in ("math.libs/blas.so", "math/small.py")
    )
    assert len(set(blas)) == 1 and len(set(small)) == 2


# Twice the same


def small_tree(folder: Path) -> tuple[Path, Path]:
    """A tree as linux.build_tree makes it, with one library, and its licences."""
    tree = folder / "tree"
    wheel_folder = folder / "wheels"
    merge({name: [wheel(wheel_folder / name, "pure", "1", {"pure.py": b"x"})] for name in linux.PYTHONS},
          tree / linux.LIBRARY, folder / "licences")  # fmt: skip
    linux._add_environment(tree / linux.LIBRARY)
    (tree / "share" / "man").mkdir(parents=True)
    shutil.rmtree(wheel_folder)
    return tree, folder / "licences"


@LINUX_ONLY
@pytest.mark.parametrize("kind", ["deb", "tar"])
def test_the_same_tree_gives_the_same_bytes(tmp_path: Path, kind: str) -> None:
    if kind == "deb" and shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-deb is not on this machine")
    digests = []
    for number, mask in enumerate((0o022, 0o077)):
        folder = tmp_path / f"build-{number}"
        folder.mkdir()
        before = os.umask(mask)
        try:
            build = deb.build_deb if kind == "deb" else tarball.build_tarball
            package = build(*small_tree(folder), folder, MADE)
        finally:
            os.umask(before)
        digests.append(hashlib.sha256(package.read_bytes()).hexdigest())

    assert digests[0] == digests[1]


@LINUX_ONLY
@needs("dpkg-deb")
def test_a_deb_says_what_it_is(tmp_path: Path) -> None:
    package = deb.build_deb(*small_tree(tmp_path), tmp_path, MADE)
    fields = subprocess.run(["dpkg-deb", "--field", package], capture_output=True, text=True, check=True).stdout
    listing = subprocess.run(["dpkg-deb", "--contents", package], capture_output=True, text=True, check=True).stdout
    lines = {line.split()[5]: line.split()[:2] for line in listing.splitlines()}

    assert "Version: 1.2.3\n" in fields and "python3 (<< 3.14)" in fields
    assert "libglib2.0-0 | libglib2.0-0t64" in fields
    assert "Homepage: https://github.com/pinfill/pinfill\n" in fields
    assert {owner for _, owner in lines.values()} == {"root/root"}
    assert lines["./usr/lib/pinfill/bin/pinfill"][0] == "-rwxr-xr-x"
    assert lines["./usr/lib/pinfill/common/pure.py"][0] == "-rw-r--r--"
    assert lines["./usr/bin/pinfill"][0].startswith("l")


RECORDS = """#!/bin/sh
case "$*" in
list-units*) printf 'user@%s.service loaded active running User Manager for UID %s\\n' 1000 1000 1001 1001 ;;
*) echo "${0##*/} $*" >>"$RECORD" ;;
esac
exit 1
"""
AGAIN = [
    "systemctl --user --machine {}@ daemon-reload",
    "systemctl --user --machine {}@ --no-block try-restart pinfill.service",
]
GONE = [
    "systemd-run --user --machine {}@ --quiet --wait --collect /usr/bin/pinfill app --quit",
    "systemctl --user --machine {}@ stop pinfill.service",
]


@LINUX_ONLY
@pytest.mark.parametrize(
    ("script", "arguments", "asked"),
    [
        ("postinst", ("configure", ""), []),
        ("postinst", ("configure", "0.0.9"), AGAIN),
        ("postinst", ("abort-remove",), []),
        ("prerm", ("upgrade", "1.2.3"), []),
        ("prerm", ("remove",), GONE),
    ],
)
def test_the_deb_restarts_and_ends_what_users_run(
    tmp_path: Path, script: str, arguments: tuple[str, ...], asked: list[str]
) -> None:
    """Of every user who is logged in, whatever the manager of one of them answers."""
    library, record = tmp_path / "pinfill", tmp_path / "record"
    record.touch()
    (library / "__pycache__").mkdir(parents=True)
    for name in ("systemctl", "systemd-run"):
        (tmp_path / name).write_text(RECORDS, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    text = (linux.FILES / script).read_text(encoding="utf-8")
    text = text.replace("/usr/lib/pinfill", str(library)).replace("/run/systemd/system", str(tmp_path))
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "RECORD": str(record)}
    subprocess.run(["sh", "-c", text, script, *arguments], env=environment, check=True, capture_output=True)

    assert record.read_text(encoding="utf-8").splitlines() == [
        line.format(user) for user in ("1000", "1001") for line in asked
    ]
    assert (library / "__pycache__").exists() is (script == "postinst")


@LINUX_ONLY
def test_an_archive_belongs_to_nobody(tmp_path: Path) -> None:
    with tarfile.open(tarball.build_tarball(*small_tree(tmp_path), tmp_path, MADE)) as tar:
        members = tar.getmembers()

    assert {(member.uid, member.uname, member.mtime) for member in members} == {(0, "", MADE.epoch)}
    assert {member.name.split("/")[0] for member in members} == {"pinfill-1.2.3-linux-x86_64"}
    modes = {member.name.partition("/")[2]: member.mode for member in members}
    assert modes["install.sh"] == modes["lib/pinfill/bin/pinfill"] == 0o755
    assert modes["lib/pinfill/common/pure.py"] == 0o644


def test_normalising_leaves_what_links_point_to_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("x")
    outside.chmod(0o600)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(outside)

    normalise(tmp_path / "tree", MADE.epoch)

    assert outside.stat().st_mode & 0o777 == 0o600
    assert outside.stat().st_mtime != MADE.epoch


# What is refused


def test_a_release_has_a_plain_version_and_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert release("0.9.1rc1") == Release("0.9.1rc1", 1_700_000_000)
    for version in ("1.0; rm -rf /", "1.0-1", "1.0next", "v1", "../1"):
        with pytest.raises(PackageError, match="no version"):
            release(version)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(PackageError, match="SOURCE_DATE_EPOCH"):
        release()


def test_a_distribution_without_a_licence_is_not_shipped(tmp_path: Path) -> None:
    metadata = tmp_path / "x-1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Name: x\nVersion: 1\n")

    with pytest.raises(PackageError, match="x does not say what its licence is"):
        list(licences.bundled([tmp_path]))


def runtime(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, b"MZ")
    return data.getvalue()


def test_a_runtime_must_be_the_one_that_was_meant(tmp_path: Path) -> None:
    file = tmp_path / "python.zip"
    file.write_bytes(runtime("python.exe"))
    right = hashlib.sha256(file.read_bytes()).hexdigest()

    assert windows._given(file, right.upper()) == file.read_bytes()
    with pytest.raises(PackageError, match="--runtime-sha256"):
        windows._given(file, None)
    with pytest.raises(PackageError, match="hashes to"):
        windows._given(file, "0" * 64)


def test_a_runtime_that_is_none_is_refused_and_writes_nothing_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    with pytest.raises(PackageError, match="embeddable CPython"):
        windows._unpack_runtime(runtime("python.exe"), folder)
    with pytest.raises(PackageError, match="embeddable CPython"):
        windows._unpack_runtime(runtime("../../evil.exe", "x/y z.dll"), folder)
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} <= {"python.exe", "evil.exe"}
    assert not (tmp_path / "evil.exe").exists() and not (tmp_path.parent / "evil.exe").exists()


# Libraries


@LINUX_ONLY
@needs("dpkg-query")
def test_packages_of_libraries_are_named_as_debian_names_them() -> None:
    """Every library in the packages that Qt needs, against dpkg's own list of files."""
    checked = 0
    for package in [*elf.BASE, *linux.qt_packages()]:
        for name in (package, f"{package}t64"):
            listing = subprocess.run(["dpkg-query", "-L", name], capture_output=True, text=True, check=False)
            sonames = set(re.findall(r"/(lib[^/\s]+\.so\.\d+)$", listing.stdout, re.MULTILINE))
            known = {soname for soname in sonames if elf.debian_package(soname) == package}
            checked += len(known)
            if sonames:
                assert known, f"{name} has {sonames}"
    if not checked:
        pytest.skip("none of the packages is on this machine")


@LINUX_ONLY
@needs("readelf")
def test_a_library_that_nobody_brings_stops_the_build(tmp_path: Path) -> None:
    spec = pytest.importorskip("PySide6").__file__
    plugin = Path(str(spec)).parent / "Qt" / "plugins" / "platforms" / "libqoffscreen.so"
    shutil.copyfile(plugin, tmp_path / plugin.name)
    for name in ("libQt6Core.so.6", "libQt6Gui.so.6"):
        shutil.copyfile(plugin.parents[2] / "lib" / name, tmp_path / name)
    packages = [*elf.BASE, *linux.qt_packages()]

    with pytest.raises(PackageError, match=r"needs libQt6DBus\.so\.6"):
        elf.check_closure(tmp_path, [*packages, "libicudata73", "libicui18n-73", "libicuuc73"])
    without = [package for package in packages if package != "libx11-6"]
    with pytest.raises(PackageError, match=r"libX11\.so\.6.*add libx11-6"):
        elf.check_closure(tmp_path, [*without, "libicudata73", "libicui18n73", "libicuuc73", "libqt6dbus6"])


# Locks


def pins(name: str) -> dict[str, set[str]]:
    """Versions by distribution; some have one for each Python."""
    text = (ROOT / "installers" / "locks" / name).read_text(encoding="utf-8")
    assert "://" not in text
    found = re.findall(r"^([\w.-]+)==([^\s;]+)[^\\\n]*\\\n    --hash=sha256:", text, re.MULTILINE)
    assert len(found) == len(re.findall(r"^\w", text, re.MULTILINE))
    return {each: {version for other, version in found if other == each} for each, _ in found}


def test_packages_hold_the_versions_that_are_tested() -> None:
    payload, tested = pins("payload.txt"), pins("dev.txt")

    assert payload.pop("pip")  # fetches models that come as wheels
    assert payload.items() <= tested.items()
    assert {"onnxruntime", "pyside6-essentials", "numpy", "pywin32-ctypes", "secretstorage"} <= payload.keys()
    assert not {"pytest", "mypy", "hatchling"} & payload.keys()


def test_the_oldest_lock_holds_the_oldest_versions_that_are_supported() -> None:
    oldest = pins("oldest.txt")
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert oldest["numpy"] == {"1.26.4"} and "numpy>=1.26.4" in asked["dependencies"]
    assert all(version.startswith("1.23.") for version in oldest["onnxruntime"])
    assert asked["optional-dependencies"]["cpu"] == ["onnxruntime>=1.23"]


# What systems read


@LINUX_ONLY
def test_the_man_page_has_every_command_and_is_sound() -> None:
    from typer.main import get_command

    from pinfill_service.cli import app

    script = ROOT / "installers" / "packages" / "manpage.py"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "PYTHONPATH": str(ROOT / "app")}
    done = subprocess.run(
        [sys.executable, script, ROOT / "service"], env=environment, capture_output=True, text=True, check=True
    )

    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        names = [f"{name} {inner}" for inner in getattr(command, "commands", [])] or [name]
        for each in names:
            assert f'.SS "pinfill {each}'.replace("-", "\\-") in done.stdout
    assert '.TH PINFILL 1 "2023-11-14"' in done.stdout
    if shutil.which("groff"):
        warnings = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-z"], input=done.stdout, capture_output=True, text=True, check=True
        )
        assert warnings.stderr == ""


@needs("desktop-file-validate")
def test_the_desktop_file_is_valid() -> None:
    file = ROOT / "resources" / "linux" / "pinfill.desktop"
    done = subprocess.run(["desktop-file-validate", file], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


@needs("appstreamcli")
def test_the_appstream_data_is_valid() -> None:
    file = ROOT / "resources" / "linux" / "pinfill.metainfo.xml"
    done = subprocess.run(["appstreamcli", "validate", "--no-net", file], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


def test_the_menu_and_the_software_centre_speak_every_language() -> None:
    lines = (ROOT / "resources" / "linux" / "pinfill.desktop").read_text(encoding="utf-8").splitlines()
    names = {line.partition("=")[0] for line in lines}
    texts = [element.tag for element in _metainfo().iter() if element.tag in ("summary", "p") and not element.attrib]
    for language in LANGUAGES:
        assert {f"{name}[{language}]" for name in ("GenericName", "Comment", "Keywords")} <= names
        assert [element.tag for element in _metainfo().iter() if element.get(_LANGUAGE) == language] == texts


def _metainfo() -> ElementTree.Element:
    return ElementTree.parse(ROOT / "resources" / "linux" / "pinfill.metainfo.xml").getroot()


def test_packages_carry_the_help_pages_of_every_language(tmp_path: Path) -> None:
    add_own_code(tmp_path, MADE)
    for folder in ("help", *(f"help/{language}" for language in LANGUAGES)):
        pages = {page.name for page in (ROOT / "resources" / folder).glob("*.md")}
        assert {page.name for page in (tmp_path / "pinfill_service" / "resources" / folder).glob("*.md")} == pages


@needs("systemd-analyze")
def test_the_unit_is_sound_and_gives_up_what_it_can(tmp_path: Path) -> None:
    unit = tmp_path / "pinfill.service"
    text = (ROOT / "resources" / "linux" / "pinfill.service").read_text(encoding="utf-8")
    unit.write_text(text.replace("/usr/bin/pinfill", "/bin/true"), encoding="utf-8")
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    verify = ["systemd-analyze", "--user", "verify", "--man=no", str(unit)]
    done = subprocess.run(verify, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

    score = ["systemd-analyze", "security", "--user", "--offline=yes", "--threshold=70", str(unit)]
    rated = subprocess.run(score, env=environment, capture_output=True, text=True, check=False)
    assert rated.returncode == 0, rated.stdout

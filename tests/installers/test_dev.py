"""What installers/dev.py decides: which packages, which words, what is skipped and what is passed on."""

from __future__ import annotations

import ast
import errno
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections import namedtuple
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement

from installers import dev as dev_file
from installers.checkout import base, debian, locks, venv

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def dev(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The file's module, with a checkout and a `.venv` of its own, and nothing that starts a program."""

    def refuse(*command: object, **_: object) -> None:
        raise AssertionError(f"starts {command}")

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    (tmp_path / ".venv").mkdir()
    (tmp_path / "lock.txt").write_text("one==1\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    for name, path in {"ROOT": "", "VENV": ".venv", "LOCK": "lock.txt", "SCRIPTS": ".venv/bin"}.items():
        monkeypatch.setattr(base, name, tmp_path / path)
    monkeypatch.setattr(base, "PYTHON", tmp_path / ".venv/bin/python")
    return dev_file


class Programs:
    """Stands for the system's programs: what was run, and what each answers (by its name and first argument)."""

    def __init__(self, dev: ModuleType, monkeypatch: pytest.MonkeyPatch, **answers: tuple[int, str]) -> None:
        self.ran: list[str] = []
        self.answers = answers
        monkeypatch.setattr(base, "run_quietly", self.run)

    def run(self, command: list[str], env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        self.ran.append(" ".join(command))
        code, text = self.answers.get(Path(command[0]).name.replace("-", "_"), (0, ""))
        return subprocess.CompletedProcess(command, code, text)


def found(monkeypatch: pytest.MonkeyPatch, dev: ModuleType, *names: str) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if name in names else None)


def user(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: number, raising=False)


# Python


def test_an_old_python_can_parse_the_files() -> None:
    installers = ROOT / "installers"
    for path in (installers / "dev.py", *(installers / "checkout").glob("*.py")):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_the_file_runs_anywhere_on_a_python_without_packages(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", str(ROOT / "installers" / "dev.py"), "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "translations" in done.stdout and not done.stderr


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_supported_pythons_are_taken(dev: ModuleType, version: tuple[int, int]) -> None:
    base.check_python(version)


@pytest.mark.parametrize("version", [(3, 10), (3, 14), (2, 7)])
def test_other_pythons_are_refused_with_the_next_step(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int]
) -> None:
    found(monkeypatch, dev, "python3.12", "python3.11")
    with pytest.raises(
        base.SetupError, match=r"3\.11 to 3\.13; this is \d\.\d+\. Use python3\.12 instead of python3\."
    ):
        base.check_python(version)

    found(monkeypatch, dev)
    with pytest.raises(base.SetupError, match="Install one of them"):
        base.check_python(version)


# Debian packages


def test_only_packages_that_dpkg_does_not_hold_are_missing(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = "liba1 installed\nlibb1 config-files\nlibc1t64 installed\ndpkg-query: no packages found matching libd1\n"
    Programs(dev, monkeypatch, dpkg_query=(1, listing))

    assert debian.missing_packages(["liba1", "libb1", "libc1", "libd1"]) == ["libb1", "libd1"]


def test_root_installs_what_is_missing(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = Programs(dev, monkeypatch)
    user(monkeypatch, 0)

    debian.install_packages(["liba1", "libb1"])

    assert programs.ran[0] == "apt-get update"
    assert programs.ran[1].startswith("apt-get ")
    assert programs.ran[1].endswith("install -y --no-install-recommends liba1 libb1")
    assert len(programs.ran) == 2


def test_a_user_with_sudo_that_asks_nothing_installs_through_it(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = Programs(dev, monkeypatch)
    user(monkeypatch, 1000)
    found(monkeypatch, dev, "sudo")

    debian.install_packages(["liba1"])

    assert programs.ran[:2] == ["sudo -n true", "sudo -n apt-get update"]
    assert programs.ran[2].startswith("sudo -n apt-get ")


@pytest.mark.parametrize(("programs", "line"), [(["sudo"], "\nsudo apt-get update && sudo apt-get"), ([], "\nsu -c '")])
def test_without_rights_the_line_to_type_is_the_error(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, programs: list[str], line: str
) -> None:
    ran = Programs(dev, monkeypatch, sudo=(1, "a password is required")).ran
    user(monkeypatch, 1000)
    found(monkeypatch, dev, *programs)

    with pytest.raises(base.SetupError) as caught:
        debian.install_packages(["liba1", "libb1"])

    assert line in str(caught.value)
    assert "liba1 libb1" in str(caught.value)
    assert [command for command in ran if "apt-get" in command] == []


def test_a_failing_apt_get_shows_its_words_and_the_line(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = Programs(dev, monkeypatch, apt_get=(100, "E: no network\n"))
    user(monkeypatch, 0)

    with pytest.raises(base.SetupError, match=r"E: no network\nMend that, then type this line:\n.*liba1"):
        debian.install_packages(["liba1"])

    assert len(programs.ran) == 1


def test_nothing_is_installed_when_all_is_there(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listing = "".join(f"{name} installed\n" for name in debian.qt_packages())
    programs = Programs(dev, monkeypatch, dpkg_query=(0, listing))
    found(monkeypatch, dev, "dpkg-query", "apt-get")

    debian.debian_packages()

    assert [command.split()[0] for command in programs.ran] == ["dpkg-query"]
    assert "all there" in capsys.readouterr().out


def test_venv_support_is_installed_where_debian_left_it_out(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = Programs(dev, monkeypatch)
    user(monkeypatch, 0)
    found(monkeypatch, dev, "dpkg-query", "apt-get")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "base_prefix", "/usr")

    debian.debian_packages()

    assert programs.ran[-1].endswith(f" python{sys.version_info[0]}.{sys.version_info[1]}-venv")


def test_a_system_that_is_not_debian_is_told_what_qt_needs(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found(monkeypatch, dev)
    monkeypatch.setattr(sys, "platform", "linux")

    debian.debian_packages()

    assert "libxcb-cursor0" in capsys.readouterr().out


def test_a_system_that_is_not_debian_and_has_no_venv_is_an_error(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(monkeypatch, dev)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(base.SetupError, match="no venv and ensurepip"):
        debian.debian_packages()


# .venv and stamps


@pytest.mark.parametrize(("answer", "works"), [("same", True), ("3 10", False), ("Traceback", False)])
def test_a_venv_of_another_python_is_made_again(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, answer: str, works: bool
) -> None:
    base.PYTHON.parent.mkdir()
    base.PYTHON.touch()
    text = f"{sys.version_info[0]} {sys.version_info[1]}" if answer == "same" else answer
    programs = Programs(dev, monkeypatch, python=(0, text))

    venv.make_venv()

    assert [command for command in programs.ran if "-m venv --clear" in command] == programs.ran[1:]
    assert (len(programs.ran) == 1) is works


def test_a_broken_venv_module_is_an_error(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "run_quietly", lambda command: subprocess.CompletedProcess(command, 1, "no ensurepip\n"))

    with pytest.raises(base.SetupError, match="no ensurepip"):
        venv.make_venv()


def installs(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(venv, "pip_install", lambda *arguments: calls.append(arguments))
    return calls


def test_what_was_installed_is_skipped_until_it_changes(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = installs(dev, monkeypatch)

    venv.install_everything()
    assert calls == [
        ("--require-hashes", "-r", str(base.LOCK)),
        ("--no-build-isolation", "-e", str(base.ROOT)),
    ]
    venv.install_everything()
    assert len(calls) == 2

    base.LOCK.write_text("one==2\n")
    venv.install_everything()
    assert calls[2:] == [("--require-hashes", "-r", str(base.LOCK))]

    (base.ROOT / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    venv.install_everything()
    assert calls[3:] == [("--no-build-isolation", "-e", str(base.ROOT))]

    monkeypatch.setattr(platform, "python_version", lambda: "3.12.99")
    venv.install_everything()
    assert len(calls) == 6


def test_a_failed_install_is_done_again_next_time(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    installs(dev, monkeypatch)
    venv.install_everything()
    base.LOCK.write_text("one==2\n")

    def fail(*_: str) -> None:
        raise base.SetupError("no network")

    monkeypatch.setattr(venv, "pip_install", fail)
    with pytest.raises(base.SetupError):
        venv.install_everything()
    base.LOCK.write_text("one==1\n")  # what was there before the failure is no longer sure to be there

    calls = installs(dev, monkeypatch)
    venv.install_everything()
    assert calls == [("--require-hashes", "-r", str(base.LOCK))]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("ERROR: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "not the one in the lock file"),
        ("WARNING: Retrying after connection broken by 'NewConnectionError'", "index cannot be reached"),
        ("ERROR: something else", "its own words are above"),
    ],
)
def test_what_pip_says_becomes_one_sentence(dev: ModuleType, words: str, reason: str) -> None:
    assert reason in venv.explain_pip(words)
    assert "\n" not in venv.explain_pip(words)


def test_pips_own_words_are_shown_and_explained(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys; print('No space left on device', file=sys.stderr); sys.exit(1)"
    monkeypatch.undo()
    monkeypatch.setattr(base, "PIP", [sys.executable, "-c", code])

    with pytest.raises(base.SetupError, match="disk is full"):
        venv.pip_install("x")

    assert "No space left on device" in capsys.readouterr().err


def test_too_little_disk_is_said_first(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 100 << 20))

    with pytest.raises(base.SetupError, match="has 100"):
        dev.setup()


# Commands


def test_arguments_after_the_dashes_are_passed_on(dev: ModuleType) -> None:
    assert dev.split_arguments(["test", "--", "-k", "a b", "--", "x"]) == (["test"], ["-k", "a b", "--", "x"])
    assert dev.split_arguments(["run"]) == (["run"], [])


@pytest.mark.parametrize(
    ("command", "started"),
    [
        ("test", ["{python}", "-m", "pytest", "-k", "x"]),
        ("run", ["{scripts}/pinfill", "demo", "-k", "x"]),
        ("setup", []),
        ("screenshots", ["{python}", "{root}/installers/screenshots.py", "-k", "x"]),
        ("translations", ["{python}", "{root}/installers/translations.py", "-k", "x"]),
    ],
)
def test_a_command_sets_up_and_becomes_the_program(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, command: str, started: list[str]
) -> None:
    events: list[Any] = []
    monkeypatch.setattr(dev, "setup", lambda: events.append("setup"))
    monkeypatch.setattr(base, "replace_process", events.extend)

    assert dev.main([command, "--", "-k", "x"]) == 0

    assert events == [
        "setup",
        *(part.format(python=base.PYTHON, scripts=base.SCRIPTS, root=base.ROOT) for part in started),
    ]


def test_screenshots_go_where_they_were_asked_for(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(dev, "setup", lambda: None)
    monkeypatch.setattr(base, "replace_process", started.extend)

    assert dev.main(["screenshots", "--output", "/x/y"]) == 0
    assert started[-2:] == ["--output", "/x/y"]
    with pytest.raises(SystemExit):
        dev.main(["test", "--output", "/x/y"])


def test_packaging_takes_its_own_options_and_sets_nothing_up(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(base, "replace_process", started.extend)

    assert dev.main(["package", "--deb", "--output", "x"]) == 0

    assert started == [sys.executable, "-m", "installers.packages", "--deb", "--output", "x"]


def test_every_lock_is_written_and_the_payload_keeps_to_what_is_tested(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []
    monkeypatch.setattr(locks, "run_uv", lambda *arguments: commands.append(" ".join(arguments)))

    assert dev.main(["lock", "--", "--upgrade"]) == 0

    written = [command.split("--output-file ")[1].split()[0].rpartition("/")[2] for command in commands]
    assert written == ["dev.txt", "payload.txt", "oldest.txt"]
    assert all(command.endswith(" --upgrade") and "--generate-hashes" in command for command in commands)
    assert re.search(r"--constraints \S+/dev\.txt", commands[1]) and "--group" not in commands[1]


def test_the_oldest_libraries_are_tested_with_a_python_of_their_own(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands: list[tuple[str, ...]] = []
    started: list[str] = []
    monkeypatch.setattr(locks, "run_uv", lambda *arguments: commands.append(arguments))
    monkeypatch.setattr(base, "replace_process", started.extend)
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(locks, "OLDEST_VENV", tmp_path / ".venv-oldest")

    assert dev.main(["oldest", "--", "tests/unit/test_kv.py"]) == 0

    assert [command[0] for command in commands] == ["venv", "pip"]
    assert "--no-python-downloads" in commands[0] and "3.12" in commands[0] and "--require-hashes" in commands[1]
    assert started[:3] == [str(tmp_path / ".venv-oldest/bin/python"), "-m", "pytest"]
    assert started[-1] == "tests/unit/test_kv.py"


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        ("setup", 1, "error: it is missing"),
        (KeyboardInterrupt(), 130, "goes on from here"),
        (OSError(errno.ENOSPC, "x"), 1, "error: The disk is full"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), 1, "Permission denied: '/x'"),
    ],
)
def test_what_goes_wrong_is_a_line_and_an_exit_code(
    dev: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Any,
    code: int,
    words: str,
) -> None:
    def fail() -> None:
        raise base.SetupError("it is missing") if error == "setup" else error

    monkeypatch.setattr(dev, "setup", fail)

    assert dev.main(["setup"]) == code
    assert words in capsys.readouterr().err


def test_without_uv_the_lock_command_says_how_to_get_it(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found(monkeypatch, dev)

    assert dev.main(["lock"]) == 1
    assert "pip install uv" in capsys.readouterr().err


def test_a_model_that_cannot_be_pulled_is_an_error(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda command, check: subprocess.CompletedProcess(command, 1))

    with pytest.raises(base.SetupError, match="model is not there"):
        venv.pull_model()


# The lock file


def test_the_lock_holds_all_that_pyproject_asks_for_with_hashes_and_no_address() -> None:
    text = (ROOT / "installers" / "locks" / "dev.txt").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras, groups = project["project"]["optional-dependencies"], project["dependency-groups"]
    asked = [*project["project"]["dependencies"], *extras["cpu"], *extras["desktop"], *groups["dev"], *groups["build"]]
    pins = re.findall(r"^([\w.-]+)==([^\s;]+)[^\\\n]*\\\n    --hash=sha256:", text, re.MULTILINE)

    assert len(pins) == len(re.findall(r"^\w", text, re.MULTILINE))
    assert "://" not in text
    for requirement in map(Requirement, asked):
        versions = [version for name, version in pins if name == re.sub(r"[-_.]+", "-", requirement.name).lower()]
        assert versions and all(requirement.specifier.contains(version) for version in versions), requirement

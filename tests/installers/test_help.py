"""The help pages: every command in them is run as it stands there, on a service with a tiny model. Those in other
languages have the same commands, so that is said of them too.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinfill_app.translations import LANGUAGES
from pinfill_service import cli
from tests.support.models import LLAMA

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "resources" / "help").glob("*.md"))
LIMIT_SECONDS = 120


def commands(page: Path) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a reader of the pages works, with a service running on a folder of its own."""
    work = tmp_path_factory.mktemp("help")
    (work / "rubric.md").write_text("Rate essays from 1 to 5, and be fair. " * 20, encoding="utf-8")
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "pinfill_service.cli", "serve", "--port", "0", "--model", str(LLAMA)]
    with subprocess.Popen(command, env=environment(work, 0), stdout=pipe, text=True, cwd=work) as service:
        assert service.stdout is not None
        first = next(line for line in service.stdout if "http://" in line)
        found = re.search(r":(\d+)/v1", first)
        assert found is not None
        (work / "port").write_text(found[1], encoding="utf-8")
        yield work
        service.terminate()
        service.communicate(timeout=LIMIT_SECONDS)


def environment(work: Path, port: int) -> dict[str, str]:
    paths = [str(Path(cli.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"PINFILL_HOME": str(work / "home"), "PINFILL_API_KEY": "a-key-for-tests", "PINFILL_PORT": str(port)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PINFILL_")}
    return (
        kept | own | {"PYTHONPATH": os.pathsep.join(paths), "HOME": str(work), "XDG_CONFIG_HOME": str(work / "config")}
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_works(folder: Path, page: Path) -> None:
    port = int((folder / "port").read_text(encoding="utf-8"))
    for command in commands(page):
        program, *words = shlex.split(command)
        assert program == "pinfill"
        if words[0] == "uninstall-state":
            continue  # refused while a service runs; it has tests of its own
        done = subprocess.run(
            [sys.executable, "-m", "pinfill_service.cli", *words],
            cwd=folder,
            env=environment(folder, port),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr


def test_what_pages_mention_is_there() -> None:
    """Commands in running text exist, and so does what is linked to."""
    from typer.main import get_command

    known = get_command(cli.app).commands  # type: ignore[attr-defined]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(
            r"[`$ ]pinfill ([a-z][a-z-]+)", " ".join(re.findall(r"`[^`]+`|^\$ .*$", text, re.MULTILINE))
        ):
            assert name in known, f"{page.name}: pinfill {name}"
        for target in re.findall(r"\]\(([^)]+)\)", text):
            assert (page.parent / target).is_file(), f"{page.name}: {target}"


def outline(page: Path) -> dict[str, list[str]]:
    """What is the same in every language: code to the letter, the rest by its kind and order."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```$", "(code)", text, flags=re.MULTILINE | re.DOTALL)
    return {
        "code": blocks,
        "headings": re.findall(r"^#+", prose, re.MULTILINE),
        "paragraphs": [part[0] if part[0] in "#|-(*" else "" for part in re.split(r"\n{2,}", prose.strip())],
        "rows": [str(line.count("|")) for line in prose.splitlines() if line.startswith("|")],
        "points": re.findall(r"^(?:-|\d+\.)(?= )", prose, re.MULTILINE),
        "links": re.findall(r"\]\(([^)]+)\)", prose),
        "names": sorted(" ".join(name.split()) for name in re.findall(r"`([^`]+)`", prose)),
    }


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_the_same_in_every_language(page: Path, language: str) -> None:
    translated = page.parent / language / page.name
    assert outline(translated) == outline(page), "translate what was changed in English"
    assert translated.read_text(encoding="utf-8") != page.read_text(encoding="utf-8")


def test_there_are_no_other_pages() -> None:
    found = {path.relative_to(ROOT / "resources" / "help").as_posix() for path in PAGES[0].parent.rglob("*.*")}
    assert found == {f"{folder}{page.name}" for folder in ("", *(f"{each}/" for each in LANGUAGES)) for page in PAGES}


def test_all_that_was_promised_has_a_page() -> None:
    assert {page.stem for page in PAGES} == {
        "install", "pin", "agents", "budgets", "security", "npu", "troubleshooting"
    }  # fmt: skip

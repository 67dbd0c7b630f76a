"""Several files become one text whose beginning stays, and a folder the files in it that can be read."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path, PurePosixPath

import pytest

from pinfill_service.documents.compose import compose, heading_names
from pinfill_service.documents.document import Document, Limits, TooLargeError, UnreadableFileError
from pinfill_service.documents.extract import extract
from pinfill_service.documents.inventory import Inventory, take_inventory
from tests.support.documents import docx, pdf, written, zipped

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="such files are made differently on Windows")


def document(path: str, text: str) -> Document:
    return Document(Path(path), "text", text, "", 0, 0)


def test_one_file_is_its_text_alone() -> None:
    assert compose([document("/a/b.txt", "text \n\n")]) == "text \n\n"


def test_several_files_have_headings() -> None:
    documents = [document("/p/a.md", "one\n\n"), document("/p/sub/b.md", "\ntwo"), document("/p/e.md", "")]
    assert compose(documents) == "===== a.md =====\none\n\n===== sub/b.md =====\n\ntwo\n\n===== e.md =====\n"


def test_a_file_added_at_the_end_leaves_the_text_before_it_alone() -> None:
    documents = [document(path, path) for path in ("/p/s/a.md", "/p/a.md", "/q/a.md", "/p/s/t/a.md", "/q/r/a.md")]
    texts = [compose(documents[:count]) for count in range(2, 6)]
    assert all(longer.startswith(shorter) for shorter, longer in pairwise(texts))


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/p/a", "/p/s/b", "/p/s/t/c"], ["a", "s/b", "s/t/c"]),
        (["/home/u/x/a", "/home/u/y/a"], ["a", "y/a"]),
        (["/p/a", "/q/a", "/q/r/a"], ["a", "q/a", "r/a"]),
        (["/p/s/a", "/p/a", "/p/b"], ["a", "p/a", "b"]),
        (["/a", "/b"], ["a", "b"]),
        (["/p/new\nline", "/p/b\udcff"], ["new?line", "b?"]),
        ([], []),
    ],
)
def test_names_are_short_and_different(paths: list[str], names: list[str]) -> None:
    assert heading_names([PurePosixPath(path) for path in paths]) == names


# Folders


def listed(inventory: Inventory, folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in inventory.paths]


def test_a_folder_is_its_readable_files_in_order(tmp_path: Path) -> None:
    for name in ("b.md", "a.txt", "Z.txt", "sub/c.py", "sub/deep/d.txt", ".git/config", ".env", "lib/x.py"):
        written(tmp_path, name, "text")
    written(tmp_path, "data.bin", b"\0\1\2")
    written(tmp_path, "things.zip", zipped({"a": "b"}))
    written(tmp_path, "paper.pdf", pdf(["x"]))
    written(tmp_path, "letter.docx", docx())
    written(tmp_path, "long.md", "日本" * 2_000)

    inventory = take_inventory([tmp_path])

    expected = [
        "Z.txt",
        "a.txt",
        "b.md",
        "letter.docx",
        "long.md",
        "paper.pdf",
        "lib/x.py",
        "sub/c.py",
        "sub/deep/d.txt",
    ]
    assert listed(inventory, tmp_path) == expected
    assert inventory.size == sum(path.stat().st_size for path in inventory.paths)
    reasons = {entry.path.name: entry.reason for entry in inventory.skipped}
    assert reasons.keys() == {".git", ".env", "data.bin", "things.zip"}
    assert (reasons[".git"], reasons["things.zip"]) == ("is hidden", "is an archive")
    assert [entry.why for entry in inventory.skipped if entry.path.name == "things.zip"] == ["unsupported"]
    assert [each.kind for each in extract(inventory.paths)] == [file.kind for file in inventory.files]


def test_named_files_come_as_named_and_once(tmp_path: Path) -> None:
    hidden, other = written(tmp_path, ".b", "x"), written(tmp_path, "c.bin", b"\0")
    written(tmp_path, "a", "x")
    inventory = take_inventory([hidden, other, tmp_path, hidden])
    assert listed(inventory, tmp_path) == [".b", "c.bin", "a"]
    with pytest.raises(UnreadableFileError, match="No such file"):
        take_inventory([tmp_path / "missing"])


@needs_posix
def test_links_and_pipes_in_folders_are_skipped(tmp_path: Path) -> None:
    written(tmp_path, "sub/a.txt", "x")
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "outside").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    inventory = take_inventory([tmp_path])
    assert listed(inventory, tmp_path) == ["sub/a.txt"]
    assert {entry.path.name: (entry.why, entry.reason) for entry in inventory.skipped} == {
        "up": ("link", "is a link"),
        "outside": ("link", "is a link"),
        "pipe": ("unreadable", "is a pipe"),
    }


def test_a_folder_is_counted_within_limits(tmp_path: Path) -> None:
    for name in "abc":
        written(tmp_path, name, "text")
    written(tmp_path, "big", "x" * 9)
    assert len(take_inventory([tmp_path], limits=Limits(entries=4)).files) == 4
    with pytest.raises(TooLargeError, match="more than 3 files"):
        take_inventory([tmp_path], limits=Limits(entries=3))
    inventory = take_inventory([tmp_path], limits=Limits(file_bytes=8))
    assert [(entry.path.name, entry.why) for entry in inventory.skipped] == [("big", "too_large")]


def test_a_very_deep_folder(tmp_path: Path) -> None:
    depth = 300
    folder = tmp_path.joinpath(*["d"] * depth)
    folder.mkdir(parents=True)
    written(folder, "a", "x")
    assert len(take_inventory([tmp_path]).paths[0].relative_to(tmp_path).parts) == depth + 1

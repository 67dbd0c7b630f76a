"""Files of pins, watched: what counts as a change, and that each is told once."""

from __future__ import annotations

import hashlib
import logging
import os
import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinfill_service.api.schemas.manage import Pin, SourceFile
from pinfill_service.pins.watching import SourceWatcher
from tests.support.fake_engine import LIMIT_SECONDS


def pin(name: str, *paths: Path, state: str = "warm") -> Pin:
    sources = []
    for path in paths:
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        sources.append(SourceFile(path=str(path), size=len(data), mtime=path.stat().st_mtime, sha256=digest))
    fields = dict.fromkeys(Pin.model_fields, None) | {
        "name": name,
        "kind": "text",
        "state": state,
        "model": "m",
        "on_disk": True,
        "auto_refresh": True,
        "sources": sources,
    }
    numbers = {
        field: 0
        for field, info in Pin.model_fields.items()
        if fields[field] is None and info.annotation in (int, float)
    }
    return Pin.model_validate(fields | numbers)


class Told:
    """What the watcher said, in order."""

    def __init__(self) -> None:
        self._queue: queue.Queue[tuple[str, str | None]] = queue.Queue()
        self.watcher = SourceWatcher(lambda name, why: self._queue.put((name, why)), quiet_seconds=0.02)

    def next(self) -> tuple[str, str | None]:
        return self._queue.get(timeout=LIMIT_SECONDS)

    @property
    def empty(self) -> bool:
        return self._queue.empty()


@pytest.fixture
def told() -> Iterator[Told]:
    told = Told()
    yield told
    told.watcher.close()


def test_a_file_that_is_written_is_told(told: Told, tmp_path: Path) -> None:
    rubric = tmp_path / "rubric.md"
    rubric.write_text("old")
    told.watcher.update([pin("rubric", rubric)])
    rubric.write_text("new")
    assert told.next() == ("rubric", "rubric.md changed")
    told.watcher.update([pin("rubric", rubric)])
    rubric.write_text("newer")
    assert told.next() == ("rubric", "rubric.md changed")


def test_a_file_that_is_replaced_or_gone_is_told(told: Told, tmp_path: Path) -> None:
    first, second, new = tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "b.txt.new"
    first.write_text("a")
    second.write_text("b")
    told.watcher.update([pin("both", first, second)])
    new.write_text("c")
    os.replace(new, second)
    assert told.next() == ("both", "b.txt changed")
    first.unlink()
    assert told.next() == ("both", "a.txt is gone; b.txt changed")


def test_what_changed_while_nobody_watched_is_found_at_once(told: Told, tmp_path: Path) -> None:
    rubric = tmp_path / "rubric.md"
    rubric.write_text("old")
    known = pin("rubric", rubric)
    rubric.write_text("new")
    told.watcher.update([known])
    assert told.next() == ("rubric", "rubric.md changed")


def test_a_file_that_gets_its_old_content_back_is_told(told: Told, tmp_path: Path) -> None:
    rubric = tmp_path / "rubric.md"
    rubric.write_text("old")
    told.watcher.update([pin("rubric", rubric)])
    for _ in range(2):
        rubric.write_text("new")
        assert told.next() == ("rubric", "rubric.md changed")
        rubric.write_text("old")
        assert told.next() == ("rubric", None)


def test_a_pin_that_became_stale_while_nobody_watched_is_told_when_its_file_is_the_old_one(
    told: Told, tmp_path: Path
) -> None:
    rubric, other = tmp_path / "rubric.md", tmp_path / "other.md"
    rubric.write_text("old")
    other.write_text("old")
    told.watcher.update([pin("rubric", rubric, state="stale"), pin("other", other)])
    assert told.next() == ("rubric", None)
    told.watcher.update([pin("rubric", rubric, state="stale"), pin("other", other)])
    other.write_text("new")  # once: what was told before this one would have been wrong
    assert told.next() == ("other", "other.md changed")


def test_a_folder_that_is_gone(told: Told, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "rubric.md").write_text("old")
    known = pin("rubric", folder / "rubric.md")
    (folder / "rubric.md").unlink()
    folder.rmdir()
    told.watcher.update([known])
    assert told.next() == ("rubric", "rubric.md is gone")


def test_the_same_bytes_are_no_change_and_other_files_are_nothing(told: Told, tmp_path: Path) -> None:
    rubric, other = tmp_path / "rubric.md", tmp_path / "other.md"
    rubric.write_text("old")
    other.write_text("old")
    told.watcher.update([pin("rubric", rubric), pin("other", other)])
    (tmp_path / "rubric.new").write_text("old")
    (tmp_path / "rubric.new").replace(rubric)  # never empty, as it would be for a moment when it was written anew
    (tmp_path / "unrelated.md").write_text("x")
    other.write_text("new")  # what was told before this one would have been wrong
    assert told.next() == ("other", "other.md changed")
    assert told.empty
    told.watcher.update([pin("other", other)])
    rubric.write_text("new")  # its pin is gone
    other.write_text("newer")
    assert told.next() == ("other", "other.md changed")


def test_closing_says_nothing_of_what_watchdog_calls_an_error(caplog: pytest.LogCaptureFixture) -> None:
    Told().watcher.close()
    emitter = logging.getLogger("watchdog.observers.inotify")
    emitter.error("InotifyEmitter.queue_events() called when the thread is inactive")
    emitter.error("There are no watches left.")
    assert caplog.messages == ["There are no watches left."]

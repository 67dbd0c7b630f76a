"""The log: read across its rotation, searched, copied; and the self-test beside it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from pinfill_app import service_log
from pinfill_app.log_tail import Level, LogLine, Place, read_on
from pinfill_app.models.log_lines import MOST, LogFilter, LogLines
from pinfill_app.self_test import Outcome, SelfTest
from pinfill_app.service_log import ServiceLog
from pinfill_app.windows.log_page import LogPage
from pinfill_app.windows.self_test_dialog import SelfTestDialog
from pinfill_service.selftest.report import Report
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.pages import Shown, english, shown
from tests.support.sample_service import LOG

Log = Shown[LogPage]
RUN = {"prompt_tokens": 100, "cached_tokens": 90, "cold_seconds": 2.0, "warm_seconds": 0.5, "equal": True}


@pytest.fixture
def log(qtbot: QtBot, home: Path) -> Iterator[Log]:
    (home / "service.log").write_text(LOG)
    with english(), shown(qtbot, LogPage, home) as made:
        qtbot.waitUntil(lambda: made.page.lines.rowCount() == 7, timeout=LIMIT_MILLISECONDS)
        yield made


def texts(log: Log) -> list[str]:
    return [log.page.filter.index(row, 0).data() for row in range(log.page.filter.rowCount())]


def test_lines_are_found_by_their_words_and_their_level(log: Log) -> None:
    page = log.page
    page.search.setText("HANDBOOK")
    assert len(texts(log)) == 2
    page.level.setCurrentIndex(page.level.findData("ERROR"))
    page.level.activated.emit(page.level.currentIndex())
    assert [text.split()[2] for text in texts(log)] == ["ERROR"]
    page.search.setText("nothing like that")
    assert texts(log) == [] and "No line" in page.empty.words and not page.copy_button.isEnabled()
    page._show_all()
    assert len(texts(log)) == 7 and page.copy_button.isEnabled()


def test_new_lines_are_followed(qtbot: QtBot, home: Path, log: Log) -> None:
    with (home / "service.log").open("a") as file:
        file.write("a line that is not whole")
    log.page._read()
    qtbot.waitUntil(lambda: not log.page._is_reading, timeout=LIMIT_MILLISECONDS)
    assert len(texts(log)) == 7
    with (home / "service.log").open("a") as file:
        file.write(" yet\n")
    qtbot.waitUntil(lambda: texts(log)[-1] == "a line that is not whole yet", timeout=LIMIT_MILLISECONDS)


def test_the_selected_lines_are_copied_or_all(log: Log) -> None:
    log.page.copy()
    assert QApplication.clipboard().text() == LOG
    log.page.view.setCurrentIndex(log.page.filter.index(1, 0))
    log.page.copy()
    assert QApplication.clipboard().text() == LOG.splitlines(keepends=True)[1]
    assert log.page.notices.texts["log"] == "1 line copied."


def test_a_service_that_said_nothing_or_elsewhere(qtbot: QtBot, home: Path) -> None:
    with shown(qtbot, LogPage, home) as made:
        made.page._read()
        qtbot.waitUntil(lambda: not made.page._is_reading, timeout=LIMIT_MILLISECONDS)
        assert "where it was started" in made.page.empty.words
        made.supervisor.is_owner = True
        made.supervisor.state_changed.emit()
        assert "nothing yet" in made.page.empty.words


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 40), max_size=6), max_size=8))
def test_no_line_is_lost_or_doubled_whenever_the_file_is_rotated(
    tmp_path_factory: pytest.TempPathFactory, bursts: list[list[int]]
) -> None:
    home = tmp_path_factory.mktemp("log")
    log = ServiceLog(home)
    log._handler.maxBytes = 400  # a burst fits into a file
    place: Place | None = None
    wrote, read = list[str](), list[str]()
    for number, burst in enumerate(bursts):
        for length in burst:
            wrote.append(f"{len(wrote)} {number} {'x' * length}")
            log.write(wrote[-1])
        lines, place = read_on(home, place)
        read += [line.text for line in lines]
    log.close()
    assert read == wrote


def test_lines_of_a_traceback_matter_as_much_as_its_first(home: Path) -> None:
    said = "2026-06-01 07:59:23,870 ERROR x: failed\nTraceback (most recent call last):\n  ...\n"
    (home / service_log.FILE).write_text(said + "2026-06-01 07:59:24,000 INFO x: again\nerror: no\n")
    lines, place = read_on(home, None)
    assert [line.level for line in lines] == [Level.ERROR, Level.ERROR, Level.ERROR, Level.INFO, Level.ERROR]
    with (home / service_log.FILE).open("ab") as file:
        file.write(b"and \xff more\n")
    lines, _ = read_on(home, place)
    assert [(line.text, line.level) for line in lines] == [("and \N{REPLACEMENT CHARACTER} more", Level.ERROR)]


def test_memory_is_bounded(qtbot: QtBot) -> None:
    lines = LogLines()
    shown_lines = LogFilter(lines)
    (line,) = read_line("x")
    for _ in range(3):
        lines.add([line] * (MOST - 5))
    lines.add([*read_line("y"), *[line] * MOST])
    assert lines.rowCount() == shown_lines.rowCount() == MOST and lines.line(0).text == "x"


def read_line(text: str) -> list[LogLine]:
    return [LogLine(text, Level.INFO)]


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (RUN, "All is well: the answer from the cache is the same, first word after 0.5 s instead of 2.0 s."),
        (RUN | {"equal": False}, "is another one"),
        (RUN | {"cached_tokens": 0}, "nothing was cached"),
        (None, "No answer came"),
    ],
)
def test_the_self_tests_verdict_in_words(
    log: Log, monkeypatch: pytest.MonkeyPatch, run: dict[str, object] | None, words: str
) -> None:
    monkeypatch.setattr(SelfTest, "start", lambda self, *options: None)
    dialog = SelfTestDialog(log.page, "--no-model")
    report = Report.model_validate(
        {"machine": {}, "request": run, "problems": [{"code": "no_answer", "message": "A problem."}]}
    )
    dialog._on_finished(Outcome(report, report.model_dump_json()))
    assert words in dialog.words.text() and "A problem." in dialog.words.text()
    dialog.copy_button.click()
    assert json.loads(QApplication.clipboard().text())["problems"][0]["message"] == "A problem."
    dialog.reject()


def test_a_real_self_test_and_one_that_is_ended(qtbot: QtBot, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, sys.path)))
    dialog = SelfTestDialog(log.page, "--no-model")
    qtbot.waitUntil(dialog.copy_button.isEnabled, timeout=LIMIT_MILLISECONDS)
    assert Report.model_validate_json(dialog.text.toPlainText()).onnxruntime is not None
    dialog.reject()
    ended = SelfTestDialog(log.page, "--no-model")
    process = ended._test._process if ended._test is not None else None
    assert process is not None
    qtbot.waitUntil(lambda: process.processId() > 0, timeout=LIMIT_MILLISECONDS)
    ended.reject()
    failed = SelfTestDialog(log.page, "--no-such-option")
    qtbot.waitUntil(lambda: failed.words.text().startswith("The self-test failed."), timeout=LIMIT_MILLISECONDS)
    assert not failed.copy_button.isEnabled()
    failed.reject()

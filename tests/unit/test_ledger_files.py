"""The ledger's file under bad luck: damage, a full disk, folders that cannot be written, killed processes, versions."""

from __future__ import annotations

import logging
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.cache import ledger_file, ledger_history, ledger_thread
from pinfill_service.cache.ledger import Ledger
from pinfill_service.cache.ledger_file import FILE, KEPT_ASIDE
from pinfill_service.cache.ledger_records import LedgerError, LedgerVersionError, Limits
from pinfill_service.cache.ledger_schema import MIGRATIONS
from tests.support.ledger import DAY, NOW, files_with, record, stored_pin

SIXTEENTHS = range(16)
KILLS = 6
NOBODY = 65534
PINS = [stored_pin(name, f"The text of {name}. " * 300) for name in ("a", "b", "c", "d")]


def open_ledger(home: Path, **options: Any) -> Ledger:
    return Ledger.open(home, **({"clock": lambda: NOW} | options))


def fill(home: Path) -> None:
    """Four pins and some requests, in the file itself."""
    with open_ledger(home, history=True) as ledger:
        for pin in PINS:
            ledger.pins.add_pin(pin)
        for number in range(30):
            sent = record(number, pin="a", at=NOW - number * DAY / 3, finding={"kind": "clock"}, prompt="text " * 100)
            ledger.record(sent)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("filled")
    fill(home)
    return home / FILE


def use_everything(ledger: Ledger) -> None:
    ledger.requests(100)
    ledger.request("request-3")
    ledger.savings(100)
    ledger.pin_uses()
    ledger.prefill_costs()
    ledger.keep_prefill_costs("f" * 64, "machine", {0: 0.001})
    ledger.record(record(1000, pin="a"))
    ledger.keep_history(False)
    ledger.flush()


def check_it_works(home: Path) -> None:
    """A new pin and a new request are there after a restart."""
    with open_ledger(home) as ledger:
        ledger.pins.add_pin(stored_pin("new"))
        ledger.record(record(2000, pin="new"))
    with open_ledger(home) as ledger:
        assert ledger.pins.pins()[-1] == stored_pin("new")
        assert ledger.request("request-2000") == record(2000, pin="new")
        assert (ledger.problem, ledger.set_aside) == (None, ())


# -- damage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sixteenth", SIXTEENTHS)
def test_a_file_that_is_cut_off_is_set_aside_and_reported(tmp_path: Path, filled: Path, sixteenth: int) -> None:
    whole = filled.read_bytes()
    damaged = whole[: len(whole) * sixteenth // len(SIXTEENTHS)]
    (tmp_path / FILE).write_bytes(damaged)
    with open_ledger(tmp_path) as ledger:
        assert all(pin in PINS for pin in ledger.pins.pins())
        use_everything(ledger)
        assert ledger.problem is None
        assert len(ledger.set_aside) == (1 if damaged else 0)
        aside = list(tmp_path.glob("ledger.damaged-*.sqlite3"))
        if damaged:
            assert aside[0].name in ledger.set_aside[0] and "\n" not in ledger.set_aside[0]
    check_it_works(tmp_path)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 255)), min_size=1, max_size=8), st.booleans())
def test_whatever_bytes_are_in_it_nothing_raises_and_no_pin_is_altered(
    filled: Path, flips: list[tuple[int, int]], header: bool
) -> None:
    data = bytearray(filled.read_bytes())
    for at, value in flips:
        data[at % (2048 if header else len(data))] = value
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / FILE).write_bytes(data)
        try:
            ledger = open_ledger(home)
        except LedgerVersionError:  # the flipped bytes are those of the version
            return
        with ledger:
            contents = [pin.content for pin in ledger.pins.pins()]
            assert all(content in [pin.content for pin in PINS] for content in contents)
            use_everything(ledger)
        with open_ledger(home) as ledger:
            assert [pin.content for pin in ledger.pins.pins()] == contents


def test_pins_are_saved_from_a_damaged_file(tmp_path: Path, filled: Path) -> None:
    damaged = filled.read_bytes().replace(b"The text of b. The text", b"The text of b. the text", 1)
    (tmp_path / FILE).write_bytes(damaged)
    with open_ledger(tmp_path) as ledger:
        assert ledger.pins.pins() == [PINS[0], PINS[2], PINS[3]]
        assert "known, 3;" in ledger.set_aside[0]
    check_it_works(tmp_path)


def test_damage_that_shows_while_the_service_runs(tmp_path: Path, filled: Path) -> None:
    (tmp_path / FILE).write_bytes(filled.read_bytes())
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("UPDATE requests SET segments = 'no JSON' WHERE id = 'request-3'")
    with open_ledger(tmp_path) as ledger:
        assert ledger.requests(100).requests == ()
        assert len(ledger.set_aside) == 1
        ledger.record(record(1, pin="b"))
        assert ledger.requests(100).requests == (record(1, pin="b"),)
        assert ledger.problem is None
    with open_ledger(tmp_path) as ledger:
        assert ledger.pins.pins() == PINS
    check_it_works(tmp_path)


def test_damage_that_shows_when_another_pinfill_has_taken_over(
    tmp_path: Path, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def newer(*arguments: object) -> None:
        raise LedgerVersionError("It is newer.")

    (tmp_path / FILE).write_bytes(filled.read_bytes())
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("UPDATE requests SET finding = '[]'")
    with open_ledger(tmp_path, history=True) as ledger:
        monkeypatch.setattr(ledger_thread, "open_ledger", newer)
        ledger.requests()
        assert ledger.problem == "It is newer."
        ledger.record(record(1, pin="a"))
        assert ledger.pin_uses()["a"].hits == 1
        assert ledger.pins.pins() == PINS


def test_another_programs_file_stays_whole(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("CREATE TABLE notes (text)")
        connection.execute("INSERT INTO notes VALUES ('mine')")
    with open_ledger(tmp_path) as ledger:
        assert len(ledger.set_aside) == 1
    (aside,) = tmp_path.glob("ledger.damaged-*.sqlite3")
    with closing(sqlite3.connect(aside)) as connection:
        assert connection.execute("SELECT * FROM notes").fetchall() == [("mine",)]


def test_few_damaged_files_are_kept(tmp_path: Path) -> None:
    for round_ in range(KEPT_ASIDE + 3):
        (tmp_path / FILE).write_bytes(b"no database %d" % round_)
        open_ledger(tmp_path, clock=lambda now=NOW + round_: now).close()
    kept = sorted(tmp_path.glob("ledger.damaged-*"))
    assert [path.read_bytes()[-1:] for path in kept] == [b"3", b"4", b"5"]


# -- killed processes --------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from pinfill_service.cache.ledger import Ledger
from pinfill_service.cache.ledger_records import Limits
from tests.support.ledger import NOW, record, stored_pin

ledger = Ledger.open(Path(sys.argv[1]), history=True, limits=Limits(requests=40), clock=lambda: NOW)
number = 0
while True:
    ledger.pins.add_pin(stored_pin(f"pin-{number}", f"text {number} " * 2000))
    if number >= 5:
        ledger.pins.remove_pin(f"pin-{number - 5}")
    for part in range(3):
        ledger.record(record(number * 3 + part, pin=f"pin-{number}", prompt="text " * 500))
    ledger.flush()
    print(number, flush=True)
    number += 1
"""


def test_a_process_that_is_killed_leaves_a_whole_file_with_all_it_said_was_there(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    rng = random.Random(7)
    for round_ in range(KILLS):
        home = tmp_path / str(round_)
        command = [sys.executable, "-c", WRITER, str(home)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout is not None
            for _ in range(rng.randint(1, 25)):
                said = int(process.stdout.readline())
            process.kill()
            said = max([said, *(int(line) for line in process.stdout.read().split())])
        with closing(sqlite3.connect(home / FILE)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        with open_ledger(home, history=True) as ledger:
            assert (ledger.problem, ledger.set_aside) == (None, ())
            pins = {pin.name: pin for pin in ledger.pins.pins()}
            for number in range(max(0, said - 3), said + 1):
                there = pins[f"pin-{number}"]
                assert there.content == stored_pin("x", f"text {number} " * 2000).content
            assert ledger.request(f"request-{said * 3 + 2}") is not None
            assert ledger.savings(700).total.requests >= (said + 1) * 3


# -- disks and folders that cannot be written --------------------------------------------------------------------------


def full_disk(ledger: Ledger, pages: int) -> None:
    """The file may not grow beyond `pages`."""
    ledger._thread.ask(lambda connection: connection.execute(f"PRAGMA max_page_count={pages}").fetchone())


def test_a_full_disk_is_said_once_and_forgotten_when_there_is_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_ledger(tmp_path, limits=Limits(waiting=10)) as ledger:
        ledger.flush()
        full_disk(ledger, 1)
        ledger.pins.add_pin(stored_pin("rubric", "long " * 10_000))
        for number in range(30):
            ledger.record(record(number, pin="rubric"))
            ledger.flush()
        said = ledger.problem
        assert said is not None and "full" in said
        assert ledger.requests().requests == ()
        assert len([entry for entry in caplog.records if entry.levelno >= logging.WARNING]) == 1
        full_disk(ledger, 1 << 30)
        ledger.flush()
        assert ledger.problem is None
        assert ledger.savings(1).total.requests == 10
        pins = ledger.pins.pins()
    with open_ledger(tmp_path) as ledger:
        assert ledger.pins.pins() == pins
        assert ledger.requests(1).requests == (record(29, pin="rubric"),)


def test_what_cannot_be_deleted_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_ledger(tmp_path, history=True) as ledger:
        ledger.record(record(1, prompt="text"))
        ledger.flush()
        monkeypatch.setattr(ledger_file, "_BUSY_SECONDS", 0.0)
        ledger._thread.ask(lambda connection: connection.execute("PRAGMA busy_timeout=0").fetchone())
        with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerError, match="locked"):
                ledger.purge_history()
            assert ledger.problem is not None
        ledger.purge_history()
        assert ledger.requests().requests == ()
        assert ledger.problem is None


@contextmanager
def ordinary_user() -> Iterator[Path]:
    """A folder of a user whom permissions bind."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)
        shutil.rmtree(folder)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
@pytest.mark.parametrize("closed", [True, False])
def test_a_folder_that_cannot_be_written(closed: bool) -> None:
    with ordinary_user() as home:
        before = open_ledger(home)
        before.pins.add_pin(PINS[0])
        before.record(record(1, pin="a"))
        before.flush()
        if closed:
            before.close()
        (home / FILE).chmod(0o400)
        home.chmod(0o500)
        with open_ledger(home) as ledger:
            assert ledger.problem is not None and "cannot be written" in ledger.problem
            assert ledger.pins.pins() == [PINS[0]]
            assert ledger.request("request-1") == record(1, pin="a")
            ledger.pins.add_pin(PINS[1])
            ledger.record(record(2, pin="b"))
            assert len(ledger.requests().requests) == 2
            ledger.purge_history()
            assert ledger.pins.pins() == PINS[:2]
        home.chmod(0o700)
        (home / FILE).chmod(0o600)
        before.close()
        with open_ledger(home) as ledger:
            assert ledger.pins.pins() == [PINS[0]]
            assert ledger.problem is None


@pytest.mark.parametrize("in_the_way", ["a file where the folder should be", "a folder where the file should be"])
def test_no_place_for_a_file(tmp_path: Path, in_the_way: str, caplog: pytest.LogCaptureFixture) -> None:
    home = tmp_path / "home"
    if in_the_way.startswith("a file"):
        home.write_text("a file")
    else:
        (home / FILE).mkdir(parents=True)
    with open_ledger(home) as ledger:
        use_everything(ledger)
        ledger.pins.add_pin(PINS[0])
        assert len(ledger.requests().requests) == 1
        assert ledger.problem is not None and "start Pinfill again" in ledger.problem
        ledger.purge_history()
    assert len([entry for entry in caplog.records if entry.levelno >= logging.WARNING]) == 1


def test_what_sqlite_does_not_take_is_left_out_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(connection: sqlite3.Connection, records: object) -> None:
        raise sqlite3.IntegrityError("not like this")

    with open_ledger(tmp_path) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(ledger_history, "add", refuse)
            ledger.record(record(1))
            ledger.flush()
        ledger.record(record(2))
        assert ledger.requests().requests == (record(2),)
        assert ledger.problem is None
    assert "not like this" in caplog.text


# -- versions ----------------------------------------------------------------------------------------------------------

NEXT_VERSION = (*MIGRATIONS, "ALTER TABLE requests ADD COLUMN mood TEXT;")


def test_an_older_file_is_brought_up_to_date_after_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(ledger_file, "MIGRATIONS", NEXT_VERSION)
        with open_ledger(tmp_path, history=True) as ledger:
            assert ledger.pins.pins() == PINS
            assert ledger.savings(100).total.requests == 30
            ledger.record(record(100, prompt="since the copy"))
    copy = tmp_path / f"ledger.version-{len(MIGRATIONS)}.sqlite3"
    assert files_with(tmp_path, "since the copy") == [FILE]
    assert copy.stat().st_mode & 0o077 == 0 or os.name == "nt"
    copy.replace(tmp_path / FILE)
    with open_ledger(tmp_path, history=True) as ledger:
        assert ledger.pins.pins() == PINS
        assert ledger.request("request-100") is None


def test_a_file_of_the_first_version_has_room_for_what_prefill_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ledger_file, "MIGRATIONS", MIGRATIONS[:1])
        fill(tmp_path)
    with open_ledger(tmp_path, history=True) as ledger:
        assert ledger.pins.pins() == PINS and ledger.prefill_costs() == {}
        ledger.keep_prefill_costs("f", "machine", {0: 0.001})
        assert ledger.prefill_costs() == {("f", "machine"): {0: 0.001}}


def test_a_newer_file_is_refused_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ledger_file, "MIGRATIONS", NEXT_VERSION)
        fill(tmp_path)
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(LedgerVersionError, match="Update Pinfill"):
        open_ledger(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [FILE]

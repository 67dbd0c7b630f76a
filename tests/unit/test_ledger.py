"""The ledger: pins stay, sums are right, the history has bounds, and no text is written that nobody asked to keep."""

from __future__ import annotations

import math
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinfill_service.cache import ledger_history
from pinfill_service.cache.ledger import Ledger
from pinfill_service.cache.ledger_file import FILE
from pinfill_service.cache.ledger_pins import PinNameError
from pinfill_service.cache.ledger_records import CUT, SEGMENTS, LedgerError, Limits, PinUse, RequestPage, Sums
from pinfill_service.cache.ledger_thread import Served
from pinfill_service.pins.book import PinBook
from pinfill_service.pins.content import system_text
from pinfill_service.pins.errors import PinExistsError, UnknownPinError
from pinfill_service.pins.pin import Pin
from pinfill_service.pins.shelf import Shelf
from tests.support.ledger import DAY, NOW, files_with, record, stored_pin

MARKER = "xyzzy-plugh"
WAIT_SECONDS = 60.0


def open_ledger(home: Path, **options: Any) -> Ledger:
    return Ledger.open(home, **({"clock": lambda: NOW} | options))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path) as opened:
        yield opened


# -- what prefill costs ------------------------------------------------------------------------------------------------


def test_what_prefill_costs_is_kept_apart_by_model_and_machine(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.keep_prefill_costs("f", "fast", {0: 0.001, 3: 0.002})
        ledger.keep_prefill_costs("f", "slow", {0: 0.1})
        ledger.keep_prefill_costs("g", "fast", {0: 0.5})
        ledger.keep_prefill_costs("f", "fast", {1: 0.003})
    with open_ledger(tmp_path) as ledger:
        known = {("f", "fast"): {1: 0.003}, ("f", "slow"): {0: 0.1}, ("g", "fast"): {0: 0.5}}
        assert ledger.prefill_costs() == known
    later = NOW + (Limits().savings_days + 1) * DAY
    with open_ledger(tmp_path, clock=lambda: later) as ledger:
        ledger.keep_prefill_costs("h", "fast", {0: 0.001})
        assert list(ledger.prefill_costs()) == [("h", "fast")], "nobody has measured the others for years"


@pytest.mark.parametrize(
    ("bucket", "seconds"),
    [(-1, 0.1), (10**9, 0.1), ("x", 0.1), (0, 0.0), (0, -1.0), (0, 1e6), (0, math.inf), (0, "much"), (0, b"much")],
)
def test_what_no_machine_can_have_measured_is_ignored(tmp_path: Path, bucket: object, seconds: object) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.keep_prefill_costs("f", "machine", {1: 0.001})
        ledger.keep_prefill_costs("g", "machine", {bucket: seconds})  # type: ignore[dict-item]
        assert ledger.prefill_costs() == {("f", "machine"): {1: 0.001}}


def test_a_cost_that_is_not_a_number_is_not_written_and_nothing_raises(ledger: Ledger) -> None:
    ledger.keep_prefill_costs("f", "machine", {0: math.nan})
    assert ledger.prefill_costs() == {}


# -- pins --------------------------------------------------------------------------------------------------------------


def test_pins_survive_in_the_users_order(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for name in ("a", "b", "c"):
            ledger.pins.add_pin(stored_pin(name, f"text of {name}"))
        ledger.pins.order_pins(["c", "a"])
        ledger.pins.update_pin(
            "a", stored_pin("a", "another text", state="warm", tokens=99, error="why", auto_refresh=True)
        )
        pins = ledger.pins.pins()
    assert [pin.name for pin in pins] == ["c", "a", "b"]
    with open_ledger(tmp_path) as ledger:
        assert ledger.pins.pins() == pins
        ledger.pins.remove_pin("a")
    with open_ledger(tmp_path) as ledger:
        assert ledger.pins.pins() == [pins[0], pins[2]]


def test_a_shelf_of_pins_finds_itself_again(tmp_path: Path) -> None:
    def shelf(ledger: Ledger) -> Shelf:
        book: PinBook = ledger.pins
        return Shelf(book, lambda name, event: None)

    content = system_text("Grüße \ud83d, \0 und 漢字")
    with open_ledger(tmp_path) as ledger:
        pins = shelf(ledger)
        for name in ("one", "two"):
            pins.add(Pin(name, content, (), False, NOW, "model", "f", 5))
        pins.set(pins.find("one"), "warm", None)
        pins.rename("two", "three")
        pins.move("three", 0)
    with open_ledger(tmp_path) as ledger:
        again = shelf(ledger)
        assert again.names == ["three", "one"]
        assert again.find("one").content == content
        assert [pin.state for pin in ledger.pins.pins()] == ["queued", "warm"]


def test_pins_may_exchange_their_names(tmp_path: Path) -> None:
    a, b = stored_pin("a", "of a"), stored_pin("b", "of b")
    with open_ledger(tmp_path) as ledger:
        ledger.pins.add_pin(a)
        ledger.pins.add_pin(b)
        ledger.flush()
        for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
            pin = next(pin for pin in ledger.pins.pins() if pin.name == old)
            ledger.pins.update_pin(old, replace(pin, name=new))
    with open_ledger(tmp_path) as ledger:
        assert ledger.pins.pins() == [replace(a, name="b"), replace(b, name="a")]


@pytest.mark.parametrize("name", ["a", "My-Rubric_2.1", "x" * 100])
def test_names_that_models_may_have_too(ledger: Ledger, name: str) -> None:
    ledger.pins.add_pin(stored_pin(name))
    assert [pin.name for pin in ledger.pins.pins()] == [name]


@pytest.mark.parametrize("name", ["", "a@b", "a b", "a/b", "-a", "a.", "x" * 101, "漢字", "a\n", "\ud800", "é"])
def test_other_names_are_refused(ledger: Ledger, name: str) -> None:
    ledger.pins.add_pin(stored_pin("there"))
    with pytest.raises(PinNameError) as caught:
        ledger.pins.add_pin(stored_pin(name))
    str(caught.value).encode()
    with pytest.raises(PinNameError):
        ledger.pins.update_pin("there", stored_pin(name))
    assert ledger.pins.pins() == [stored_pin("there")]


def test_a_name_is_proposed(ledger: Ledger) -> None:
    with pytest.raises(PinNameError, match="for instance Resume-2026"):
        ledger.pins.add_pin(stored_pin("Résumé 2026"))


def test_a_name_is_one_pins_only(ledger: Ledger) -> None:
    ledger.pins.add_pin(stored_pin("rubric"))
    ledger.pins.add_pin(stored_pin("other"))
    with pytest.raises(PinExistsError):
        ledger.pins.add_pin(stored_pin("Rubric"))
    with pytest.raises(PinExistsError):
        ledger.pins.update_pin("other", stored_pin("RUBRIC"))
    ledger.pins.update_pin("rubric", stored_pin("Rubric"))
    assert [pin.name for pin in ledger.pins.pins()] == ["Rubric", "other"]


def test_a_pin_that_is_not_there(ledger: Ledger) -> None:
    with pytest.raises(UnknownPinError):
        ledger.pins.update_pin("x", stored_pin("y"))
    with pytest.raises(UnknownPinError):
        ledger.pins.remove_pin("x")
    with pytest.raises(UnknownPinError):
        ledger.pins.order_pins(["x"])


# -- sums --------------------------------------------------------------------------------------------------------------


def test_sums_by_pin_and_day(ledger: Ledger) -> None:
    ledger.pins.add_pin(stored_pin("rubric"))
    ledger.record(record(1, pin="rubric", at=NOW - DAY, saved_seconds=2.0))
    ledger.record(record(2, pin="rubric", saved_seconds=3.0))
    ledger.record(record(3, saved_seconds=0.5, cached_tokens=0))
    ledger.record(record(4, pin="never there", model="another", saved_seconds=0.25))
    found = ledger.savings(2)
    assert found.total == Sums(4, 3, 400, 240, 5.75, 1.0)
    assert [(part.pin, part.sums.requests, part.sums.saved_seconds) for part in found.by_pin] == [
        ("rubric", 2, 5.0),
        (None, 2, 0.75),
    ]
    by_day = [(part.pin, part.sums.saved_seconds) for part in found.by_day]
    assert by_day == [("rubric", 2.0), (None, 0.75), ("rubric", 3.0)]
    assert found.by_day[0].day < found.by_day[1].day == found.by_day[2].day
    assert ledger.savings(1).total.saved_seconds == 3.75
    assert ledger.pin_uses() == {"rubric": PinUse(2, 5.0, 3.0, NOW)}


def test_what_a_pin_saved_goes_with_it_when_it_is_renamed_and_not_to_the_next_of_its_name(ledger: Ledger) -> None:
    ledger.pins.add_pin(stored_pin("old"))
    ledger.record(record(1, pin="old"))
    ledger.pins.update_pin("old", stored_pin("new"))
    ledger.record(record(2, pin="new"))
    assert [part.pin for part in ledger.savings(1).by_pin] == ["new"]
    assert ledger.pin_uses()["new"].hits == 2
    ledger.pins.remove_pin("new")
    ledger.pins.add_pin(stored_pin("new"))
    assert ledger.pin_uses() == {}
    assert ledger.savings(1).by_pin[0].pin == "new"
    assert [found.pin for found in ledger.requests().requests] == ["new", "new"]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone of a process cannot be changed here")
@pytest.mark.parametrize(("zone", "days"), [("UTC0", 1), ("XXX-8", 2)])
def test_days_are_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str, days: int) -> None:
    noon = NOW - NOW % DAY + DAY / 2
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        try:
            with open_ledger(tmp_path, clock=lambda: noon + 5 * 3600) as ledger:
                ledger.record(record(1, at=noon))  # 20:00 eight hours to the east
                ledger.record(record(2, at=noon + 5 * 3600))
                assert len(ledger.savings(7).by_day) == days
        finally:
            patch.undo()
            time.tzset()


@pytest.mark.parametrize("odd", [-1.0, math.nan, math.inf, -math.inf])
def test_odd_numbers_never_spoil_the_sums(ledger: Ledger, odd: float) -> None:
    ledger.record(record(1, saved_seconds=odd, prefill_seconds=odd, at=odd, prompt_tokens=-5, generated_tokens=10**30))
    ledger.record(record(2))
    assert ledger.savings(1).total == Sums(2, 1, 100, 80, 1.5, 0.25)
    assert ledger.problem is None


# -- history -----------------------------------------------------------------------------------------------------------


def test_a_request_comes_back_as_it_was(ledger: Ledger) -> None:
    ledger.pins.add_pin(stored_pin("rubric"))
    sent = record(
        1,
        pin="rubric",
        queue_seconds=0.1,
        decode_seconds=0.2,
        ttft_seconds=0.3,
        error="engine_closed",
        miss_reason="never seen",
        finding={"kind": "clock", "position_tokens": 80, "segment": "system"},
    )
    ledger.record(sent)
    assert ledger.request("request-1") == sent
    assert ledger.requests() == RequestPage((sent,), None)
    assert sent.processed_tokens == 20
    assert ledger.request("request-2") is None


def test_pages(ledger: Ledger) -> None:
    for number in range(7):
        ledger.record(record(number))
    seen, before = [], None
    for _ in range(3):
        page = ledger.requests(3, before)
        seen.append([int(found.id.removeprefix("request-")) for found in page.requests])
        before = page.before
    assert seen == [[6, 5, 4], [3, 2, 1], [0]]
    assert before is None
    assert ledger.requests(3, "never there") == RequestPage((), None)


def test_the_history_has_bounds(tmp_path: Path) -> None:
    limits = Limits(requests=4, request_days=10, savings_days=20)
    with open_ledger(tmp_path, limits=limits) as ledger:
        for number, days in enumerate((30, 15, 5, 3, 2, 1, 0)):
            ledger.record(record(number, at=NOW - days * DAY))
        assert [found.id[-1] for found in ledger.requests().requests] == ["6", "5", "4", "3"]
        assert ledger.savings(1000).total.requests == 6
        assert ledger.savings(1000).days == 20
    with open_ledger(tmp_path, limits=limits, clock=lambda: NOW + 8.5 * DAY) as ledger:
        assert [found.id[-1] for found in ledger.requests().requests] == ["6", "5"]


def test_names_of_pins_are_forgotten_with_the_last_row_about_them(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.pins.add_pin(stored_pin(MARKER))
        ledger.record(record(1, pin=MARKER))
        ledger.pins.remove_pin(MARKER)
        ledger.flush()
        assert ledger.savings().by_pin[0].pin == MARKER
    assert files_with(tmp_path, MARKER)
    with open_ledger(tmp_path, clock=lambda: NOW + 1000 * DAY) as ledger:
        assert ledger.savings().by_pin == ()
    assert not files_with(tmp_path, MARKER)


def test_long_prompts_have_few_segments(ledger: Ledger) -> None:
    ledger.record(record(1, segments=tuple((f"message {number} (user)", number) for number in range(1000))))
    found = ledger.request("request-1")
    assert found is not None
    assert len(found.segments) == SEGMENTS
    assert sum(tokens for _, tokens in found.segments) == sum(range(1000))
    assert found.segments[-1] == ("message 999 (user)", 999)


# -- texts -------------------------------------------------------------------------------------------------------------

FINDING = {"kind": "edited", "segment": "system", "before": MARKER, "after": MARKER, "explanation": f"{MARKER} came"}


def with_texts(number: int = 1) -> Any:
    return record(number, prompt=f"{MARKER} prompt", reply=f"{MARKER} reply", finding=FINDING)


def test_no_text_is_written_without_history(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.record(with_texts())
        ledger.flush()
        assert not files_with(tmp_path, MARKER)
        found = ledger.request("request-1")
    assert not files_with(tmp_path, MARKER)
    assert found == record(1, finding={"kind": "edited", "segment": "system"})


def test_texts_are_written_while_history_is_on_and_only_then(tmp_path: Path) -> None:
    with open_ledger(tmp_path, history=True) as ledger:
        ledger.record(with_texts())
        assert ledger.request("request-1") == with_texts()
        assert files_with(tmp_path, MARKER)
        ledger.record(with_texts(2))
        ledger.keep_history(False)
        ledger.record(with_texts(3))
        ledger.flush()
        assert not files_with(tmp_path, MARKER)
        kept = {"kind": "edited", "segment": "system"}
        assert ledger.requests().requests == tuple(record(number, finding=kept) for number in (3, 2, 1))
        ledger.keep_history(True)
        ledger.record(with_texts(4))
    assert files_with(tmp_path, MARKER) == [FILE]
    with open_ledger(tmp_path) as ledger:
        assert not files_with(tmp_path, MARKER)
        assert len(ledger.requests().requests) == 4


def test_texts_are_cut(tmp_path: Path) -> None:
    with open_ledger(tmp_path, history=True, limits=Limits(text_characters=100)) as ledger:
        ledger.record(record(1, prompt="a" * 500 + "z" * 500, reply="\ud800" + "b" * 99))
        found = ledger.request("request-1")
    assert found is not None and found.prompt is not None
    assert len(found.prompt) == 100
    assert found.prompt.startswith("aaa") and CUT in found.prompt and found.prompt.endswith("zzz")
    assert found.reply == "?" + "b" * 99


def test_purging_leaves_sums_and_pins_and_no_text(tmp_path: Path) -> None:
    aside = tmp_path / "ledger.damaged-20260101-000000.sqlite3"
    aside.write_text(MARKER)
    with open_ledger(tmp_path, history=True) as ledger:
        ledger.pins.add_pin(stored_pin("rubric"))
        ledger.record(replace(with_texts(), pin="rubric"))
        ledger.flush()
        assert len(files_with(tmp_path, MARKER)) >= 2
        ledger.purge_history()
        assert not files_with(tmp_path, MARKER)
        assert not aside.exists()
        assert ledger.requests() == RequestPage((), None)
        assert ledger.savings(1).by_pin[0].pin == "rubric"
        assert ledger.pins.pins() == [stored_pin("rubric")]


def test_what_is_pinned_is_written_and_leaves_with_the_pin(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.pins.add_pin(stored_pin("a", f"{MARKER} of a" * 1000))
        ledger.pins.add_pin(stored_pin("b", f"{MARKER} of b"))
        ledger.flush()
        assert files_with(tmp_path, MARKER)
        ledger.pins.update_pin("a", stored_pin("a", "another text"))
        ledger.pins.remove_pin("b")
        ledger.flush()
        assert not files_with(tmp_path, MARKER)


# -- threads -----------------------------------------------------------------------------------------------------------


def test_requests_are_written_although_nobody_asks(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, add = threading.Event(), ledger_history.add

    def and_tell(connection: sqlite3.Connection, records: list[Served]) -> None:
        add(connection, records)
        written.set()

    monkeypatch.setattr(ledger_history, "add", and_tell)
    ledger.record(record())
    assert written.wait(WAIT_SECONDS)


def test_nobody_waits_for_a_file_that_is_locked(ledger: Ledger, tmp_path: Path) -> None:
    ledger.flush()
    other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ledger.pins.add_pin(stored_pin("rubric"))
    for number in range(100):
        ledger.record(record(number, pin="rubric"))
    (there,) = other.execute("SELECT count(*) FROM pins").fetchone()
    other.execute("ROLLBACK")
    other.close()
    assert there == 0  # all of this was done while the file could not be written
    assert ledger.savings(1).by_pin[0].sums.requests == 100
    assert ledger.problem is None


def test_many_threads(ledger: Ledger) -> None:
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            ledger.pins.add_pin(stored_pin(f"pin-{worker}"))
            for number in range(50):
                ledger.record(record(worker * 50 + number, pin=f"pin-{worker}"))
                if number % 10 == worker:
                    ledger.requests(5)
                    ledger.pins.update_pin(f"pin-{worker}", stored_pin(f"pin-{worker}", tokens=number))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert ledger.savings(1).total.requests == 300
    assert {name: use.hits for name, use in ledger.pin_uses().items()} == {f"pin-{worker}": 50 for worker in range(6)}


def test_a_ledger_that_is_closed(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path)
    ledger.record(record(1))
    ledger.close()
    ledger.close()
    ledger.record(record(2))
    with pytest.raises(LedgerError, match="closed"):
        ledger.requests()
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    with open_ledger(tmp_path) as ledger:
        assert ledger.requests().requests == (record(1),)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
def test_only_this_user_can_read_it(tmp_path: Path) -> None:
    home = tmp_path / "state"
    before = os.umask(0)
    try:
        with open_ledger(home) as ledger:
            ledger.record(record())
            ledger.flush()
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()}
    finally:
        os.umask(before)
    assert modes == {FILE: 0o600, f"{FILE}-wal": 0o600, f"{FILE}-shm": 0o600}
    assert stat.S_IMODE(home.stat().st_mode) == 0o700

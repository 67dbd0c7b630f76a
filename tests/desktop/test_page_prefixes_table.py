"""The table of prefixes: an index stays with its prefix, and a refresh tells only what has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QSignalSpy
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from pinfill_app.models.keyed_table import ROW_ROLE
from pinfill_app.models.prefix_columns import Column
from pinfill_app.models.prefix_row import PrefixRow, entry_rows, pin_rows
from pinfill_app.models.prefix_table import MOST_RANGES, PrefixTable
from pinfill_service.api.schemas.manage import Entry, Pin, PinProgressEvent
from tests.support.pages import english, request
from tests.support.prefixes import entry, pin, source

pytestmark = pytest.mark.usefixtures("english_numbers")
MANY = 5_000
DISPLAY = Qt.ItemDataRole.DisplayRole


@pytest.fixture
def english_numbers() -> Iterator[None]:
    with english():
        yield


def rows(pins: Sequence[Pin] = (), entries: Sequence[Entry] = (), at: float = 1_000.0) -> list[PrefixRow]:
    return pin_rows(pins, ()) + entry_rows(entries, at)


def many(count: int = MANY, **fields: Any) -> list[Entry]:
    return [entry(f"id{number}", f"prompt {number}", tokens=number, **fields) for number in range(count)]


class Told:
    """How often the model has told something."""

    def __init__(self, table: PrefixTable) -> None:
        signals = (table.modelReset, table.layoutChanged, table.rowsInserted, table.rowsRemoved, table.dataChanged)
        self._spies = [QSignalSpy(signal) for signal in signals]

    @property
    def counts(self) -> tuple[int, ...]:
        """(resets, layouts, insertions, removals, changes)"""
        return tuple(spy.count() for spy in self._spies)


def names(table: PrefixTable) -> list[str]:
    return [table.index(place, Column.NAME).data() for place in range(table.rowCount())]


def test_pins_come_first_and_an_entry_that_is_a_pin_is_not_shown_twice(qapp: QApplication) -> None:
    table = PrefixTable()
    table.show_rows(rows([pin("b"), pin("a")], [entry("1", "one", pin="a", pinned=True), entry("2", "two")]))
    assert names(table) == ["b", "a", "two"]


def test_cells_say_numbers_with_units_and_nothing_where_nothing_is_known(qapp: QApplication) -> None:
    table = PrefixTable()
    used = pin("used", sources=[source("/a/b.md"), source("C:\\x\\c.md")], shared_tokens=310)
    latest = (request("2", pin="used", saved_seconds=4.1), request("1", pin="used", saved_seconds=9.0))
    fresh = pin("fresh", hits=0, saved_seconds=0, saved_seconds_today=0, last_used=None, memory_bytes=0)
    table.show_rows(pin_rows([used, fresh], latest))
    cells = [[table.index(row, column).data() for column in Column if column is not Column.USED] for row in (0, 1)]
    assert cells[0] == ["used", "warm", "1,880", "87 MB", "310", "214", "8 min 2 s", "1 h 18 min", "4.1 s", "b.md + 1"]
    assert cells[1] == ["fresh", "warm", "1,880", "–", "–", "0", "–", "–", "–", "text"]  # noqa: RUF001
    assert table.index(1, Column.USED).data() == "–"  # noqa: RUF001


def test_nothing_is_told_when_nothing_has_changed(qapp: QApplication) -> None:
    table = PrefixTable()
    table.show_rows(rows([pin("a")], many()))
    told = Told(table)
    later = [each.model_copy(update={"idle_seconds": each.idle_seconds + 7.03}) for each in many()]
    table.show_rows(rows([pin("a")], later, at=1_007.0))
    assert told.counts == (0, 0, 0, 0, 0)


def test_one_change_among_5000_is_told_as_one(qapp: QApplication) -> None:
    table = PrefixTable()
    table.show_rows(rows([pin("a")], many()))
    told, changes = Told(table), QSignalSpy(table.dataChanged)
    entries = many()
    entries[1_234] = entries[1_234].model_copy(update={"hits": 4})
    table.show_rows(rows([pin("a")], entries))
    assert told.counts == (0, 0, 0, 0, 1)
    first, last = changes.at(0)[:2]
    assert (first.row(), last.row()) == (1_235, 1_235)
    assert table.index(1_235, Column.HITS).data() == "4"


@pytest.mark.parametrize("step", [2, 100])
def test_many_changes_and_another_order_are_told_in_a_handful_of_signals(qapp: QApplication, step: int) -> None:
    table = PrefixTable()
    table.show_rows(rows(entries=many()))
    told = Told(table)
    entries = [each for number, each in enumerate(many()) if number % step][::-1]
    entries += [entry(f"new{number}", "new", hits=number) for number in range(100)]
    table.show_rows(rows(entries=[each.model_copy(update={"hits": 9}) for each in entries]))
    resets, *others = told.counts
    assert resets == 0 and sum(others) <= 4 + MOST_RANGES
    assert [row.key[1] for row in table.rows] == [each.id for each in entries]


KEYS = st.lists(st.integers(0, 12), unique=True)


@settings(deadline=None, max_examples=60)
@given(steps=st.lists(st.tuples(KEYS, st.sampled_from([-1, *Column]), st.booleans(), st.sampled_from(["", "2"]))))
def test_an_index_stays_with_its_prefix_through_every_change(
    qapp: QApplication, steps: list[tuple[list[int], int, bool, str]]
) -> None:
    table = PrefixTable()
    QAbstractItemModelTester(table, QAbstractItemModelTester.FailureReportingMode.Fatal, table)
    kept: dict[str, QPersistentModelIndex] = {}
    for keys, column, descending, words in steps:
        table.sort(column, Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder)
        table.find(words)
        entries = [entry(str(key), f"p{key}", tokens=key % 3, hits=key % 5, client=None) for key in keys]
        table.show_rows(rows(entries=entries))
        shown = {str(key) for key in keys if words in f"p{key}"}
        assert {row.key[1] for row in table.rows} == shown
        for entry_id, index in list(kept.items()):
            assert index.isValid() == (entry_id in shown)
            if index.isValid():
                assert index.data(ROW_ROLE).key == ("entry", entry_id)
            else:
                del kept[entry_id]
        for place, row in enumerate(table.rows):
            kept.setdefault(row.key[1], QPersistentModelIndex(table.index(place, Column.NAME)))


def test_sorting_is_by_value_and_what_is_not_known_comes_last(qapp: QApplication) -> None:
    table = PrefixTable()
    sizes = {"small": 9, "large": 100, "middle": 10}
    pins = [pin(name, tokens=tokens, last_used=None if name == "middle" else tokens) for name, tokens in sizes.items()]
    table.show_rows(rows(pins))
    table.sort(Column.TOKENS)
    assert names(table) == ["small", "middle", "large"]
    for order, expected in (
        (Qt.SortOrder.AscendingOrder, ["small", "large", "middle"]),
        (Qt.SortOrder.DescendingOrder, ["large", "small", "middle"]),
    ):
        table.sort(Column.USED, order)
        assert names(table) == expected
    table.sort(-1)
    assert names(table) == list(sizes)


def test_a_search_looks_at_names_states_files_and_programs(qapp: QApplication) -> None:
    table = PrefixTable()
    pins = [pin("rubric", sources=[source("/home/me/Essays/v3.md")]), pin("old", state="stale", reason="v3.md changed")]
    table.show_rows(rows(pins, [entry("1", "You are Goose", client="goose/1.2")]))
    found = {}
    for words in ("RUBRIC", "essays v3", "stale", "goose/1", "smollm2-135m@old", "nowhere", ""):
        table.find(words)
        found[words] = names(table)
    assert found == {
        "RUBRIC": ["rubric"],
        "essays v3": ["rubric"],
        "stale": ["old"],
        "goose/1": ["You are Goose"],
        "smollm2-135m@old": ["old"],
        "nowhere": [],
        "": ["rubric", "old", "You are Goose"],
    }


def test_progress_is_shown_as_it_comes_and_told_for_its_row_only(qapp: QApplication) -> None:
    table = PrefixTable()
    table.show_rows(rows([pin("a", state="prefilling", done=100, total=1_000), pin("b")]))
    state = table.index(0, Column.STATE)
    assert state.data() == "10 %" and table.progress_of(table.rows[0]) == PinProgressEvent(
        name="a", done=100, total=1_000, seconds_left=None
    )
    changes = QSignalSpy(table.dataChanged)
    step = PinProgressEvent(name="a", done=480, total=1_000, seconds_left=8.2)
    table.show_progress({"a": step})
    table.show_progress({"a": step})
    assert state.data() == "48 %, 9 s left"
    assert [(change[0].row(), change[1].row()) for change in (changes.at(0),)] == [(0, 0)] and changes.count() == 1
    assert table.progress_of(table.rows[1]) is None
    table.show_progress({"a": step.model_copy(update={"done": 1_000, "seconds_left": 0.0})})
    assert state.data() == "100 %, finishing"


def test_hostile_names_are_shown_as_they_are_and_duplicates_once(qapp: QApplication) -> None:
    table = PrefixTable()
    twice = [entry("1", "<b>bold</b>\u202e"), entry("1", "again"), entry("2", "")]
    table.show_rows(rows([pin("a"), pin("a", tokens=3)], twice))
    assert names(table) == ["a", "again", "(no words)"]
    assert table.index(0, Column.TOKENS).data(DISPLAY) == "3"


def test_only_names_of_pins_can_be_edited_and_the_old_one_stays_until_the_service_says_so(qapp: QApplication) -> None:
    table = PrefixTable()
    table.show_rows(rows([pin("a")], [entry("1", "one")]))
    asked = QSignalSpy(table.rename_asked)
    editable = Qt.ItemFlag.ItemIsEditable
    assert [bool(table.index(place, Column.NAME).flags() & editable) for place in (0, 1)] == [True, False]
    assert not table.index(0, Column.TOKENS).flags() & editable
    table.setData(table.index(0, Column.NAME), "a")
    assert not table.setData(table.index(0, Column.NAME), "new name")
    assert asked.count() == 1 and list(asked.at(0)) == ["a", "new name"]
    assert names(table)[0] == "a"


def test_every_cell_is_read_out_with_its_title(qtbot: QtBot) -> None:
    table = PrefixTable()
    table.show_rows(rows([pin("a")]))
    spoken = table.index(0, Column.MEMORY).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Memory: 87 MB"

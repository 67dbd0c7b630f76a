"""Tables of keyed rows: whatever they show next, views keep their place, and hear only of what has changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from pinfill_app.models.keyed_table import Column, KeyedTable
from pinfill_app.widgets.table_view import TableView

Row = tuple[str, int]
COLUMNS: list[Column[Row]] = [
    Column("Key", lambda row: row[0], 5),
    Column("Number", lambda row: str(row[1]), None, True),
]
lists = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 2)), max_size=12)


def key(row: Row) -> str:
    return row[0]


def shown(table: KeyedTable[Row]) -> list[Row]:
    """As a view reads it."""
    cells = [[table.data(table.index(row, column)) for column in (0, 1)] for row in range(table.rowCount())]
    return [(name, int(number)) for name, number in cells]


@pytest.fixture(scope="module", autouse=True)
def application(qapp: QApplication) -> Iterator[None]:
    yield


@given(st.lists(lists, min_size=1, max_size=5))
def test_a_table_shows_what_it_was_given_and_indexes_stay_with_their_keys(steps: list[list[Row]]) -> None:
    table = KeyedTable(COLUMNS, key)
    tester = QAbstractItemModelTester(table, QAbstractItemModelTester.FailureReportingMode.Fatal)
    kept: dict[str, QPersistentModelIndex] = {}
    for rows in steps:
        table.show_rows(rows)
        first = {row[0]: row for row in reversed(rows)}
        assert shown(table) == [first[name] for name in dict.fromkeys(row[0] for row in rows)]
        for name, index in kept.items():
            assert table.row_of(name) == (index.row() if index.isValid() else None)
        kept = {row[0]: QPersistentModelIndex(table.index(place, 0)) for place, row in enumerate(table.rows)}
    tester.deleteLater()


@given(lists)
def test_nothing_is_told_when_nothing_has_changed(rows: list[Row]) -> None:
    table = KeyedTable(COLUMNS, key)
    table.show_rows(rows)
    told: list[str] = []
    for name in ("dataChanged", "rowsInserted", "rowsRemoved", "rowsMoved", "modelReset", "layoutChanged"):
        getattr(table, name).connect(lambda *_, name=name: told.append(name))
    table.show_rows(list(table.rows))
    assert told == []


def test_a_new_row_in_front_is_one_signal_and_the_selection_stays(qtbot: QtBot) -> None:
    table = KeyedTable(COLUMNS, key)
    table.show_rows([(str(number), 0) for number in range(500)])
    view = TableView(table, "Rows")
    qtbot.addWidget(view)
    view.show()
    assert view.choose("250") and not view.choose("absent")
    told: list[tuple[int, int]] = []
    chosen: list[Row | None] = []
    table.rowsInserted.connect(lambda _parent, first, last: told.append((first, last)))
    table.dataChanged.connect(lambda first, last, _roles: told.append((first.row(), last.row())))
    view.row_chosen.connect(lambda: chosen.append(view.chosen))
    table.show_rows([("new", 0), *table.rows[:-1]])
    assert told == [(0, 0)] and view.chosen == ("250", 0) and set(chosen) <= {("250", 0)}
    rows = list(table.rows)
    rows[251] = ("250", 7)
    table.show_rows(rows)
    assert told[1:] == [(251, 251)] and chosen[-1] == ("250", 7)

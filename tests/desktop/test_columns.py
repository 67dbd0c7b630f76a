"""The columns of tables as people arrange them: kept over a restart, given up where what was kept is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from pinfill_app.models.prefix_columns import Column
from pinfill_app.models.prefix_row import pin_rows
from pinfill_app.models.prefix_table import PrefixTable
from pinfill_app.settings import AppSettings
from pinfill_app.table_layout import TableLayout
from pinfill_app.widgets.column_view import FEWEST_ROWS, LEAST_REST
from pinfill_app.windows.activity import ActivityPage
from pinfill_app.windows.agents_page import AgentsPage
from pinfill_app.windows.models_page import ModelsPage
from pinfill_app.windows.page import Page
from pinfill_app.windows.prefixes_view import FIRST_HIDDEN, PrefixView
from pinfill_app.windows.savings import SavingsPage
from tests.support.pages import english, shown
from tests.support.prefixes import pin

ORDER = [Column.NAME, Column.USED, *(column for column in Column if column not in (Column.NAME, Column.USED))]


@pytest.fixture(autouse=True)
def english_numbers() -> Iterator[None]:
    with english():
        yield


def view_of(qtbot: QtBot, home: Path, width: int = 1_200) -> PrefixView:
    """As after a start, with two pins."""
    table = PrefixTable()
    table.show_rows(pin_rows([pin("few", tokens=1), pin("many", tokens=2)], ()))
    view = PrefixView(table)
    table.setParent(view)
    view.keep_columns(AppSettings(home), "prefixes")
    qtbot.addWidget(view)
    view.resize(width, 300)
    view.show()
    return view


def order_of(view: PrefixView) -> list[int]:
    return [view.horizontalHeader().logicalIndex(place) for place in range(len(Column))]


def names(view: PrefixView) -> list[str]:
    return [view.model().index(place, Column.NAME).data() for place in range(view.model().rowCount())]


def choose(menu: QMenu, words: str) -> None:
    next(action for action in menu.actions() if action.text() == words).trigger()


def test_order_widths_choice_and_sorting_are_kept_over_a_restart(qtbot: QtBot, home: Path) -> None:
    view = view_of(qtbot, home)
    header = view.horizontalHeader()
    header.moveSection(header.visualIndex(Column.USED), 1)
    header.resizeSection(Column.HITS, 180)
    view.sortByColumn(Column.TOKENS, Qt.SortOrder.DescendingOrder)
    choose(view.columns_menu(view), "Source")
    choose(view.columns_menu(view), "Shared")
    view.hide()
    again = view_of(qtbot, home)
    assert order_of(again) == ORDER and names(again) == ["many", "few"]
    assert abs(again.columnWidth(Column.HITS) - 180) <= 1
    assert [column for column in Column if again.isColumnHidden(column)] == [Column.SHARED, Column.LAST]
    assert again.horizontalHeader().sortIndicatorSection() == Column.TOKENS


def test_columns_are_as_at_first_again_when_that_is_asked_for(qtbot: QtBot, home: Path) -> None:
    view = view_of(qtbot, home)
    first = view.columns
    view.horizontalHeader().moveSection(3, 1)
    view.sortByColumn(Column.TOKENS, Qt.SortOrder.DescendingOrder)
    choose(view.columns_menu(view), "Source")
    choose(view.columns_menu(view), "As at first")
    assert view.columns == first and names(view) == ["few", "many"]
    view.hide()
    assert view_of(qtbot, home).columns == first


def test_the_header_of_another_font_has_columns_for_that_font(qtbot: QtBot, home: Path) -> None:
    view = view_of(qtbot, home)
    view.horizontalHeader().resizeSection(Column.HITS, 20 * view.fontMetrics().averageCharWidth())
    font = view.font()
    font.setPointSizeF(font.pointSizeF() * 2)
    view.setFont(font)
    assert view.columnWidth(Column.HITS) == 20 * view.fontMetrics().averageCharWidth()


@pytest.mark.parametrize("width", [300, 3_000])
def test_names_stay_readable_and_take_all_room_that_is_left(qtbot: QtBot, home: Path, width: int) -> None:
    view = view_of(qtbot, home, width)
    assert view.columnWidth(Column.NAME) >= LEAST_REST * view.fontMetrics().averageCharWidth()
    room = view.horizontalHeader().length() - view.viewport().width()
    assert view.horizontalScrollBar().maximum() == max(0, room) and (room > 0) == (width == 300)


def test_rows_stay_in_sight_with_every_font(qtbot: QtBot, home: Path) -> None:
    view = view_of(qtbot, home)
    for scale in (1, 2):
        font = view.font()
        font.setPointSizeF(font.pointSizeF() * scale)
        view.setFont(font)
        view.resize(view.minimumSizeHint())
        assert view.viewport().height() >= FEWEST_ROWS * view.rowHeight(0)


DAMAGED = [
    "",
    "nonsense",
    "[]",
    '{"order": [0, 1]}',  # of a version with other columns
    '{"order": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]}',
    '{"order": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "hidden": [0]}',
    '{"order": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "hidden": [11]}',
    '{"order": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "widths": {"2": 1e9}}',
    '{"order": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "widths": {"2": NaN}}',
    '{"order": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "sorted_by": 11}',
]


@pytest.mark.parametrize("text", DAMAGED)
def test_what_no_version_has_written_is_given_up(qtbot: QtBot, home: Path, text: str) -> None:
    AppSettings(home).set_table("prefixes", text)
    view = view_of(qtbot, home)
    assert order_of(view) == list(Column) and names(view) == ["few", "many"]
    assert tuple(column for column in Column if view.isColumnHidden(column)) == FIRST_HIDDEN


def test_a_file_that_was_damaged_is_given_up(qtbot: QtBot, home: Path) -> None:
    (home / "app.ini").write_bytes(b"[tables]\nprefixes=@ByteArray(\xff\0, 1, {\n")
    assert order_of(view_of(qtbot, home)) == list(Column)


numbers = st.integers(-2, 12)
layouts = st.fixed_dictionaries(
    {"order": st.permutations(list(Column)) | st.lists(numbers)},
    optional={
        "hidden": st.lists(numbers),
        "widths": st.dictionaries(numbers, st.floats() | numbers),
        "sorted_by": numbers,
        "descending": st.booleans(),
    },
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(layout=layouts)
def test_whatever_is_taken_can_be_shown(qtbot: QtBot, home: Path, layout: dict[str, object]) -> None:
    text = TableLayout.model_construct(**layout).model_dump_json(warnings=False)
    view = PrefixView(PrefixTable())
    AppSettings(home).set_table("prefixes", text)
    view.keep_columns(AppSettings(home), "prefixes")
    parsed = TableLayout.parse(text, len(Column))
    if parsed is not None:
        assert order_of(view) == list(parsed.order)
    assert not view.isColumnHidden(Column.NAME) and view.horizontalHeader().length() < 1_000_000
    view.deleteLater()


@pytest.mark.parametrize("kind", [ActivityPage, AgentsPage, ModelsPage, SavingsPage])
def test_every_other_table_keeps_its_columns_too(qtbot: QtBot, home: Path, kind: type[Page]) -> None:
    for hidden in (False, True):
        with shown(qtbot, kind, home) as made:
            view = made.page.view  # type: ignore[attr-defined]
            assert view.isColumnHidden(2) == hidden
            view.show_column(2, False)
            view.hide()

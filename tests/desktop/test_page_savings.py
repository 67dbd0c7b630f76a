"""The page of savings: sums, plots and a table of the same data, and its export."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from pinfill_app.models.savings_row import as_csv, by_pin, day_names, last_days, total
from pinfill_app.service_state import ServiceState
from pinfill_app.widgets.plot import ticks
from pinfill_app.windows.savings import MONTH, WEEK, SavingsPage
from pinfill_app.windows.savings_plots import MOST_PINS
from pinfill_service.api.schemas import manage
from tests.support.pages import Shown, english, shown

TODAY = date.today()
Page = Shown[SavingsPage]


def row(days_ago: int, pin: str | None, saved: float = 60.0, **fields: float) -> manage.SavingsByDay:
    known = {"requests": 10, "prompt_tokens": 1_000, "cached_tokens": 900, "prefill_seconds": 5.0} | fields
    day = (TODAY - timedelta(days=days_ago)).isoformat()
    return manage.SavingsByDay.model_validate({"day": day, "pin": pin, "saved_seconds": saved, **known})


def have(page: Page, *rows: manage.SavingsByDay) -> None:
    page.have(savings=manage.Savings(days=30, total=total(rows), by_pin=by_pin(rows), by_day=list(rows)))


@pytest.fixture
def page(qtbot: QtBot, home: Path) -> Iterator[Page]:
    with english(), shown(qtbot, SavingsPage, home) as made:
        yield made


def test_number_table_and_plots_tell_the_same(page: Page) -> None:
    have(page, row(0, "rubric", 7_200), row(0, None, 60), row(6, "rubric", 4_200), row(7, "rubric", 99_999))
    assert page.page.number.text() == "3 h 11 min of prefill saved this week"
    assert "30 requests; 90 % of 3,000 prompt tokens" in page.page.more.text()
    assert [(each.pin, each.saved_seconds) for each in page.page.table.rows] == [
        ("rubric", 7_200), (None, 60), ("rubric", 4_200),
    ]  # fmt: skip
    plots = page.page.plots
    assert plots is not None
    assert plots.days.tip_at(6.2, 1).splitlines()[1:] == ["rubric: 2 h 0 min", "not pinned: 1 min 0 s"]
    assert plots.days.tip_at(0, 1).endswith("rubric: 1 h 10 min")
    assert plots.days.tip_at(6.5, 1) == plots.days.tip_at(-2, 1) == ""
    cold = (7_200 + 4_200 + 10) / 20
    assert plots.pairs.tip_at(0, 0.1).splitlines() == [
        "rubric", f"without what is cached: {round(cold // 60)} min {round(cold % 60)} s", "with it: 0.5 s",
    ]  # fmt: skip
    assert plots.pairs.tip_at(0, 2) == ""


def test_a_month_is_a_choice_and_a_small_group_of_pins_has_colours(page: Page) -> None:
    have(page, row(20, "old"), *(row(0, f"pin {number}", 100 - number) for number in range(MOST_PINS + 3)))
    assert len(page.page.table.rows) == MOST_PINS + 3
    page.page.span.setCurrentIndex(page.page.span.findData(MONTH))
    assert len(page.page.table.rows) == MOST_PINS + 4 and "this month" in page.page.number.text()
    assert page.page.plots is not None
    names = page.page.plots.days.names()
    assert names == [f"pin {number}" for number in range(MOST_PINS)] + ["others"]
    colors = page.page.plots.days.colors()
    assert len({color.name() for color in colors}) == len(colors)


def test_what_is_shown_is_exported(qtbot: QtBot, page: Page, tmp_path: Path) -> None:
    have(page, row(0, "rubric, \"v3\"\n", 60.25), row(1, None), row(1, "=cmd()"), row(9, "old"))  # fmt: skip
    path = tmp_path / "saved.csv"
    page.page.export_to(str(path))
    qtbot.waitUntil(lambda: "export" in page.page.notices.texts)
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["pin"] for line in lines] == ['rubric, "v3"\n', "", "'=cmd()"]
    assert lines[0]["saved_seconds"] == "60.25" and lines[0]["day"] == TODAY.isoformat()
    assert sum(float(line["saved_seconds"]) for line in lines) == total(page.page.rows).saved_seconds


def test_an_export_that_fails_says_why(qtbot: QtBot, page: Page, tmp_path: Path) -> None:
    have(page, row(0, "rubric"))
    page.page.export_to(str(tmp_path / "absent" / "saved.csv"))
    qtbot.waitUntil(lambda: "No such file" in page.page.notices.texts.get("export", ""))
    page.page.export_to(str(tmp_path / "saved.csv"))
    qtbot.waitUntil(lambda: page.page.notices.texts.get("export") == "saved.csv is written.")


def test_an_empty_page_says_what_to_do(page: Page) -> None:
    assert page.page.empty.words == "Asking the service." and not page.page.export.isEnabled()
    have(page)
    assert "Nothing was saved yet" in page.page.empty.words
    have(page, row(WEEK, "old"))
    assert "last 7 days" in page.page.empty.words
    page.page.span.setCurrentIndex(page.page.span.findData(MONTH))
    assert page.page.empty.isHidden() and len(page.page.table.rows) == 1
    page.have(savings=None)
    page.say(ServiceState.FAILED)
    assert "not running" in page.page.empty.words


def test_another_theme_is_another_plot(page: Page) -> None:
    have(page, row(0, "rubric"), row(1, "handbook"), row(2, None))
    assert page.page.plots is not None
    before, picture = page.page.plots.days.colors()[0].name(), page.page.grab().toImage()
    palette = page.page.palette()
    palette.setColor(palette.ColorRole.Window, "#323232")
    palette.setColor(palette.ColorRole.Base, "#242424")
    page.page.setPalette(palette)
    assert page.page.plots.days.colors()[0].name() != before and page.page.grab().toImage() != picture


def test_the_plots_are_loaded_when_they_are_shown() -> None:
    program = "import sys, pinfill_app.windows.savings; print({'numpy', 'pyqtgraph'} & sys.modules.keys())"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True)
    assert done.stdout.split() == [b"set()"], done.stderr


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["a", "b", None]), st.floats(-5, 1e6)), max_size=20))
def test_sums_by_pin_and_in_all_are_of_the_same_days(drawn: list[tuple[int, str | None, float]]) -> None:
    rows = last_days([row(*each) for each in drawn], WEEK, TODAY)
    assert {each.day for each in rows} <= set(day_names(WEEK, TODAY))
    assert len(rows) == sum(days_ago < WEEK for days_ago, _, _ in drawn)
    assert sum(each.requests for each in by_pin(rows)) == total(rows).requests == 10 * len(rows)
    assert len(as_csv(rows).splitlines()) == 1 + len(rows)


@given(st.floats(1e-3, 1e6))
def test_ticks_are_few_round_and_within(most: float) -> None:
    places = [place for place, _ in ticks(most)]
    assert places[0] == 0 and places[-1] <= most * 1.001 and 3 <= len(places) <= 7
    assert len({text for _, text in ticks(most)}) == len(places)

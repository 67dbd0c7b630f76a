"""The page of prefixes on a scripted service: what it shows, what it asks, what it says."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QContextMenuEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from pinfill_app.commands import Output
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.models.prefix_columns import Column
from pinfill_app.service_state import ServiceState
from pinfill_app.theme import cached_color
from pinfill_app.widgets.memory_bar import MemoryBar
from pinfill_app.windows.pin_files_dialog import PinFilesDialog
from pinfill_app.windows.prefixes_removal import Removals
from pinfill_service.api.schemas.manage import Evicted, Unpinned, VerifyReport
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.pages import Asked, english, request, status
from tests.support.prefixes import Shown, entry, pin, shown, source

KEY = Qt.Key
PLAIN, CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def on(qtbot: QtBot, home: Path) -> Iterator[Shown]:
    with english(), shown(qtbot, home) as made:
        yield made


def refused(words: str, code: str | None = None) -> Failure:
    return Failure(FailureKind.REFUSED, words, 409, code)


def answers(on: Shown, method: str, what: str, answer: BaseModel | Output | Failure) -> None:
    on.client.answers[method, what] = lambda _: answer


def press(on: Shown, key: Qt.Key, modifier: Qt.KeyboardModifier = PLAIN) -> None:
    on.page.view.setFocus()
    QTest.keyClick(on.page.view, key, modifier)


def buttons(widget: QWidget) -> list[str]:
    found = [each for each in widget.findChildren(QPushButton) if each.isVisibleTo(widget)]
    return [each.text().replace("&", "") for each in found]


def click(qtbot: QtBot, widget: QWidget, words: str) -> None:
    qtbot.waitUntil(lambda: words in buttons(widget))  # a new one is shown a moment later
    next(each for each in widget.findChildren(QPushButton) if each.isVisible() and words in each.text()).click()


def said(on: Shown) -> dict[str, str]:
    return on.page.notices.texts


# -- showing -----------------------------------------------------------------------------------------------------------


def test_an_empty_page_says_what_to_do(qtbot: QtBot, on: Shown) -> None:
    assert on.page.empty.words.startswith("Nothing pinned yet. Drop a document here")
    assert buttons(on.page.empty) == ["Pin a document...", "Pin a prompt..."]
    on.have(status=status(None))
    assert on.page.empty.words.startswith("No model is loaded.")
    click(qtbot, on.page.empty, "Choose a model")
    assert on.pages == [("models", {})]
    on.say(ServiceState.LOADING)
    assert "loading the model" in on.page.empty.words
    assert buttons(on.page.empty) == []
    on.say(ServiceState.FAILED)
    assert "not running (failed)" in on.page.empty.words
    qtbot.waitUntil(lambda: buttons(on.page.empty) == ["Start the service"])
    on.say(ServiceState.READY)
    on.have_prefixes([pin("a")])
    assert not on.page.empty.isVisible() and on.page.view.isVisible() and on.page.detail.isVisible()
    on.page.bar.search.setText("nowhere")
    assert on.page.empty.words == 'Nothing here has all of these words: "nowhere".'
    click(qtbot, on.page.empty, "Clear the search")
    assert on.names == ["a"] and on.page.view.isVisible()


def test_selection_current_row_and_scroll_position_survive_refreshes(qtbot: QtBot, on: Shown) -> None:
    entries = [entry(str(number), f"prompt {number}") for number in range(200)]
    on.have_prefixes([pin("a")], entries)
    on.select("prompt 120", "prompt 121")
    bar = on.page.view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    at = bar.value()
    assert at > 0
    gone = [each.model_copy(update={"hits": each.hits + 1}) for each in entries if each.id != "150"]
    on.have_prefixes([pin("a"), pin("b")], gone)
    assert [row.name for row in on.page.view.selected_rows] == ["prompt 120", "prompt 121"]
    assert on.page.view.currentIndex().data() == "prompt 121"
    assert bar.value() == at
    on.have_prefixes(entries=[each for each in gone if each.id != "120"])
    assert [row.name for row in on.page.view.selected_rows] == ["prompt 121"]


def test_a_hidden_page_does_nothing_until_it_is_shown(qtbot: QtBot, on: Shown) -> None:
    on.page.hide()
    on.have_prefixes([pin("a")])
    assert on.names == []
    on.page.show()
    assert on.names == ["a"]


def test_the_details_say_what_the_selected_prefix_is_and_offer_what_can_be_done(qtbot: QtBot, on: Shown) -> None:
    rubric = pin("rubric", sources=[source("/a/v3.md"), source("/a/w.md")], shared_tokens=310, state="stale")
    other = pin("other", use_as=None, model="qwen3")
    on.have_prefixes([rubric, other], [entry("1", "You are Goose"), entry("2", "busy", in_use=True)])
    offered = {}
    for name in ("rubric", "other", "You are Goose", "busy"):
        on.select(name)
        offered[name] = buttons(on.page.detail)
    assert offered == {
        "rubric": ["Copy", "Verify", "Refresh", "Rename", "Reveal", "Unpin"],
        "other": ["Refresh", "Rename", "Unpin"],
        "You are Goose": ["Pin this...", "Evict"],
        "busy": ["Pin this..."],
    }
    on.select("rubric", "You are Goose")
    assert buttons(on.page.detail) == ["Verify", "Refresh", "Unpin and evict"]
    words = " ".join(label.accessibleName() for label in on.page.detail.findChildren(QWidget))
    assert "2 selected" in words and "2,520 tokens" in words and "116 MB in memory" in words


def test_the_details_say_what_cold_means(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("rubric", state="cold")])
    on.select("rubric")
    words = " ".join(label.accessibleName() for label in on.page.detail.findChildren(QWidget))
    assert "cold" in words and "the next request reads it from the disk" in words


def test_light_and_dark_repaint_icons(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("a")])

    def color() -> int:
        icon = on.page.table.index(0, Column.NAME).data(Qt.ItemDataRole.DecorationRole)
        image = icon.pixmap(24, 24).toImage()
        return max(
            image.pixelColor(x, y).lightness()
            for x in range(24)
            for y in range(24)
            if image.pixelColor(x, y).alpha() > 200
        )

    before = QApplication.palette()
    try:
        QApplication.setPalette(QPalette(Qt.GlobalColor.black))
        qtbot.waitUntil(lambda: color() > 200)
        QApplication.setPalette(QPalette(Qt.GlobalColor.white))
        qtbot.waitUntil(lambda: color() < 50)
    finally:
        QApplication.setPalette(before)


def test_the_memory_bar_says_its_numbers_and_is_gone_without_a_model(qtbot: QtBot, on: Shown) -> None:
    bar = on.page.findChild(MemoryBar)
    assert bar.isVisible()
    assert bar.accessibleDescription() == "pinned 412 MB, cached 230 MB, free 1.4 GB of 2.0 GB"

    def share(color: QColor) -> float:
        image = bar.grab().toImage()
        row = [image.pixelColor(x, bar._bar_height() // 2) for x in range(image.width())]
        return sum(pixel == color for pixel in row) / len(row)

    assert share(cached_color(bar.palette())) == pytest.approx(412 / 2_000, abs=0.01)
    on.have(status=status(None))
    assert not bar.isVisible()


# -- keyboard ----------------------------------------------------------------------------------------------------------


def test_everything_can_be_reached_with_the_keyboard(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("a")])
    on.select("a")
    QTest.keyClick(on.page, KEY.Key_F, CONTROL)
    assert on.page.bar.search.hasFocus()
    on.page.view.clearSelection()
    QTest.keyClick(on.page.bar.search, KEY.Key_Return)
    assert on.page.view.hasFocus() and [row.name for row in on.page.view.selected_rows] == ["a"]
    QTest.keyClick(on.page, KEY.Key_F, CONTROL)
    reached = set()
    for _ in range(12):
        QTest.keyClick(QApplication.focusWidget(), KEY.Key_Tab)
        widget = QApplication.focusWidget()
        reached.add(widget.text().replace("&", "") if isinstance(widget, QPushButton) else type(widget).__name__)
    assert {"Pin file...", "Pin text...", "More", "PrefixView", "Copy", "Verify", "Rename", "Unpin"} <= reached


def test_the_menu_key_opens_a_menu_with_what_is_possible(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("a", sources=[source("/a/b.md")])], [entry("1", "one")])
    opened = []
    for name in ("a", "one"):
        on.select(name)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())
        QApplication.sendEvent(on.page.view.viewport(), event)
        (menu,) = [each for each in on.page.findChildren(QMenu) if each.isVisible()]
        opened.append([action.text().replace("&", "") for action in menu.actions() if action.text()])
        menu.close()
        qtbot.waitUntil(lambda: not any(each.isVisible() for each in on.page.findChildren(QMenu)))
    auto = "Refresh by itself when a file changes"
    assert opened == [
        ["Copy model name", "Verify", "Refresh", auto, "Rename", "Reveal", "Unpin", "Columns"],
        ["Pin this...", "Evict", "Columns"],
    ]


def test_columns_can_be_chosen(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("a")])
    assert on.page.view.isColumnHidden(Column.SOURCE)
    menu = on.page.view.columns_menu(on.page)
    next(action for action in menu.actions() if action.text() == "Source").trigger()
    assert not on.page.view.isColumnHidden(Column.SOURCE)


# -- actions -----------------------------------------------------------------------------------------------------------


def test_a_model_name_is_copied(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("a")])
    on.select("a")
    press(on, KEY.Key_C, CONTROL)
    assert QGuiApplication.clipboard().text() == "smollm2-135m@a"
    assert "smollm2-135m@a" in said(on)["copied"]


@pytest.mark.parametrize(
    ("typed", "sent"), [("essays", "essays"), ("Essay rubric, v3!", "Essay-rubric-v3"), ("Über", "Uber"), ("a", None)]
)
def test_a_pin_is_renamed_in_its_row(qtbot: QtBot, on: Shown, typed: str, sent: str | None) -> None:
    on.client.answers["PATCH", "pins"] = lambda asked: pin(str(asked.body["name"]))
    on.have_prefixes([pin("a")])
    on.select("a")
    press(on, KEY.Key_F2)
    editor = on.page.view.findChild(QLineEdit)
    editor.setText(typed)
    QTest.keyClick(editor, KEY.Key_Return)
    qtbot.waitUntil(lambda: on.page.view.state() is not on.page.view.State.EditingState)
    if sent is None:
        assert on.client.changes() == []
    else:
        qtbot.waitUntil(lambda: "renamed" in said(on))
        assert Asked("PATCH", ("pins", "a"), {"name": sent}) in on.client.asked
        assert f"smollm2-135m@{sent}" in said(on)["renamed"]


def test_a_name_of_no_letters_is_refused_with_the_reason(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("a")])
    on.page.table.rename_asked.emit("a", "评分标准")
    assert "needs Latin letters or digits" in said(on)["failure"] and on.client.changes() == []


def test_pins_are_refreshed_one_after_another_by_a_process_that_reads_their_files(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("-a", sources=[source("/x")]), pin("b"), pin("c", sources=[source("/y")])])
    answers(on, "RUN", "pins", refused("/x is gone. Put it back."))
    answers(on, "POST", "pins", pin("b"))
    on.page.view.selectAll()
    press(on, KEY.Key_F5)
    assert len(on.client.changes()) == 1
    qtbot.waitUntil(lambda: len(on.client.changes()) == 3)
    assert on.client.changes() == [
        ("RUN", "pins", "refresh", "--no-wait", "--", "-a"),
        ("POST", "pins", "b", "refresh"),
        ("RUN", "pins", "refresh", "--no-wait", "--", "c"),
    ]
    qtbot.waitUntil(lambda: said(on).get("failure", "").startswith("c could not"))
    assert said(on)["failure"] == "c could not be refreshed. /x is gone. Put it back."
    assert "refresh" not in said(on)


def test_verifying_tells_the_outcome_of_each(qtbot: QtBot, on: Shown) -> None:
    def report(asked: Asked) -> BaseModel | Failure:
        if asked.path[1] == "c":
            return refused("The pin c is cold: it can be verified once it is warm.")
        return VerifyReport(
            name=asked.path[1],
            tokens_compared=16,
            greedy_equal=asked.path[1] == "a",
            largest_difference=0.25,
            prompt_tokens=1_880,
            cached_tokens=1_879,
            cold_seconds=6.2,
            cached_seconds=0.1,
        )

    on.client.answers["POST", "pins"] = report
    on.have_prefixes([pin("a"), pin("b"), pin("c")])
    on.page.view.selectAll()
    on.page.actions_of_rows.verify.trigger()
    assert said(on)["verify"].startswith("Comparing a with a cold run")
    assert "about 6.2 s, begun at " in said(on)["verify"] and said(on)["verify"].endswith(", 2 more to go.")
    qtbot.waitUntil(lambda: said(on)["verify"].startswith("a is equal"))
    first, second, third = said(on)["verify"].splitlines()
    assert first == "a is equal to a cold run: 16 tokens compared, first word after 0.1 s instead of 6.2 s."
    assert second.startswith("b is NOT equal to a cold run (log probabilities differ by 0.25)")
    assert third == "c could not be verified. The pin c is cold: it can be verified once it is warm."


def test_refreshing_by_itself_is_turned_on_for_all_that_are_selected(qtbot: QtBot, on: Shown) -> None:
    answers(on, "PATCH", "pins", pin("a"))
    on.have_prefixes([pin("a", sources=[source("/x")], auto_refresh=True), pin("b", sources=[source("/y")]), pin("c")])
    on.page.view.selectAll()
    assert not on.page.actions_of_rows.auto_refresh.isChecked()
    on.page.actions_of_rows.auto_refresh.trigger()
    assert on.client.asked == [Asked("PATCH", ("pins", name), {"auto_refresh": True}) for name in ("a", "b")]


def test_revealing_opens_the_folder_and_says_when_the_file_is_gone(
    qtbot: QtBot, on: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        "pinfill_app.reveal.QDesktopServices.openUrl", lambda url: opened.append(url.toLocalFile()) or True
    )
    monkeypatch.setattr("pinfill_app.reveal.sys.platform", "linux")
    there = tmp_path / "there.md"
    there.write_text("x")
    sources = {"there": str(there), "gone": str(tmp_path / "gone.md"), "relative": "there.md"}
    on.have_prefixes([pin(name, sources=[source(path)]) for name, path in sources.items()])
    for name in sources:
        on.select(name)
        on.page.actions_of_rows.reveal.trigger()
        if name == "there":
            qtbot.waitUntil(lambda: opened == [str(tmp_path)])
        else:
            qtbot.waitUntil(lambda path=sources[name]: f"{path} is gone" in said(on).get("failure", ""))
    assert opened == [str(tmp_path)]


# -- giving up ---------------------------------------------------------------------------------------------------------


def gone(asked: Asked) -> BaseModel:
    if asked.path[0] == "pins":
        return Unpinned(name=asked.path[1], tokens=1, prefill_seconds=None)
    return Evicted(entries=1)


@pytest.fixture
def removing(on: Shown) -> Shown:
    """Two pins and three entries, one of them in use; whatever is asked to go, goes."""
    for method, what in (("DELETE", "pins"), ("DELETE", "entries"), ("POST", "entries")):
        on.client.answers[method, what] = gone
    on.have_prefixes([pin("a"), pin("b")], [entry("1", "one"), entry("2", "two"), entry("3", "three", in_use=True)])
    return on


def test_nothing_is_sent_while_it_can_be_undone_and_undo_leaves_everything(qtbot: QtBot, removing: Shown) -> None:
    on = removing
    on.select("a", "one", "three")
    press(on, KEY.Key_Delete)
    assert on.page.removals.leaving == {("pin", "a"), ("entry", "1")}
    words = said(on)["removal"]
    assert (
        words
        == "1 pinned and 1 cached prefixes will be given up in 10 s. Your files stay. Needs 7.6 s of prefill next time."
    )
    states = {row.name: on.page.table.index(place, Column.STATE).data() for place, row in enumerate(on.page.table.rows)}
    assert states == {"a": "unpinned soon", "b": "warm", "one": "evicted soon", "two": "cached", "three": "in use"}
    press(on, KEY.Key_Z, CONTROL)
    assert on.page.removals.leaving == frozenset() and "removal" not in said(on)
    assert on.client.changes() == [] and on.page.table.index(0, Column.STATE).data() == "warm"
    on.page.removals.send()
    assert on.client.changes() == []


def test_after_a_while_it_is_sent(qtbot: QtBot, removing: Shown) -> None:
    on = removing
    quick = Removals(on.context, on.page.notices, seconds=0.02)
    quick.start(on.page.table.rows[:1])
    assert "a will be unpinned in 0.02 s. Your files stay" in said(on)["removal"]
    qtbot.waitUntil(lambda: on.client.changes() == [("DELETE", "pins", "a")])
    qtbot.waitUntil(lambda: "removal" not in said(on))


def test_the_next_removal_sends_the_one_before(qtbot: QtBot, removing: Shown) -> None:
    on = removing
    for name in ("a", "one"):
        on.select(name)
        press(on, KEY.Key_Delete)
    qtbot.waitUntil(lambda: on.client.changes() == [("DELETE", "pins", "a")])
    assert on.page.removals.leaving == {("entry", "1")}


def test_what_is_gone_by_then_is_not_asked_for_and_all_that_is_unpinned_goes_at_once(
    qtbot: QtBot, removing: Shown
) -> None:
    on = removing
    on.page.view.selectAll()
    press(on, KEY.Key_Delete)
    on.have_prefixes([pin("b")])
    on.page.removals.send()
    qtbot.waitUntil(lambda: len(on.client.changes()) == 2)
    assert on.client.changes() == [("POST", "entries", "evict-unpinned"), ("DELETE", "pins", "b")]


def test_of_many_the_selected_ones_go_one_by_one_and_refusals_are_told_once(qtbot: QtBot, removing: Shown) -> None:
    on = removing
    on.have_prefixes(entries=[entry(str(number), f"e{number}") for number in range(6)])
    refusals = {
        "1": refused("The entry 1 is part of a pin, or in use.", "entry_protected"),
        "2": refused("gone", "entry_not_found"),
    }
    on.client.answers["DELETE", "entries"] = lambda asked: refusals.get(asked.path[1], Evicted(entries=1))
    on.select("e0", "e1", "e2", "e3")
    press(on, KEY.Key_Delete)
    on.page.removals.send()
    qtbot.waitUntil(lambda: "refusals" in said(on))
    assert on.client.changes() == [("DELETE", "entries", str(number)) for number in range(4)]
    assert said(on)["refusals"] == "1 of 4 could not be given up. The entry 1 is part of a pin, or in use."


# -- the ways to pin ---------------------------------------------------------------------------------------------------


def mime(paths: list[Path] | None = None, text: str | None = None) -> QMimeData:
    data = QMimeData()
    if paths is not None:
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    if text is not None:
        data.setText(text)
    return data


def drop(on: Shown, data: QMimeData) -> bool:
    """Drags it on the page and lets go; whether it was taken."""
    where, action, left = QPoint(300, 300), Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    with warnings.catch_warnings():  # only this one is not abstract
        warnings.simplefilter("ignore", DeprecationWarning)
        enter = QDragEnterEvent(where, action, data, left, PLAIN)
    enter.setAccepted(False)
    QApplication.sendEvent(on.page, enter)
    if enter.isAccepted():
        QApplication.sendEvent(on.page, QDropEvent(QPointF(where), action, data, left, PLAIN))
    return enter.isAccepted()


def test_files_that_are_dropped_are_asked_about_in_their_order(qtbot: QtBot, on: Shown, tmp_path: Path) -> None:
    paths = [tmp_path / "b.md", tmp_path / "a.md"]
    for path in paths:
        path.write_text("words")
    assert drop(on, mime(paths))
    (dialog,) = on.page.findChildren(PinFilesDialog)
    qtbot.waitUntil(lambda: [given.path for given in dialog.given] == paths)
    dialog.reject()


def test_what_is_not_on_this_machine_is_not_taken(qtbot: QtBot, on: Shown) -> None:
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/a.pdf")])
    assert not drop(on, data) and not drop(on, QMimeData())


def test_the_tray_and_other_pages_open_what_they_hint_at(qtbot: QtBot, on: Shown) -> None:
    on.have_prefixes([pin("a"), pin("b")])
    on.page.shown(select="b")
    assert [row.name for row in on.page.view.selected_rows] == ["b"]
    on.page.bar.search.setFocus()
    on.page.shown(unknown=1)
    assert on.page.bar.search.hasFocus()  # whoever goes through the navigation by keys stays in it


def test_recent_requests_are_offered(qtbot: QtBot, on: Shown) -> None:
    assert on.page.bar.requests_menu(QMenu(on.page)).isEmpty()
    on.store.requests = tuple(request(f"r{number}", client="a&b") for number in range(30))
    asked: list[Any] = []
    on.client.answers["GET", "requests"] = lambda ask: asked.append(ask.path) or refused("It is gone. Send it again.")
    menu = on.page.bar.requests_menu(QMenu(on.page))
    assert len(menu.actions()) == 10 and "a&&b - 12,452 tokens" in menu.actions()[0].text()
    menu.actions()[3].trigger()
    qtbot.waitUntil(lambda: "pin" in said(on))
    assert asked == [("requests", "r3")]
    assert said(on)["pin"] == "The request cannot be pinned. It is gone. Send it again."


def test_requests_that_used_no_pin_leave_the_table_as_it_is(
    qtbot: QtBot, on: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    on.have_prefixes([pin("a")], [entry("1", "one")])
    shows: list[int] = []
    show_rows = on.page.table.show_rows
    monkeypatch.setattr(on.page.table, "show_rows", lambda rows: (shows.append(1), show_rows(rows)))
    on.have(requests=(request("r1"), request("r2")))
    qtbot.waitUntil(lambda: not on.page._requests_timer.isActive(), timeout=LIMIT_MILLISECONDS)
    assert shows == []
    on.have(requests=(request("r3", pin="a", saved_seconds=4.0),))
    qtbot.waitUntil(lambda: shows == [1], timeout=LIMIT_MILLISECONDS)
    assert on.page.table.rows[0].saved_last == 4.0


def test_titles_do_not_ask_rows_whether_they_are_selected(on: Shown) -> None:
    on.have_prefixes([pin("a"), pin("b")])
    on.page.view.selectAll()
    assert len(on.page.view.selected_rows) == 2
    assert not on.page.view.horizontalHeader().selectionModel().hasSelection()

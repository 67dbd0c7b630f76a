"""The dialogs that pin something: what they ask for, what they send, and what happens when that is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLabel, QLineEdit, QListWidget, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from pinfill_app.commands import Output
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.pin_names import suggested_name, typed_name
from pinfill_app.windows import pin_text_dialog
from pinfill_app.windows.pin_dialog import PinDialog
from pinfill_app.windows.pin_files_dialog import PinFilesDialog
from pinfill_app.windows.pin_prefix_dialogs import PinEntryDialog, PinRequestDialog
from pinfill_app.windows.pin_text_dialog import PinTextDialog
from pinfill_service.api.schemas.manage import RequestDetail, RequestSegment
from tests.support.pages import Asked, english, request
from tests.support.prefixes import Shown, entry, pin, shown

D = TypeVar("D", bound=PinDialog)


@pytest.fixture
def on(qtbot: QtBot, home: Path) -> Iterator[Shown]:
    with english(), shown(qtbot, home) as made:
        yield made


def opened(on: Shown, kind: type[D]) -> D:
    (dialog,) = [each for each in on.page.findChildren(kind) if each.isVisible()]
    return dialog


def button(dialog: PinDialog, text: str) -> QPushButton:
    return next(each for each in dialog.findChildren(QPushButton) if each.text().replace("&", "") == text)


def name_field(dialog: PinDialog) -> QLineEdit:
    return dialog.findChild(QLineEdit)


def hint(dialog: PinDialog) -> str:
    return " ".join(label.text() for label in dialog.findChildren(QLabel))


def press_pin(dialog: PinDialog) -> None:
    assert button(dialog, "Pin").isEnabled()
    button(dialog, "Pin").click()


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Grading rubric v3", "grading-rubric-v3"),
        ("You grade essays. Be kind.", "you-grade-essays-be"),
        ("Ärzte & Ämter", "arzte-amter"),
        ("  ..x..  ", "x"),
        ("评分", ""),
        ("taken", "taken-3"),
        ("a" * 300, "a" * 60),
    ],
)
def test_a_name_is_suggested(text: str, name: str) -> None:
    assert suggested_name(text, ["Taken", "taken-2"]) == name
    assert typed_name(name) == name


def test_a_suggestion_gives_way_to_what_a_person_types(qtbot: QtBot, on: Shown) -> None:
    on.page.pinning.text("First words of it")
    dialog = opened(on, PinTextDialog)
    assert name_field(dialog).text() == "first-words-of-it"
    name_field(dialog).clear()
    QTest.keyClicks(name_field(dialog), "My name")
    dialog.put("Other words")
    assert name_field(dialog).text() == "My name" and dialog.name == "My-name"
    assert "smollm2-135m@My-name" in hint(dialog)
    dialog.reject()


@pytest.mark.parametrize(
    ("typed", "words"), [("", "Give it a name"), ("评分", "Latin letters"), ("RUBRIC", "There is a pin rubric already")]
)
def test_a_name_that_cannot_be_is_explained(qtbot: QtBot, on: Shown, typed: str, words: str) -> None:
    on.have_prefixes([pin("rubric")])
    on.page.pinning.text("Some text")
    dialog = opened(on, PinTextDialog)
    name_field(dialog).setText(typed)
    assert words in hint(dialog) and not button(dialog, "Pin").isEnabled()
    dialog.accept()
    assert dialog.isVisible() and on.client.changes() == []
    on.have_prefixes([])
    name_field(dialog).setText("rubric")
    assert button(dialog, "Pin").isEnabled()
    dialog.reject()


# -- texts -------------------------------------------------------------------------------------------------------------


def test_a_text_is_pinned_and_its_row_is_selected_once_it_is_there(qtbot: QtBot, on: Shown) -> None:
    on.client.answers["POST", "pins"] = lambda asked: pin(str(asked.body["name"]))
    on.page.pinning.text("  Grade it.\n")
    dialog = opened(on, PinTextDialog)
    assert "12 characters" in hint(dialog)
    press_pin(dialog)
    assert on.client.asked == [Asked("POST", ("pins",), {"name": "grade-it", "text": "  Grade it.\n"})]
    qtbot.waitUntil(lambda: "pin" not in on.page.notices.texts)
    on.have_prefixes([pin("a"), pin("grade-it", state="queued")])
    qtbot.waitUntil(lambda: [row.name for row in on.page.view.selected_rows] == ["grade-it"])


def test_a_refusal_is_told_and_what_was_typed_is_not_lost(qtbot: QtBot, on: Shown) -> None:
    why = "The pin has 9,000 tokens. The model's context is 8,192 tokens: shorten it."
    on.client.answers["POST", "pins"] = lambda _: Failure(FailureKind.REFUSED, why, 400)
    on.page.pinning.text("Long text")
    press_pin(opened(on, PinTextDialog))
    qtbot.waitUntil(lambda: "pin" in on.page.notices.texts)
    assert on.page.notices.texts["pin"] == f"long-text was not pinned. {why}"
    again = next(each for each in on.page.notices.findChildren(QPushButton) if "Change" in each.text())
    again.click()
    assert opened(on, PinTextDialog).text == "Long text" and "pin" not in on.page.notices.texts
    opened(on, PinTextDialog).reject()


def test_an_empty_text_and_one_that_is_far_too_long_cannot_be_pinned(
    qtbot: QtBot, on: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pin_text_dialog, "MOST_CHARACTERS", 100)
    on.page.pinning.text(" \n ")
    dialog = opened(on, PinTextDialog)
    name_field(dialog).setText("x")
    assert "Type or paste" in hint(dialog) and not button(dialog, "Pin").isEnabled()
    QGuiApplication.clipboard().setText("y" * 5_000)
    button(dialog, "Paste clipboard").click()
    assert "too long: at most 100 characters" in hint(dialog) and not button(dialog, "Pin").isEnabled()
    assert len(dialog.findChild(QPlainTextEdit).toPlainText()) <= 101
    dialog.reject()


def test_the_clipboard_is_pinned_with_its_key(qtbot: QtBot, on: Shown, tmp_path: Path) -> None:
    on.have_prefixes([pin("a")])
    QGuiApplication.clipboard().setText("From the clipboard")
    on.page.view.setFocus()
    QTest.keyClick(on.page.view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert opened(on, PinTextDialog).text == "From the clipboard"
    opened(on, PinTextDialog).reject()


def test_what_is_typed_goes_where_something_is_missing(qtbot: QtBot, on: Shown) -> None:
    on.page.pinning.text()
    dialog = opened(on, PinTextDialog)
    assert dialog.focusWidget() is dialog.findChild(QPlainTextEdit)
    dialog.reject()
    on.page.pinning.text("Be brief.")
    dialog = opened(on, PinTextDialog)
    assert dialog.focusWidget() is name_field(dialog)
    dialog.reject()


# -- entries and requests ----------------------------------------------------------------------------------------------


def test_an_entry_is_pinned(qtbot: QtBot, on: Shown) -> None:
    on.client.answers["POST", "pins"] = lambda asked: pin(str(asked.body["name"]))
    on.have_prefixes([], [entry("e1", "You are <b>Goose</b>")])
    on.select("You are <b>Goose</b>")
    on.page.actions_of_rows.pin.trigger()
    dialog = opened(on, PinEntryDialog)
    labels = dialog.findChildren(QLabel)
    (shown_words,) = [label for label in labels if "<b>" in label.text()]
    assert shown_words.textFormat() is Qt.TextFormat.PlainText
    press_pin(dialog)
    assert on.client.asked == [Asked("POST", ("pins",), {"name": "you-are-b-goose-b", "entry_id": "e1"})]


def detail(*labels: str, can_be_pinned: bool = True) -> RequestDetail:
    segments = [RequestSegment(label=label, tokens=100) for label in labels]
    more: dict[str, Any] = {"text": "x", "compared_with": None, "compared_text": None, "can_be_pinned": can_be_pinned}
    return RequestDetail(**request("r1").model_dump(), segments=segments, **more)


CONVERSATION = ("system", "tools", "message 1 (user)", "message 2 (assistant)", "message 3 (user)", "generation prompt")


@pytest.mark.parametrize(
    ("labels", "up_to", "chosen", "name"),
    [
        (CONVERSATION, None, "tools", "claude-code-tools"),
        (CONVERSATION, "message 1 (user)", "message 1 (user)", "claude-code"),
        (CONVERSATION, "no such", "tools", "claude-code-tools"),
        (CONVERSATION[2:], None, "message 2 (assistant)", "claude-code"),
        (("message 1 (user)", "generation prompt"), None, "message 1 (user)", "claude-code"),
    ],
)
def test_a_request_is_pinned_up_to_a_segment(
    qtbot: QtBot, on: Shown, labels: tuple[str, ...], up_to: str | None, chosen: str, name: str
) -> None:
    on.client.answers["GET", "requests"] = lambda _: detail(*labels)
    on.client.answers["POST", "pins"] = lambda asked: pin(str(asked.body["name"]))
    on.page.shown(pin_request="r1", up_to=up_to)
    qtbot.waitUntil(lambda: bool(on.page.findChildren(PinRequestDialog)))
    dialog = opened(on, PinRequestDialog)
    listed = dialog.findChild(QListWidget)
    assert listed.item(listed.count() - 1).text() == f"{labels[-2]} - {100 * (len(labels) - 1)} tokens"
    press_pin(dialog)
    assert on.client.asked[-1].body == {"name": name, "request_id": "r1", "up_to": chosen}


def test_a_request_that_is_not_remembered_says_so(qtbot: QtBot, on: Shown) -> None:
    on.client.answers["GET", "requests"] = lambda _: detail(*CONVERSATION, can_be_pinned=False)
    on.page.shown(pin_request="r1")
    qtbot.waitUntil(lambda: "pin" in on.page.notices.texts)
    assert "Send it again, then pin it" in on.page.notices.texts["pin"]


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    (made / "inside" / ".git").mkdir(parents=True)
    for name in ("b.md", "a.md", "-c.md", "inside/1.md", "inside/2.md"):
        (made / name).write_text("words " * 100)
    (made / "inside" / "picture.bin").write_bytes(bytes(range(256)) * 4)
    return made


def files_dialog(qtbot: QtBot, on: Shown, *paths: Path) -> PinFilesDialog:
    on.page.pinning.files(paths)
    dialog = opened(on, PinFilesDialog)
    qtbot.waitUntil(lambda: "Looking at" not in hint(dialog))
    return dialog


def command(name: str, *paths: Path, auto: bool = False) -> tuple[str, ...]:
    options = ["--name", name, "--no-wait", "--yes", *(["--auto-refresh"] if auto else [])]
    return ("RUN", "pin", *options, "--", *map(str, paths))


def test_files_are_put_in_order_named_and_read_by_a_process_of_their_own(qtbot: QtBot, on: Shown, folder: Path) -> None:
    on.client.answers["RUN", "pin"] = lambda _: Output("")
    dialog = files_dialog(qtbot, on, folder / "b.md", folder / "a.md", folder / "inside", folder / "b.md")
    listed = dialog.findChild(QListWidget)
    assert [listed.item(row).text().split(" - ")[:2] for row in range(listed.count())] == [
        ["b.md", "600 bytes"],
        ["a.md", "600 bytes"],
        ["inside/", "2 files, 1 kB"],
    ]
    labels = [each.accessibleName() for each in dialog.findChildren(type(dialog._sum))]
    assert "4 files, 2 kB. 2 left out: hidden, links, or no text" in labels
    assert name_field(dialog).text() == "b"
    listed.setCurrentRow(1)
    button(dialog, "Move up").click()
    assert name_field(dialog).text() == "a" and listed.currentRow() == 0 and not button(dialog, "Move up").isEnabled()
    name_field(dialog).setText("My rubric")
    dialog.findChild(QCheckBox).click()
    press_pin(dialog)
    paths = folder / "a.md", folder / "b.md", folder / "inside"
    assert on.client.changes() == [command("My-rubric", *paths, auto=True)]
    assert on.page.notices.texts["pin"] == "Reading 3 files for My-rubric."
    qtbot.waitUntil(lambda: "pin" not in on.page.notices.texts)


def test_a_file_with_a_name_like_an_option_is_a_file(qtbot: QtBot, on: Shown, folder: Path) -> None:
    dialog = files_dialog(qtbot, on, folder / "-c.md")
    press_pin(dialog)
    assert on.client.changes() == [command("c", folder / "-c.md")]


def test_what_cannot_be_looked_at_is_told_and_the_rest_can_be_pinned(qtbot: QtBot, on: Shown, folder: Path) -> None:
    dialog = files_dialog(qtbot, on, folder / "gone.md")
    assert not button(dialog, "Pin").isEnabled() and "Add the files to pin" in hint(dialog)
    told = " ".join(each.accessibleName() for each in dialog.findChildren(type(dialog._sum)))
    assert "gone.md: cannot be read: No such file or directory" in told
    dialog.add([folder / "a.md"])
    qtbot.waitUntil(lambda: button(dialog, "Pin").isEnabled())
    button(dialog, "Take out").click()
    assert not button(dialog, "Pin").isEnabled()
    dialog.reject()


def test_a_folder_without_text_cannot_be_pinned(qtbot: QtBot, on: Shown, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    dialog = files_dialog(qtbot, on, tmp_path / "empty")
    name_field(dialog).setText("x")
    assert "no file with text" in hint(dialog) and not button(dialog, "Pin").isEnabled()
    dialog.reject()


def test_after_a_refusal_the_dialog_comes_back_as_it_was(qtbot: QtBot, on: Shown, folder: Path) -> None:
    why = f"{folder / 'a.md'}: needs a password. Save it without one."
    on.client.answers["RUN", "pin"] = lambda _: Failure(FailureKind.REFUSED, why)
    dialog = files_dialog(qtbot, on, folder / "b.md", folder / "a.md")
    name_field(dialog).setText("both")
    dialog.findChild(QCheckBox).click()
    press_pin(dialog)
    qtbot.waitUntil(lambda: on.page.notices.texts.get("pin") == f"both was not pinned. {why}")
    next(each for each in on.page.notices.findChildren(QPushButton) if "Change" in each.text()).click()
    again = opened(on, PinFilesDialog)
    qtbot.waitUntil(lambda: len(again.given) == 2)
    assert again.wanted().name == "both" and again.wanted().auto_refresh
    assert [path.name for path in again.wanted().paths] == ["b.md", "a.md"]
    again.reject()


def test_which_files_is_asked_without_blocking(qtbot: QtBot, on: Shown, folder: Path) -> None:
    on.page.shown(pin_file=True)
    (chooser,) = on.page.findChildren(QFileDialog)
    assert chooser.isVisible() and chooser.fileMode() is QFileDialog.FileMode.ExistingFiles
    chooser.filesSelected.emit([str(folder / "a.md")])
    chooser.close()
    qtbot.waitUntil(lambda: [given.path for given in opened(on, PinFilesDialog).given] == [folder / "a.md"])
    opened(on, PinFilesDialog).reject()

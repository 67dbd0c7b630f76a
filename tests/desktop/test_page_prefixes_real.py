"""The page of prefixes on a real service with a tiny model: what is done on it has happened there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from pinfill_app.application import PinfillApplication
from pinfill_app.windows.pin_files_dialog import PinFilesDialog
from pinfill_app.windows.pin_prefix_dialogs import PinRequestDialog
from pinfill_app.windows.prefixes import PrefixesPage
from tests.support.desktop import KEY, LIMIT_MILLISECONDS
from tests.support.models import LLAMA
from tests.support.real_app import prepare_service, running


@pytest.fixture
def application(qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PinfillApplication]:
    prepare_service(monkeypatch)
    with running(qtbot, home, [PrefixesPage]) as made:
        yield made


class OnScreen:
    """The page, and waiting for what it shows."""

    def __init__(self, qtbot: QtBot, application: PinfillApplication) -> None:
        self._qtbot, self.application = qtbot, application
        assert isinstance(application.window.page, PrefixesPage)
        self.page = application.window.page

    def until(self, condition: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(condition, timeout=LIMIT_MILLISECONDS)

    def states(self) -> dict[str, str]:
        return {row.name: row.state for row in self.page.table.rows if row.pin is not None}

    def select(self, name: str) -> None:
        place = self.page.table.row_of(("pin", name))
        assert place is not None
        self.page.view.clearSelection()
        self.page.view.selectRow(place)
        self.application.window.activateWindow()  # there is no window manager that would do it after a dialog
        self.page.view.setFocus()
        self.until(self.page.view.hasFocus)

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.page.view, key)

    def chat(self, model: str, words: str) -> str:
        """The id of a request that was sent."""
        body = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": words}]}
        url, headers = self.application.client.url, {"x-api-key": KEY}
        with httpx.Client(trust_env=False, timeout=60, headers=headers) as http:
            http.post(f"{url}/v1/chat/completions", json=body).raise_for_status()
            return str(http.get(f"{url}/pinfill/v1/requests").json()["requests"][0]["id"])


def test_documents_are_pinned_used_renamed_verified_and_unpinned(
    qtbot: QtBot, home: Path, tmp_path: Path, application: PinfillApplication
) -> None:
    screen = OnScreen(qtbot, application)
    page, until = screen.page, screen.until
    files = [tmp_path / "second.md", tmp_path / "-first.md"]
    for path in files:
        path.write_text(f"# {path.stem}\n" + "A rubric. " * 10)
    application.start(minimised=False)
    until(lambda: "Nothing pinned yet" in page.empty.words)

    page.pinning.files(files)
    dialog = page.findChild(PinFilesDialog)
    until(lambda: len(dialog.given) == 2)
    dialog.set_name("Both rubrics")
    dialog.accept()
    until(lambda: screen.states() == {"Both-rubrics": "warm"})
    until(lambda: [row.name for row in page.view.selected_rows] == ["Both-rubrics"])
    (held,) = application.store.pins
    assert [source.path for source in held.sources] == [str(path) for path in files]

    model = held.use_as
    assert model is not None
    request_id = screen.chat(model, "Hello")
    until(lambda: page.table.rows[0].hits == 1)
    screen.select("Both-rubrics")
    screen.press(Qt.Key.Key_F2)
    editor = page.view.findChild(QLineEdit)
    editor.setText("rubric")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    until(lambda: screen.states() == {"rubric": "warm"})
    until(lambda: f"{LLAMA.name}@rubric" in page.notices.texts.get("renamed", ""))

    screen.select("rubric")
    page.actions_of_rows.verify.trigger()
    until(lambda: "rubric is equal to a cold run" in page.notices.texts.get("verify", ""))

    files[0].write_text("# second\nAnother rubric.")
    until(lambda: screen.states() == {"rubric": "stale"})
    screen.select("rubric")
    screen.press(Qt.Key.Key_F5)
    until(lambda: screen.states() == {"rubric": "warm"})

    page.shown(pin_request=request_id)
    until(lambda: page.findChild(PinRequestDialog) is not None)
    request_dialog = page.findChild(PinRequestDialog)
    request_dialog.set_name("again")
    request_dialog.accept()
    until(lambda: screen.states().get("again") == "warm")

    for name, left in (("again", {"rubric"}), ("rubric", set())):
        screen.select(name)
        screen.press(Qt.Key.Key_Delete)
        assert screen.states().keys() == left | {name}
        page.removals.send()
        until(lambda left=left: screen.states().keys() == left)
    page.bar.menu.aboutToShow.emit()
    until(lambda: any(row.is_evictable for row in page.table.rows))
    next(action for action in page.bar.menu.actions() if "Evict all" in action.text()).trigger()
    page.removals.send()
    until(lambda: not page.table.rows and "Nothing pinned yet" in page.empty.words)
    assert "refusals" not in page.notices.texts and "failure" not in page.notices.texts


def test_a_refusal_of_the_service_is_told_in_its_words(
    qtbot: QtBot, home: Path, tmp_path: Path, application: PinfillApplication
) -> None:
    screen = OnScreen(qtbot, application)
    (tmp_path / "long.md").write_text("word " * 20_000)
    application.start(minimised=False)
    screen.until(lambda: "Nothing pinned yet" in screen.page.empty.words)
    screen.page.pinning.files([tmp_path / "long.md"])
    dialog = screen.page.findChild(PinFilesDialog)
    screen.until(lambda: len(dialog.given) == 1)
    dialog.accept()
    screen.until(lambda: "long was not pinned. The pin has" in screen.page.notices.texts.get("pin", ""))
    assert "context" in screen.page.notices.texts["pin"] and screen.states() == {}

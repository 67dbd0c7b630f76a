"""The page of models: what fits, pulls, imports, loading and removing; also with no model at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox
from pytestqt.qtbot import QtBot

from pinfill_app.failure import Failure, FailureKind
from pinfill_app.model_import import ModelImport
from pinfill_app.models.model_row import NOTHING, STATE_COLUMN, Fit, Memory, ModelRow
from pinfill_app.service_state import ServiceState
from pinfill_app.windows import models_page
from pinfill_app.windows.models_page import ModelsPage
from pinfill_service.api.schemas import manage
from pinfill_service.models.library import ModelLibrary
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.pages import Shown, english, shown, status
from tests.support.tiny_gguf import TinyLlama

FREE = 3_000_000_000
TASK = manage.ModelTask(name="x", state="pulling")
Page = Shown[ModelsPage]


def model(name: str, **fields: Any) -> manage.ModelEntry:
    known: dict[str, Any] = {
        "title": None,
        "licence": "Apache-2.0",
        "context_length": 8_192,
        "bytes": 98_000_000,
        "installed": True,
        "in_catalogue": False,
        "loaded": False,
        "pulling": False,
        "source": None,
        "outdated": None,
    }
    return manage.ModelEntry(name=name, **(known | fields))


CATALOGUE = model("smollm2-135m", title="SmolLM2-135M-Instruct", installed=False, in_catalogue=True)
LOADED = model("smollm2-135m", installed=True, in_catalogue=True, loaded=True, kv_bytes_per_token=46_080)


@pytest.fixture
def page(qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    monkeypatch.setattr(models_page.psutil, "virtual_memory", lambda: type("Memory", (), {"available": FREE}))
    with english(), shown(qtbot, ModelsPage, home) as made:
        view = manage.SettingsView(values={"memory_budget_mib": 1_000}, changeable=[], needs_restart=[], rules=[])
        made.client.answers["GET", "settings"] = view
        made.page.shown()
        qtbot.waitUntil(lambda: made.page._budget == 1_000 << 20)
        yield made


def cells(page: Page, row: int = 0) -> list[str]:
    table = page.page.table
    return [table.data(table.index(row, column)) for column in range(table.columnCount())]


def happens(page: Page, name: str | None, state: manage.ModelState, message: str | None = None) -> None:
    page.store._on_model_state(manage.ModelStateEvent(name=name, state=state, message=message))


def choices(page: Page) -> list[str]:
    """What can be done with the selected model."""
    actions = page.page.actions_of_row.all
    return [action.text().replace("&", "") for action in actions if action.isVisible() and action.isEnabled()]


def notice(page: Page, topic: str = "smollm2-135m") -> str:
    return page.page.notices.texts.get(topic, "")


def test_models_are_listed_with_what_they_need(page: Page) -> None:
    page.have(models=(LOADED, model("mine", bytes=1_400_000_000, context_length=None, licence=None)))
    assert cells(page) == ["smollm2-135m", "Apache-2.0", "loaded", "loaded", "8,192", "98 MB"]
    assert cells(page, 1) == ["mine", NOTHING, "tight, up to 2.8 GB of 3.0 GB", "on this computer", NOTHING, "1.4 GB"]
    assert "377 MB of the 1.0 GB for prefixes" in page.page.detail.verdict.text()
    assert page.page.provider.text() == "smollm2-135m runs on CPU. CPU: no NPU was found."
    page.page.shown(select="mine")
    assert "Close other programs, or give prefixes less" in page.page.detail.verdict.text()


def test_the_first_run_has_no_model(page: Page) -> None:
    page.client.answers["POST", "models"] = TASK
    page.have(status=status(None), models=(CATALOGUE,))
    assert "No model is loaded" in page.page.provider.text() and choices(page) == ["Pull"]
    assert cells(page)[2:4] == ["fits, up to 196 MB of 3.0 GB", "can be pulled"]
    page.page.view.activated.emit(page.page.table.index(0, 0))
    assert page.client.changes() == [("POST", "models", "smollm2-135m", "pull")]


def test_a_pull_is_shown_and_can_be_stopped(qtbot: QtBot, page: Page) -> None:
    page.client.answers["DELETE", "models"] = TASK
    page.have(models=(CATALOGUE.model_copy(update={"pulling": True}),))
    assert cells(page)[STATE_COLUMN] == "pulling" and choices(page) == ["Stop"]
    progress = manage.ModelProgressEvent(name="smollm2-135m", stage="download", done=49_000_000, total=98_000_000)
    page.store.running.pull_progress(progress)
    page.store.progress_changed.emit()
    assert cells(page)[STATE_COLUMN] == "downloading 49 MB of 98 MB"
    assert not page.page.grab().isNull()
    page.page.actions_of_row.stop.trigger()
    assert cells(page)[STATE_COLUMN] == "stopping" and choices(page) == []
    assert page.client.changes() == [("DELETE", "models", "smollm2-135m", "pull")]
    happens(page, "smollm2-135m", "pull_stopped")
    page.have(models=(CATALOGUE,))
    assert choices(page) == ["Pull"] and "stopped" in notice(page)
    happens(page, "smollm2-135m", "pulled")
    assert notice(page) == "smollm2-135m is on this computer."


def test_a_stop_that_is_refused_is_told_and_can_be_tried_again(qtbot: QtBot, page: Page) -> None:
    page.have(models=(CATALOGUE.model_copy(update={"pulling": True}),))
    page.client.answers["DELETE", "models"] = Failure(FailureKind.REFUSED, "It is not being pulled.")
    page.page.actions_of_row.stop.trigger()
    qtbot.waitUntil(lambda: notice(page) == "It is not being pulled.")
    assert choices(page) == ["Stop"]


def test_offline_a_pull_says_why_and_goes_on_later(page: Page) -> None:
    page.client.answers["POST", "models"] = TASK
    page.have(models=(CATALOGUE,))
    page.page.hide()  # also when nobody looks
    happens(page, "smollm2-135m", "failed", "smollm2-135m could not be fetched: the index cannot be reached.")
    page.page.show()
    assert "cannot be reached" in notice(page) and choices(page) == ["Pull"]
    line = page.page.notices._lines["smollm2-135m"][0]
    assert line.action is not None
    line.action[1]()
    assert page.client.changes() == [("POST", "models", "smollm2-135m", "pull")] and not notice(page)


def test_another_model_is_loaded_once_requests_have_ended(page: Page) -> None:
    page.client.answers["POST", "models"] = TASK
    page.have(models=(LOADED, model("mine")))
    assert choices(page) == ["Unload"]
    page.page.shown(select="mine")
    assert choices(page) == ["Load", "Remove..."]
    page.page.actions_of_row.load.trigger()
    assert page.client.changes() == [("POST", "models", "mine", "load")]
    happens(page, "mine", "loading")
    assert cells(page, 1)[STATE_COLUMN] == "loading" and choices(page) == []
    happens(page, "smollm2-135m", "draining")
    assert "running requests" in cells(page, 1)[STATE_COLUMN]
    happens(page, "another", "failed", "a pull of no concern")
    assert "running requests" in cells(page, 1)[STATE_COLUMN]
    happens(page, "mine", "loaded")
    page.have(models=(LOADED.model_copy(update={"loaded": False}), model("mine", loaded=True)))
    assert choices(page) == ["Unload"]
    page.page.actions_of_row.unload.trigger()
    assert page.client.changes()[-1] == ("POST", "models", "unload")


def test_a_model_that_cannot_be_loaded_is_told_once(qtbot: QtBot, page: Page) -> None:
    words = "mine could not be loaded: its graph has no KV."
    page.client.answers["POST", "models"] = Failure(FailureKind.REFUSED, words)
    page.have(models=(model("mine"),))
    page.page.actions_of_row.load.trigger()
    happens(page, "mine", "loading")
    happens(page, "mine", "failed", words)
    qtbot.waitUntil(lambda: notice(page, "mine") == words)
    assert choices(page) == ["Load", "Remove..."] and list(page.page.notices.texts) == ["mine"]


def test_removing_asks_and_says_what_is_lost(qtbot: QtBot, page: Page) -> None:
    page.client.answers["DELETE", "models"] = TASK
    page.have(models=(model("mine", bytes=1_200_000_000),))
    page.page.actions_of_row.remove.trigger()
    box = page.page.findChild(QMessageBox)
    assert isinstance(box, QMessageBox)
    assert box.text() == "Remove mine? 1.2 GB are deleted from this computer." and "stays" in box.informativeText()
    assert page.client.changes() == []
    yes = next(each for each in box.buttons() if box.buttonRole(each) is QMessageBox.ButtonRole.AcceptRole)
    yes.click()
    assert page.client.changes() == [("DELETE", "models", "mine")]


def test_a_model_of_an_older_version_says_so_and_can_be_pulled_again(page: Page) -> None:
    page.have(models=(model("smollm2-135m", in_catalogue=True, outdated="It was converted by an older version."),))
    assert (
        choices(page) == ["Pull again", "Load", "Remove..."] and cells(page)[STATE_COLUMN] == "made by an older Pinfill"
    )
    assert "older version." in page.page.detail.verdict.text()
    page.page.view.menu_asked.emit(QPoint(0, 0))
    (menu,) = (menu for menu in page.page.findChildren(QMenu) if menu.isVisible())
    offered = [action.text().replace("&", "") for action in menu.actions() if action.isVisible()]
    assert offered == [*choices(page), "", "Columns"]
    menu.close()


def test_without_a_service_the_page_says_so(page: Page) -> None:
    assert page.page.empty.words == "Asking the service."
    page.say(ServiceState.STOPPED)
    assert "not running" in page.page.empty.words


@given(st.integers(1, 10**12), st.integers(0, 10**12), st.integers(0, 10**12))
def test_what_is_said_to_fit_fits(size: int, free: int, prefixes: int) -> None:
    row = ModelRow(model("m", bytes=size), Memory(free, prefixes))
    match row.fit:
        case Fit.FITS:
            assert row.needs + prefixes <= free
        case Fit.TIGHT:
            assert row.needs <= free < row.needs + prefixes
        case Fit.TOO_LARGE:
            assert row.needs > free


# -- importing, in real processes --------------------------------------------------------------------------------------


def imported(qtbot: QtBot, page: Page) -> None:
    qtbot.waitUntil(lambda: not page.page.importing.running.is_running, timeout=LIMIT_MILLISECONDS)


def test_other_places_lead_to_the_choice_of_a_file(page: Page) -> None:
    page.page.shown(import_file=True)
    (dialog,) = page.page.findChildren(QFileDialog)
    assert dialog.isVisible() and dialog.fileMode() is QFileDialog.FileMode.ExistingFile
    dialog.reject()


def test_a_file_is_imported_with_progress(qtbot: QtBot, page: Page, home: Path, tmp_path: Path) -> None:
    page.have(models=(CATALOGUE,))
    stages: list[str] = []
    page.page.importing.running.progressed.connect(lambda event: stages.append(event.stage))
    page.page.importing.import_path(str(TinyLlama().write(tmp_path / "--tiny.gguf")))
    assert page.page.importing.isVisible() and not page.page.importing.file.isEnabled()
    imported(qtbot, page)
    assert [each.name for each in ModelLibrary(home).installed()] == ["tiny"]
    assert notice(page, "tiny") == "tiny is on this computer." and "layers" in stages
    assert page.page.importing.isHidden() and page.page.importing.file.isEnabled()


def test_what_is_no_model_is_told(qtbot: QtBot, page: Page, tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF")
    page.page.importing.import_path(str(tmp_path / "broken.gguf"))
    imported(qtbot, page)
    assert notice(page, "import").startswith("broken.gguf was not imported. broken.gguf")


@pytest.mark.parametrize("end", ["stop", "end_now"])
def test_a_stopped_import_leaves_nothing(qtbot: QtBot, page: Page, home: Path, tmp_path: Path, end: str) -> None:
    source = TinyLlama(layers=60, hidden=256, feed_forward=1024, vocabulary=4_000).write(tmp_path / "large.gguf")
    running = page.page.importing.running
    page.page.importing.import_path(str(source))
    with qtbot.waitSignal(running.progressed, timeout=LIMIT_MILLISECONDS, check_params_cb=lambda each: each.done > 0):
        pass
    getattr(running, end)()
    imported(qtbot, page)
    assert "Nothing of it is kept" in notice(page, "import")
    assert [path.name for path in (home / "models").iterdir() if not path.name.endswith(".lock")] == []


def test_an_import_that_cannot_start_says_so(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "absent"))
    running, outcomes = ModelImport(), []
    running.ended.connect(outcomes.append)
    running.start("x")
    qtbot.waitUntil(lambda: bool(outcomes))
    assert isinstance(outcomes[0], Failure) and "cannot be started" in outcomes[0].message and not running.is_running

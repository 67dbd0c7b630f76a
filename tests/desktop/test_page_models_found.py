"""Models of other programs on the page of models: listed, explained, looked for again, imported by mouse and by key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QInputDialog, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from pinfill_app.models.keyed_table import ROW_ROLE
from pinfill_app.models.model_row import NOTHING, STATE_COLUMN, amounts
from pinfill_app.service_state import ServiceState
from pinfill_app.windows import models_page
from pinfill_app.windows.models_page import ModelsPage
from pinfill_service.api.schemas import manage
from pinfill_service.models.library import ModelLibrary
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.other_programs import Home
from tests.support.pages import Shown, english, found, shown
from tests.support.sample_service import models
from tests.support.tiny_gguf import TinyLlama

HERE = models()
TINY = found("ollama:tiny:latest", name="tiny", notes=("its system prompt is not taken over",))
WHISPER = found("huggingface:org/whisper", bytes=None, architecture=None, problem="it is an encoder-decoder model.")
Page = Shown[ModelsPage]


@pytest.fixture
def page(qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    memory = type("Memory", (), {"available": 3_000_000_000})
    monkeypatch.setattr(models_page.psutil, "virtual_memory", lambda: memory)
    with english(), shown(qtbot, ModelsPage, home) as made:
        made.found.there_is = TINY, WHISPER
        made.have(models=HERE)
        made.found.look()
        yield made


@pytest.fixture
def ollama(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A real model where Ollama would have it: TINY."""
    made = Home(tmp_path / "user")
    made.content = TinyLlama().write(tmp_path / "file.gguf").read_bytes()
    made.ollama("registry.ollama.ai/library/tiny/latest", model="file")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(made.folder))
    monkeypatch.delenv("OLLAMA_MODELS", raising=False)
    return made


def keys(page: Page) -> list[str]:
    return [row.name for row in page.page.table.rows]


def cells(page: Page, key: str) -> list[str]:
    table, row = page.page.table, page.page.table.row_of(key)
    assert row is not None
    return [table.data(table.index(row, column)) for column in range(table.columnCount())]


def choices(page: Page) -> list[str]:
    """What can be done with the selected model."""
    actions = page.page.actions_of_row.all
    return [action.text().replace("&", "") for action in actions if action.isVisible() and action.isEnabled()]


def imported(qtbot: QtBot, page: Page) -> None:
    qtbot.waitUntil(lambda: not page.page.importing.running.is_running, timeout=LIMIT_MILLISECONDS)


def test_they_are_listed_after_those_that_are_here(page: Page) -> None:
    assert keys(page) == [*(entry.name for entry in HERE), TINY.id, WHISPER.id]
    assert page.page.view.chosen is not None and page.page.view.chosen.name == HERE[0].name
    assert cells(page, TINY.id) == ["tiny", NOTHING, "fits, up to 1.6 GB of 3.0 GB", "in Ollama", NOTHING, "808 MB"]
    state = "in Hugging Face's cache, cannot be imported"
    assert cells(page, WHISPER.id) == ["org-whisper", NOTHING, NOTHING, state, NOTHING, NOTHING]
    assert page.page.found.words == (
        "Can be imported: 1 model in Ollama. Cannot be imported: 1 model in Hugging Face's cache."
    )


def test_the_details_say_what_it_is_and_what_an_import_leaves_behind(page: Page) -> None:
    page.page.shown(found=True)
    detail = page.page.detail
    assert detail.title.text() == "tiny" and choices(page) == ["Import"]
    assert detail.facts.text() == "in Ollama \N{MIDDLE DOT} 808 MB \N{MIDDLE DOT} llama \N{MIDDLE DOT} Q4_K_M"
    assert detail.path.text == detail.path.accessibleName() == TINY.path and detail.path.isVisible()
    assert "The original stays" in detail.verdict.text()
    assert detail.verdict.text().endswith("Its system prompt is not taken over.")
    page.page.shown(select=HERE[0].name)
    assert detail.path.isHidden()


def test_one_that_cannot_be_imported_says_why(page: Page) -> None:
    page.page.shown(select=WHISPER.id)
    assert page.page.detail.verdict.text() == "It cannot be imported: it is an encoder-decoder model."
    assert choices(page) == []
    page.page.view.activated.emit(page.page.table.index(3, 0))
    assert not page.page.importing.running.is_running


def test_what_is_imported_already_is_not_shown_a_second_time(page: Page) -> None:
    page.have(models=(*HERE, HERE[1].model_copy(update={"name": "mine", "source": TINY.id, "installed": True})))
    assert TINY.id not in keys(page) and "Can be" not in page.page.found.words
    page.found.there_is = (TINY,)
    page.found.look()
    assert page.page.found.words == "All models of other programs are imported."
    page.have(models=HERE)  # it was removed
    assert TINY.id in keys(page)


def test_they_are_looked_for_when_the_page_is_first_shown_and_again_by_key(qtbot: QtBot, page: Page) -> None:
    assert page.found.looks == 2  # the fixture has looked too
    with qtbot.waitActive(page.page):
        page.page.view.setFocus()
    page.found.there_is = ()
    qtbot.keyClick(page.page.view, Qt.Key.Key_F5)
    assert page.found.looks == 3 and keys(page) == [entry.name for entry in HERE]
    assert page.page.found.words == "LM Studio, Ollama and Hugging Face's cache have no models on this computer."
    button = next(each for each in page.page.found.findChildren(QPushButton) if each.text() == "Look &again")
    button.click()
    page.page.hide()
    page.page.show()
    assert page.found.looks == 4


def test_a_look_that_failed_is_told_until_the_next(page: Page) -> None:
    page.found.failure = "Looking took too long."
    page.found.changed.emit()
    assert page.page.notices.texts["found"] == "Looking took too long." and TINY.id in keys(page)
    page.found.failure = ""
    page.found.look()
    assert "found" not in page.page.notices.texts


def test_while_it_is_looked_for_the_page_says_so(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(page.found), "is_looking", True)
    page.found.changed.emit()
    assert page.page.found.words.startswith("Looking for models") and not page.page.found.again.isEnabled()


def test_without_a_service_nothing_is_listed(page: Page) -> None:
    page.have(models=(), status=None)
    page.say(ServiceState.STOPPED)
    assert keys(page) == [] and page.page.found.isHidden() and "not running" in page.page.empty.words


def test_enter_imports_and_the_new_model_is_selected(qtbot: QtBot, page: Page, home: Path, ollama: Home) -> None:
    page.page.shown(found=True)
    looks = page.found.looks
    qtbot.keyClick(page.page.view, Qt.Key.Key_Return)
    assert page.page.importing.running.is_running and page.page.importing.words == "Importing tiny"
    assert cells(page, TINY.id)[STATE_COLUMN] == "importing" and choices(page) == []
    imported(qtbot, page)
    assert [(each.name, each.source) for each in ModelLibrary(home).installed()] == [("tiny", TINY.id)]
    assert page.page.notices.texts["tiny"] == "tiny is on this computer." and page.found.looks == looks + 1
    page.have(models=(*HERE, HERE[1].model_copy(update={"name": "tiny", "source": TINY.id, "installed": True})))
    assert page.page.view.chosen is not None and page.page.view.chosen.name == "tiny"
    assert choices(page) == ["Load", "Remove..."]


def test_the_menu_imports_and_progress_is_shown_in_the_row(qtbot: QtBot, page: Page, ollama: Home) -> None:
    page.page.shown(found=True)
    page.page.view.menu_asked.emit(QPoint(0, 0))
    (menu,) = (menu for menu in page.page.findChildren(QMenu) if menu.isVisible())
    (take_in,) = (each for each in menu.actions() if each in page.page.actions_of_row.all and each.isVisible())
    take_in.trigger()
    menu.close()
    page.page.importing.running.progressed.emit(
        manage.ModelProgressEvent(name="", stage="check", done=404_000_000, total=808_000_000)
    )
    row = page.page.table.row_of(TINY.id)
    assert row is not None and cells(page, TINY.id)[STATE_COLUMN] == "checking 404 MB of 808 MB"
    assert amounts(page.page.table.data(page.page.table.index(row, 0), ROW_ROLE)) == (0, 404_000_000, 808_000_000)
    imported(qtbot, page)


def test_an_import_that_is_refused_says_why_and_can_be_tried_again(
    qtbot: QtBot, page: Page, home: Path, ollama: Home
) -> None:
    (ollama.folder / ".ollama" / "models" / "manifests" / "registry.ollama.ai" / "library" / "tiny" / "latest").unlink()
    page.page.shown(found=True)
    page.page.actions_of_row.take_in.trigger()
    imported(qtbot, page)
    assert page.page.notices.texts["import"].startswith("tiny was not imported. There is no ollama:tiny:latest")
    assert choices(page) == ["Import"]


def test_where_its_name_is_taken_another_one_is_asked_for(qtbot: QtBot, page: Page, home: Path, ollama: Home) -> None:
    other = TinyLlama(layers=1).write(ollama.folder / "tiny.gguf")
    ModelLibrary(home).import_model(other, "tiny")
    taken = [HERE[1].model_copy(update={"name": name, "installed": True}) for name in ("tiny", "tiny-2")]
    page.have(models=(*HERE, *taken))
    page.page.shown(found=True)
    page.page.actions_of_row.take_in.trigger()
    assert not page.page.importing.running.is_running
    (dialog,) = page.page.window().findChildren(QInputDialog)
    assert "There is a model tiny on this computer already." in dialog.labelText() and dialog.textValue() == "tiny-3"
    dialog.accept()
    assert page.page.importing.words == "Importing tiny"
    imported(qtbot, page)
    assert {each.name: each.source for each in ModelLibrary(home).installed()}["tiny-3"] == TINY.id


def test_one_whose_name_cannot_be_one_here_gets_another(
    qtbot: QtBot, page: Page, home: Path, ollama: Home, tmp_path: Path
) -> None:
    path = ollama.folder / ".lmstudio" / "models" / "a" / "模型.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(ollama.content)
    page.found.there_is = (found("lmstudio:a/模型.gguf", name=""),)
    page.found.look()
    page.page.shown(found=True)
    assert page.page.detail.title.text() == "模型.gguf"
    page.page.actions_of_row.take_in.trigger()
    (dialog,) = page.page.window().findChildren(QInputDialog)
    assert dialog.textValue() == "model" and "a to z" in dialog.labelText()
    dialog.setTextValue(" kleines ")
    dialog.accept()
    imported(qtbot, page)
    assert [each.name for each in ModelLibrary(home).installed()] == ["kleines"]


def test_a_name_that_is_taken_all_the_same_is_told_with_what_to_do(
    qtbot: QtBot, page: Page, home: Path, ollama: Home
) -> None:
    ModelLibrary(home).import_model(TinyLlama(layers=1).write(ollama.folder / "tiny.gguf"), "tiny")
    page.page.shown(found=True)
    page.page.actions_of_row.take_in.trigger()
    imported(qtbot, page)
    words = page.page.notices.texts["import"]
    assert "There is a model tiny already. Give another name, or: pinfill models remove tiny" in words


def test_everything_can_be_reached_and_heard(page: Page) -> None:
    page.page.shown(found=True)
    for button in page.page.findChildren(QPushButton):
        if button.isVisible():
            assert button.text() and button.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert page.page.view.accessibleName()

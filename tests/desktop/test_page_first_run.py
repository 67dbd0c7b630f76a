"""The first steps, and the menu of help they are found in again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from pinfill_app.application import PinfillApplication
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.help_menu import HelpMenu
from pinfill_app.service_state import ServiceState
from pinfill_app.settings import AppSettings
from pinfill_app.windows.first_run import FirstRun
from pinfill_app.windows.first_run_pin import NAME
from pinfill_app.windows.help_pages import HelpPages
from pinfill_app.windows.log_page import LogPage
from pinfill_service.api.schemas import manage
from pinfill_service.resources import resource
from tests.support.desktop import LIMIT_MILLISECONDS, QUICK, scripted
from tests.support.pages import Shown, english, found, shown, status
from tests.support.real_app import real_service
from tests.support.sample_service import models, pin

Window = Shown[LogPage]


@pytest.fixture
def window(qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    monkeypatch.setenv("PATH", str(home))
    monkeypatch.setenv("HOME", str(home))
    with english(), shown(qtbot, LogPage, home) as made:
        yield made


@pytest.fixture
def steps(qtbot: QtBot, window: Window) -> FirstRun:
    made = FirstRun(window.context, window.page)
    made.show()
    return made


def press(steps: FirstRun, label: str) -> None:
    (button,) = (button for text, button in steps.step.buttons.items() if label in text.replace("&", ""))
    button.click()


def fetched(steps: FirstRun, window: Window) -> None:
    window.have(status=status(None), models=tuple(m.model_copy(update={"installed": False}) for m in models()))


def test_every_step_can_be_left_out_and_is_seen_once(home: Path, window: Window, steps: FirstRun) -> None:
    window.have(status=status(None), models=models())
    assert steps.next.text() == "&Skip this step" and not steps.back.isEnabled()
    steps.next.click()
    steps.next.click()
    assert steps.next.text() == "&Finish" and steps.back.isEnabled()
    steps.back.click()
    assert steps.step is steps.steps[1] and not AppSettings(home).first_run_done
    steps.next.click()
    steps.next.click()
    assert AppSettings(home).first_run_done


def test_a_model_is_fetched_and_then_loaded(qtbot: QtBot, window: Window, steps: FirstRun) -> None:
    fetched(steps, window)
    task = manage.ModelTask(name="smollm2-135m", state="pulling")
    window.client.answers["POST", "models"] = task
    press(steps, "Fetch SmolLM2-135M-Instruct, 180 MB")
    qtbot.waitUntil(lambda: window.client.changes() == [("POST", "models", "smollm2-135m", "pull")])
    progress = manage.ModelProgressEvent(name="smollm2-135m", stage="download", done=45, total=90)
    window.store.running.pull_progress(progress)
    window.store.progress_changed.emit()
    assert "50 %" in steps.step.words.text() and not steps.step.buttons
    window.store.running.pulls.clear()
    window.store.model_state_changed.emit(manage.ModelStateEvent(name="smollm2-135m", state="pulled"))
    qtbot.waitUntil(lambda: window.client.changes()[-1] == ("POST", "models", "smollm2-135m", "load"))
    window.have(status=status())
    assert "smollm2-135m is loaded" in steps.step.words.text() and steps.next.text() == "&Next"


def test_models_of_other_programs_are_offered(window: Window, steps: FirstRun) -> None:
    fetched(steps, window)
    assert window.found.looks == 1 and "no model on this machine yet" in steps.step.words.text()
    window.found.there_is = found("ollama:tiny:latest"), found("lmstudio:a/b.gguf"), found("ollama:x:1", problem="no.")
    window.found.look()
    assert steps.step.words.text().startswith(
        "You have 2 models in Ollama and LM Studio: importing one downloads nothing."
    )
    assert any("Fetch SmolLM2" in label.replace("&", "") for label in steps.step.buttons)
    press(steps, "Choose one to import...")
    assert window.pages == [("models", {"found": True})] and not steps.isVisible()


def test_each_button_of_a_step_has_a_key_of_its_own(window: Window, steps: FirstRun) -> None:
    for is_here in (False, True):
        many = [model.model_copy(update={"name": f"{model.name}-{n}"}) for n in range(2) for model in models()]
        window.have(status=status(None), models=tuple(m.model_copy(update={"installed": is_here}) for m in many))
        texts = [*steps.step.buttons, steps.next.text(), steps.back.text()]
        letters = [text.partition("&")[2][0].upper() for text in texts]
        assert len(letters) == len({*letters}) >= 6, texts


def test_what_fails_is_told_and_can_be_tried_again(qtbot: QtBot, window: Window, steps: FirstRun) -> None:
    fetched(steps, window)
    window.client.answers["POST", "models"] = Failure(FailureKind.REFUSED, "The disk is full.")
    press(steps, "Fetch SmolLM2-135M")
    qtbot.waitUntil(lambda: "The disk is full." in steps.step.words.text())
    assert steps.step.buttons
    window.say(ServiceState.FAILED)
    assert "not running" in steps.step.words.text() and list(steps.step.buttons) == ["&Start the service"]
    window.say(ServiceState.LOADING)
    assert not steps.step.buttons


def test_a_failure_of_many_lines_is_shown_whole(qtbot: QtBot, window: Window, steps: FirstRun) -> None:
    fetched(steps, window)
    reasons = "It cannot be reached, and the way to it is not known either. " * 12
    window.client.answers["POST", "models"] = Failure(FailureKind.REFUSED, reasons)
    press(steps, "Fetch SmolLM2-135M")
    words = steps.step.words
    qtbot.waitUntil(lambda: reasons in words.text() and words.height() >= words.heightForWidth(words.width()))


def test_without_a_network_a_file_can_be_imported(window: Window, steps: FirstRun) -> None:
    fetched(steps, window)
    press(steps, "Import a file...")
    assert window.pages == [("models", {"import_file": True})] and not steps.isVisible()


def test_the_sample_is_pinned(window: Window, steps: FirstRun, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(window.context.commands, "run", lambda *words, done: ran.append(words))
    steps.next.click()
    press(steps, "Pin the sample")
    assert ran[0][:5] == ("pin", "--no-wait", "--name", NAME, "--") and Path(ran[0][5]).exists()
    window.have(pins=(pin(NAME, 1_880, state="prefilling"),))
    window.store.running.pin_progress(manage.PinProgressEvent(name=NAME, done=940, total=1_880, seconds_left=1.5))
    window.store.progress_changed.emit()
    assert "50 %" in steps.step.words.text()
    window.have(pins=(pin(NAME, 1_880),))
    assert "1,880 tokens" in steps.step.words.text() and steps.next.text() == "&Next"
    press(steps, "Copy the model's name")
    assert QApplication.clipboard().text() == f"smollm2-135m@{NAME}"
    window.have(pins=(pin(NAME, 1_880, state="failed", reason="It does not fit."),))
    assert "It does not fit." in steps.step.words.text()


def test_agents_that_are_found_can_be_connected(qtbot: QtBot, home: Path, window: Window, steps: FirstRun) -> None:
    steps.next.click()
    steps.next.click()
    qtbot.waitUntil(lambda: "No agent" in steps.step.words.text(), timeout=LIMIT_MILLISECONDS)
    press(steps, "Copy address")
    assert QApplication.clipboard().text() == "http://127.0.0.1:7463/v1"
    (home / "goose").write_text("#!/bin/sh\n")
    (home / "goose").chmod(0o755)
    steps.step._desk.look()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: "Found" in steps.step.words.text(), timeout=LIMIT_MILLISECONDS)
    press(steps, "Connect Goose")
    assert window.pages == [("agents", {"write": "goose"})] and steps.isVisible()


def test_help_has_them_again_once_at_a_time(qtbot: QtBot, window: Window) -> None:
    menu = HelpMenu(window.context, window.page)
    first, _, test, log = menu.actions()[:4]
    first.trigger()
    first.trigger()
    (steps,) = window.page.findChildren(FirstRun)
    steps.reject()
    first.trigger()
    qtbot.waitUntil(lambda: any(each.isVisible() for each in window.page.findChildren(FirstRun)))
    test.trigger()
    log.trigger()
    assert window.pages == [("log", {"self_test": True}), ("log", {})]
    menu.actions()[-1].trigger()
    assert any(widget.windowTitle() == "About Pinfill" for widget in window.page.findChildren(QWidget))


def test_every_help_page_can_be_read(window: Window) -> None:
    pages = HelpMenu(window.context, window.page).actions()[1]
    pages.trigger()
    (dialog,) = window.page.findChildren(HelpPages)
    titles = [dialog.pages.item(row).text() for row in range(dialog.pages.count())]
    assert len(titles) == len(list(resource("help").glob("*.md"))) > 3
    shown_texts = set()
    for row in range(len(titles)):
        dialog.pages.setCurrentRow(row)
        assert dialog.text.toPlainText().startswith(titles[row]) and "# " not in dialog.text.toPlainText()[:20]
        shown_texts.add(dialog.text.toPlainText())
    assert len(shown_texts) == len(titles)
    dialog.text.anchorClicked.emit(QUrl("budgets.md"))
    assert dialog.text.toPlainText().startswith("Memory and disk")
    dialog.close()


def test_the_application_shows_them_at_its_first_start_only(qtbot: QtBot, home: Path) -> None:
    for expected in (1, 0):
        made = PinfillApplication(home, scripted(home), QUICK, [LogPage])
        made.start(minimised=False)
        found = made.window.findChildren(FirstRun)
        assert len(found) == expected
        for steps in found:
            qtbot.waitUntil(steps.isActiveWindow)  # what is typed goes there
            steps.reject()
        made.quit()
        qtbot.waitUntil(lambda made=made: made.supervisor.state is ServiceState.STOPPED, timeout=LIMIT_MILLISECONDS)
        made.window.deleteLater()
        made.menu.deleteLater()
        made.deleteLater()


def test_the_sample_is_pinned_by_a_real_service(qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with english(), real_service(qtbot, home, monkeypatch) as application:
        sample = home / "sample.md"
        sample.write_text("Rate it. " * 9)
        monkeypatch.setattr("pinfill_app.windows.first_run_pin.resource", lambda name: sample)
        application.help.show_first_steps()
        (steps,) = application.window.findChildren(FirstRun)
        assert "is loaded" in steps.step.words.text()
        steps.next.click()
        press(steps, "Pin the sample")
        qtbot.waitUntil(lambda: steps.step.is_done, timeout=LIMIT_MILLISECONDS)
        assert f"@{NAME}" in steps.step.words.text()
        steps.reject()

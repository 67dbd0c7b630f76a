"""The pages of activity, savings and models on a real service with a tiny model, over HTTP and its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytestqt.qtbot import QtBot

from pinfill_app.client import Client
from pinfill_app.commands import Commands
from pinfill_app.plan import make_plan
from pinfill_app.service_state import ServiceState
from pinfill_app.settings import AppSettings
from pinfill_app.state import Store
from pinfill_app.supervisor import Supervisor
from pinfill_app.windows.activity import ActivityPage
from pinfill_app.windows.models_page import ModelsPage
from pinfill_app.windows.page import Context, Page
from pinfill_app.windows.pin_prefix_dialogs import PinRequestDialog
from pinfill_app.windows.prefixes import PrefixesPage
from pinfill_app.windows.savings import SavingsPage
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.pages import ScriptedFound, english
from tests.support.real_service import KEY, MODEL, real_service
from tests.support.updates import silent_updates


@pytest.fixture
def asked_for() -> list[tuple[str, dict[str, Any]]]:
    """The pages that were to be shown, with their hints."""
    return []


@pytest.fixture
def context(home: Path, asked_for: list[tuple[str, dict[str, Any]]]) -> Iterator[Context]:
    client = Client()
    store, supervisor = Store(client), Supervisor(lambda: make_plan("info"))
    supervisor.state = ServiceState.READY
    with english(), real_service(home) as url:
        store.follow(url, KEY)
        yield Context(
            client,
            store,
            supervisor,
            AppSettings(home),
            lambda name, /, **hints: asked_for.append((name, hints)),
            lambda title, text, /: None,
            Commands(client),
            ScriptedFound(),
            silent_updates(home),
        )
        store.leave()


class Until:
    """Waits for what a page shows."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot

    def __call__(self, condition: Callable[[], object]) -> None:
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=LIMIT_MILLISECONDS)


def show(qtbot: QtBot, page: Page) -> None:
    qtbot.addWidget(page)
    page.resize(930, 620)
    page.show()


def ask_twice(url: str) -> None:
    """Two requests with one long beginning."""
    with httpx.Client(base_url=url, headers={"x-api-key": KEY}, trust_env=False, timeout=60) as http:
        for question in ("hi hi", "hi ho"):
            body = {"messages": [{"role": "system", "content": "hi " * 60}, {"role": "user", "content": question}]}
            http.post("/v1/chat/completions", json={**body, "max_tokens": 2}).raise_for_status()


def test_activity_and_savings_show_what_was_asked(
    qtbot: QtBot, context: Context, asked_for: list[tuple[str, dict[str, Any]]]
) -> None:
    activity, savings, prefixes, until = (
        ActivityPage(context),
        SavingsPage(context),
        PrefixesPage(context),
        Until(qtbot),
    )
    for page in (activity, savings, prefixes):
        show(qtbot, page)
    until(lambda: "send requests to" in activity.empty.words)
    ask_twice(context.client.url)
    until(lambda: len(activity.table.rows) == 2)
    second, first = activity.table.rows
    assert first.cached == 0 and second.cached > 60 and second.cached + second.processed == second.total
    until(lambda: savings.rows and savings.rows[0].requests == 2)
    assert savings.rows[0].cached_tokens == second.cached and savings.plots is not None

    activity.shown(select=second.id)
    until(activity.detail.pin.isEnabled)
    labels = [action.text() for action in activity.detail.menu.actions()]
    assert labels[0].startswith("system: ") and "generation" not in "".join(labels)
    activity.detail.menu.actions()[0].trigger()
    ((name, hints),) = asked_for
    prefixes.shown(**hints)
    until(lambda: prefixes.findChild(PinRequestDialog))
    dialog = prefixes.findChild(PinRequestDialog)
    assert isinstance(dialog, PinRequestDialog) and (name, dialog.up_to) == (PrefixesPage.NAME, "system")
    dialog.reject()


def test_a_model_is_unloaded_and_loaded_again(qtbot: QtBot, context: Context) -> None:
    models, until = ModelsPage(context), Until(qtbot)
    show(qtbot, models)
    until(lambda: models.table.row_of(MODEL) is not None)
    (tiny,) = (row for row in models.table.rows if row.name == MODEL)
    assert tiny.entry.loaded and tiny.entry.context_length == 512
    models.view.choose(MODEL)
    models.actions_of_row.unload.trigger()
    until(lambda: models.actions_of_row.load.isVisible() and "No model is loaded" in models.provider.text())
    models.actions_of_row.load.trigger()
    until(lambda: f"{MODEL} runs on CPU." in models.provider.text())
    assert not models.notices.texts

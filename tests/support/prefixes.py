"""A page of prefixes on a scripted service: what it has is put into the store, what it is asked is written down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic import BaseModel
from PySide6.QtCore import QLocale, QTimer
from pytestqt.qtbot import QtBot

from pinfill_app.client import Client
from pinfill_app.commands import Commands, Output
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.service_state import ServiceState
from pinfill_app.settings import AppSettings
from pinfill_app.state import Store
from pinfill_app.supervisor import Supervisor
from pinfill_app.windows import prefixes
from pinfill_app.windows.page import Context
from pinfill_app.windows.prefixes import PrefixesPage
from pinfill_service.api.schemas import manage
from tests.support.pages import ScriptedFound
from tests.support.updates import silent_updates

Answer = BaseModel | Output | Failure


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, or one command (`method` "RUN")."""

    method: str
    path: tuple[str, ...]
    body: Mapping[str, Any] = field(default_factory=dict)


class Script:
    """What a service is asked, and what it answers to that: `answers` by (method, first part of the path)."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: dict[tuple[str, str], Callable[[Asked], Answer]] = {}

    def take(self, asked: Asked, done: Callable[[Any], None]) -> None:
        self.asked.append(asked)
        refusal = Failure(FailureKind.REFUSED, f"Nothing is scripted for {asked}.")
        answer = self.answers.get((asked.method, asked.path[0]), lambda _: refusal)(asked)
        QTimer.singleShot(0, lambda: done(answer))

    def changes(self) -> list[tuple[str, ...]]:
        """All but looks: (method, *path)."""
        return [(asked.method, *asked.path) for asked in self.asked if asked.method != "GET"]


class ScriptedClient(Client):
    """Asks a script."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script

    def ask(self, method: str, schema: type[Any], *path: str, done: Callable[[Any], None], **more: Any) -> Any:
        body = more.get("body")
        self._script.take(Asked(method, path, {} if body is None else body.model_dump(exclude_unset=True)), done)


class ScriptedCommands(Commands):
    """Runs nothing."""

    def __init__(self, client: Client, script: Script) -> None:
        super().__init__(client)
        self._script = script

    def run(self, *arguments: str, done: Callable[[Output | Failure], None]) -> None:
        self._script.take(Asked("RUN", arguments), done)


def _no_plan() -> Any:
    raise AssertionError("no service is started in these tests")


class Shown:
    """The page under test."""

    def __init__(self, home: Path) -> None:
        self.script = Script()
        client = ScriptedClient(self.script)
        self.store = Store(client)
        self.supervisor = Supervisor(_no_plan)
        self.supervisor.state = ServiceState.READY
        self.told: list[tuple[str, str]] = []
        self.pages: list[tuple[str, dict[str, Any]]] = []
        self.context = Context(
            client,
            self.store,
            self.supervisor,
            AppSettings(home),
            lambda name, /, **hints: self.pages.append((name, hints)),
            lambda title, text, /: self.told.append((title, text)),
            ScriptedCommands(client, self.script),
            ScriptedFound(),
            silent_updates(home),
        )
        with patch.object(prefixes, "SourceWatching", lambda *_: None):  # its pins are of files that are not there
            self.page = PrefixesPage(self.context)

    def have(self, pins: list[manage.Pin] | None = None, entries: list[manage.Entry] | None = None) -> None:
        """The service has these now; None: as before."""
        if pins is not None:
            self.store.pins = tuple(pins)
            self.store.pins_changed.emit()
        if entries is not None:
            self.store.entries, self.store.entries_at = tuple(entries), time.time()
            self.store.entries_changed.emit()

    def say(self, state: ServiceState) -> None:
        """The service is in another state now."""
        self.supervisor.state = state
        self.supervisor.state_changed.emit()

    def load(self, model: str | None = "smollm2-135m") -> None:
        """A model is loaded, or none."""
        self.store.status = status(model)
        self.store.status_changed.emit()

    @property
    def names(self) -> list[str]:
        return [row.name for row in self.page.table.rows]

    def select(self, *names: str) -> None:
        view, table = self.page.view, self.page.table
        view.clearSelection()
        model = view.selectionModel()
        for place, row in enumerate(table.rows):
            if row.name in names:
                flags = model.SelectionFlag.Select | model.SelectionFlag.Rows
                model.setCurrentIndex(table.index(place, 0), flags)


@contextmanager
def shown(qtbot: QtBot, home: Path) -> Iterator[Shown]:
    """A page in a window, with a loaded model and nothing cached."""
    made = Shown(home)
    qtbot.addWidget(made.page)
    made.load()
    made.page.resize(900, 600)
    made.page.show()
    yield made


@contextmanager
def english() -> Iterator[None]:
    """Numbers as the English write them, whatever the machine's language is."""
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    yield
    QLocale.setDefault(before)


def pin(name: str, **fields: Any) -> manage.Pin:
    """A warm pin, but for what is given."""
    known: dict[str, Any] = {
        "kind": "text",
        "state": "warm",
        "reason": None,
        "position": 0,
        "model": "smollm2-135m",
        "use_as": f"smollm2-135m@{name}",
        "tokens": 1880,
        "shared_tokens": 0,
        "done": 1880,
        "total": 1880,
        "seconds_left": None,
        "memory_bytes": 87_000_000,
        "disk_bytes": 87_000_000,
        "on_disk": True,
        "auto_refresh": False,
        "sources": [],
        "created": 1_700_000_000.0,
        "hits": 214,
        "saved_seconds": 4_680.0,
        "saved_seconds_today": 482.0,
        "last_used": 1_700_000_500.0,
        "prefill_seconds": 6.2,
        "verified": None,
    }
    return manage.Pin(name=name, **(known | fields))


def source(path: str) -> manage.SourceFile:
    return manage.SourceFile(path=path, size=4_000, mtime=1_700_000_000.0, sha256="0" * 64)


def entry(entry_id: str, begins: str, **fields: Any) -> manage.Entry:
    """A cached prefix that nothing protects, but for what is given."""
    known: dict[str, Any] = {
        "tokens": 640,
        "shared_tokens": 0,
        "memory_bytes": 29_000_000,
        "disk_bytes": 0,
        "in_memory": True,
        "pinned": False,
        "pin": None,
        "in_use": False,
        "hits": 3,
        "saves_seconds": 1.4,
        "idle_seconds": 300.0,
        "client": "goose/1.2",
    }
    return manage.Entry(id=entry_id, begins=begins, **(known | fields))


def request(request_id: str, **fields: Any) -> dict[str, Any]:
    """The fields of a RequestSummary."""
    known: dict[str, Any] = {
        "at": 1_700_000_400.0,
        "route": "chat",
        "client": "claude-code/2.1",
        "model": "smollm2-135m",
        "pin": None,
        "prompt_tokens": 12_452,
        "cached_tokens": 12_310,
        "processed_tokens": 142,
        "generated_tokens": 60,
        "queue_seconds": 0.0,
        "prefill_seconds": 0.3,
        "decode_seconds": 1.0,
        "ttft_seconds": 0.4,
        "saved_seconds": 8.1,
        "finish_reason": "stop",
        "error": None,
        "miss_reason": None,
        "finding": None,
    }
    return {"id": request_id} | known | fields


def status(model: str | None) -> manage.Status:
    """Of a service with this model."""
    loaded = None
    if model is not None:
        loaded = manage.LoadedModel(
            name=model,
            fingerprint="f" * 16,
            context_length=8192,
            vocab_size=49152,
            kv_bytes_per_token=46_080,
            provider="CPUExecutionProvider",
            provider_note="no NPU was found",
        )
    memory = manage.MemoryUse(
        pinned_bytes=412_000_000,
        cached_bytes=230_000_000,
        used_bytes=642_000_000,
        free_bytes=1_358_000_000,
        budget_bytes=2_000_000_000,
    )
    return manage.Status(
        version="1.0",
        api_version=1,
        pid=1,
        started=1_700_000_000.0,
        uptime_seconds=500.0,
        model=loaded,
        model_state="loaded" if loaded is not None else "unloaded",
        activity=None,
        memory=memory if loaded is not None else None,
        disk=None,
        pins={},
        saved_seconds_today=482.0,
        problems=[],
    )

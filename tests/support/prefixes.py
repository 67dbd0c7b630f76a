"""A page of prefixes on a scripted service, and what such a service has."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pytestqt.qtbot import QtBot

from pinfill_app.windows import prefixes
from pinfill_app.windows.prefixes import PrefixesPage
from pinfill_service.api.schemas import manage
from tests.support import pages


class Shown(pages.Shown[PrefixesPage]):
    """The page under test."""

    def __init__(self, home: Path) -> None:
        with patch.object(prefixes, "SourceWatching", lambda *_: None):  # its pins are of files that are not there
            super().__init__(PrefixesPage, home)

    def have_prefixes(self, pins: list[manage.Pin] | None = None, entries: list[manage.Entry] | None = None) -> None:
        """The service has these now; None: as before."""
        if pins is not None:
            self.have(pins=tuple(pins))
        if entries is not None:
            self.store.entries_at = time.time()
            self.have(entries=tuple(entries))

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
    made.have(status=pages.status())
    made.page.resize(900, 600)
    made.page.show()
    yield made


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

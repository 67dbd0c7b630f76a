"""The whole application on a real service with a tiny model."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from pinfill_app.application import PinfillApplication
from pinfill_app.plan import make_plan
from pinfill_app.service_state import ServiceState
from pinfill_app.supervision_limits import Limits
from pinfill_app.windows.page import Page
from pinfill_app.windows.pages import PAGES
from tests.support.desktop import KEY, LIMIT_MILLISECONDS, unused_port
from tests.support.models import LLAMA

CALM = Limits(probe=500, first_probe=50)


def prepare_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service that is started from now on has a tiny model, a port and a key of its own."""
    monkeypatch.setenv("PINFILL_MODEL", str(LLAMA))
    monkeypatch.setenv("PINFILL_PORT", str(unused_port()))
    monkeypatch.setenv("PINFILL_API_KEY", KEY)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, sys.path)))  # the service has its own folder


@contextmanager
def running(qtbot: QtBot, home: Path, pages: Sequence[type[Page]] = PAGES) -> Iterator[PinfillApplication]:
    """Not yet started; stopped at the end."""
    made = PinfillApplication(home, lambda: make_plan("info"), CALM, pages)
    try:
        yield made
    finally:
        made.quit()
        qtbot.waitUntil(lambda: made.supervisor.state is ServiceState.STOPPED, timeout=LIMIT_MILLISECONDS)
        made.window.deleteLater()
        made.menu.deleteLater()
        made.deleteLater()


@contextmanager
def real_service(qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PinfillApplication]:
    """Started, and asked for everything once; stopped at the end. The first steps count as seen."""
    prepare_service(monkeypatch)
    with running(qtbot, home) as made:
        made.settings.first_run_done = True
        made.start(minimised=False)
        qtbot.waitUntil(lambda: made.store.status is not None, timeout=LIMIT_MILLISECONDS)
        yield made

"""What every unit test leaves behind: no application, and no thread that would keep the process alive."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.support.client import close_apps
from tests.support.fake_engine import LIMIT_SECONDS


@pytest.fixture(autouse=True)
def nothing_is_left_running() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    close_apps()
    for thread in set(threading.enumerate()) - before:
        if not thread.daemon:
            thread.join(LIMIT_SECONDS)
            assert not thread.is_alive(), f"{thread.name} goes on behind the test"

"""A service on a port of its own, in a thread, on an engine that the test brings."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pinfill_service.application import Server, create_app, listen, server_config
from pinfill_service.commands.local_service import url_of
from pinfill_service.engine.interface import Engine
from pinfill_service.prompt.text_model import TextModel
from tests.support.client import settings

LIMIT_SECONDS = 20


@contextmanager
def serving(engine: Engine, text: TextModel, home: Path | None = None) -> Iterator[str]:
    """Its URL. The key is tests.support.client.KEY; the engine is closed at the end."""
    chosen = settings(port=0)
    app = create_app(chosen, engine, text, home=home)
    with listen(chosen) as listener:
        server = Server(server_config(app, chosen))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="served")
        thread.start()
        try:
            yield url_of(listener)
        finally:
            server.should_exit = True
            thread.join(LIMIT_SECONDS)
            assert not thread.is_alive()

"""The service on a loopback port, for clients that want a real one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from pinfill_service.application import Server, create_app, listen, server_config
from pinfill_service.engine.interface import Engine
from pinfill_service.prompt.text_model import TextModel
from tests.support.client import settings
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine
from tests.support.models import llama_text


class ThreadedServer(Server):
    """Says when it accepts connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.accepting.set()


@contextmanager
def serving(
    engine: Engine,
    text: TextModel | None = None,
    *,
    home: Path | None = None,
    also: Sequence[socket.socket] = (),
    **flags: Any,
) -> Iterator[str]:
    """The address, without a path; the key is tests.support.client.KEY. Afterwards server and engine have ended.

    `also` are more listening sockets. `home`: what is kept is kept there. `flags` are settings.
    """
    own = settings(port=0, **flags)
    server = ThreadedServer(server_config(create_app(own, engine, text or llama_text(), home=home), own))
    with listen(own) as listener:
        thread = threading.Thread(target=server.run, args=([listener, *also],), daemon=True)
        thread.start()
        try:
            assert server.accepting.wait(LIMIT_SECONDS)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(LIMIT_SECONDS)
    assert not thread.is_alive() and (engine.closed if isinstance(engine, FakeEngine) else True)

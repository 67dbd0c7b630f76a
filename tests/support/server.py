"""The service on a loopback port, for clients that want a real one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from pinfill_service.application import create_app, listen, server_config
from pinfill_service.prompt.text_model import TextModel
from tests.support.client import settings
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine
from tests.support.models import llama_text


class ThreadedServer(uvicorn.Server):
    """Says when it accepts connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.accepting.set()


@contextmanager
def serving(engine: FakeEngine, text: TextModel | None = None) -> Iterator[str]:
    """The address, without a path. Afterwards the server and the engine have ended."""
    flags = settings(port=0)
    server = ThreadedServer(server_config(create_app(flags, engine, text or llama_text()), flags))
    with listen(flags) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        assert server.accepting.wait(LIMIT_SECONDS)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(LIMIT_SECONDS)
    assert not thread.is_alive() and engine.closed

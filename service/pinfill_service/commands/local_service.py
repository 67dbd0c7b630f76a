"""The service inside this process: a model is loaded and served on a loopback port by a thread."""

from __future__ import annotations

import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from pinfill_service import sd_notify
from pinfill_service.application import Server, create_app, listen, server_config
from pinfill_service.commands.console import CommandError
from pinfill_service.engine.interface import Engine, ModelInfo
from pinfill_service.keys import active_key
from pinfill_service.loaded_model import LoadedModel
from pinfill_service.models.library import ModelLibrary
from pinfill_service.prompt.text_model import TextModel, load_text_model
from pinfill_service.settings import Settings, home

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunningService:
    """Where the service is (`http://host:port`), the key it asks for, and what it runs."""

    url: str
    key: str | None
    model: ModelInfo


class AnnouncingServer(Server):
    """Calls `announce` once it answers requests and takes care of signals itself, and tells systemd how it is."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce
        self._alive_every = sd_notify.watchdog_seconds()
        self._alive_at = time.monotonic()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()
        sd_notify.notify(sd_notify.READY)

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second, while requests are served: a loop that is stuck is not alive."""
        now = time.monotonic()
        if self._alive_every is not None and now - self._alive_at >= self._alive_every:
            self._alive_at = now
            sd_notify.notify(sd_notify.ALIVE)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        sd_notify.notify(sd_notify.STOPPING)
        await super().shutdown(sockets)


def find_model(model: str) -> tuple[str, Path]:
    """(name, folder) of a model by name or by path; what holds a separator or begins with "." or "~" is a path.

    Raises ModelNameError, ModelNotFoundError or CommandError.
    """
    if not (set(model) & set("/\\") or model.startswith((".", "~"))):
        return model, ModelLibrary(home()).path(model)
    folder = Path(model).expanduser().resolve()
    if folder.is_file():
        raise CommandError(f"{folder} is a file. Import it first: pinfill models import {folder}")
    if not folder.is_dir():
        raise CommandError(f"There is no model folder {folder}.")
    return folder.name, folder


def load_model(settings: Settings) -> tuple[Engine, TextModel]:
    """The engine, running, and the text side of `settings.model`.

    Raises what find_model, load_text_model and load_engine raise.
    """
    from pinfill_service.engine.loading import load_engine
    from pinfill_service.models.sidecar import read_sidecar

    name, folder = find_model(settings.model)
    text = load_text_model(folder)
    sidecar = read_sidecar(folder)
    if sidecar is not None and sidecar.is_outdated:
        log.warning("%s was converted by an older version; 'pinfill models show %s' says how to renew it", name, name)
    return load_engine(folder, name, settings, dtype=sidecar.dtype if sidecar else None), text


class LibraryLoader:
    """Implements ModelLoader. Names come over HTTP, so they are those of the library, never paths."""

    def fingerprint(self, name: str) -> str:
        from pinfill_service.engine.layout import fingerprint

        return fingerprint(ModelLibrary(home()).path(name))

    def load(self, name: str, settings: Settings) -> LoadedModel:
        ModelLibrary(home()).path(name)
        return LoadedModel(*load_model(settings.model_copy(update={"model": name})))


def url_of(listener: socket.socket) -> str:
    """The address of a listening socket as a URL."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def running(settings: Settings, engine: Engine, text: TextModel) -> Iterator[RunningService]:
    """Serves an engine in a thread until the block is left; then the engine is closed.

    Raises OSError when the address cannot be bound, and what create_app raises.
    """
    try:
        app = create_app(settings, engine, text)
        with listen(settings) as listener:
            server = Server(server_config(app, settings))
            thread = threading.Thread(target=_serve, args=(server, listener), name="service")
            service = RunningService(url_of(listener), active_key(settings), engine.model)
            thread.start()
            try:
                yield service  # the socket accepts connections already: there is nothing to wait for
            finally:
                server.should_exit = True
                thread.join()
    finally:
        engine.close()


@contextmanager
def local_service(**flags: Any) -> Iterator[RunningService]:
    """A service of its own for one command: a free loopback port and a key that nobody else knows.

    `flags` are settings; None leaves one as it is. Raises what load_model and running raise.
    """
    own = {"host": "127.0.0.1", "port": 0, "api_key": secrets.token_urlsafe(32), "no_key": False}
    own["disk_budget_mib"] = 0  # the KV files belong to the service that runs on this machine, if there is one
    settings = Settings.from_flags(**flags | own)
    engine, text = load_model(settings)
    with running(settings, engine, text) as service:
        yield service


def _serve(server: uvicorn.Server, listener: socket.socket) -> None:
    try:
        server.run(sockets=[listener])
    finally:
        listener.close()  # a client of a service that could not start is refused instead of waiting
